// Made-up transcripts, in Claude Code's own format.

import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** An id that a number always gives. */
export function idOf(number, group = 1) {
  return `${String(number).padStart(8, '0')}-0000-4000-8000-${String(group).padStart(12, '0')}`
}

/** A transcript that is being written; without another time it begins an hour ago, which is today. */
export class Transcript {
  constructor(home, project, id, start = Date.now() - 3_600_000) {
    Object.assign(this, { home, id, at: start, lines: [], parent: null, count: 0 })
    this.cwd = join(home.path, project)
    mkdirSync(this.cwd, { recursive: true })
  }

  add(type, content, more = {}) {
    const uuid = idOf(++this.count, Number.parseInt(this.id.slice(0, 8), 10) + 1)
    const message = type === 'user' ? { role: 'user', content } : { id: `msg_${uuid}`, type: 'message', role: 'assistant', model: 'claude-opus-4-5', content, stop_reason: 'end_turn', usage: { input_tokens: 10, output_tokens: 20 } }
    const common = { parentUuid: this.parent, isSidechain: false, userType: 'external', cwd: this.cwd, sessionId: this.id, version: '2.1.329', gitBranch: 'main' }
    this.lines.push(JSON.stringify({ ...common, type, message, uuid, timestamp: new Date(this.at).toISOString(), ...more }))
    this.at += 1500
    this.parent = uuid
    return uuid
  }

  /** What Claude Code writes when it compacts: a boundary, and the summary that the model goes on with. */
  compacts(summary) {
    const boundary = { type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted', isMeta: false, level: 'info', compactMetadata: { trigger: 'auto', preTokens: 155_000 } }
    this.add('system', '', { parentUuid: null, logicalParentUuid: this.parent, message: undefined, ...boundary })
    return this.add('user', summary, { isCompactSummary: true, isVisibleInTranscriptOnly: true })
  }

  prompt(words) {
    return this.add('user', words)
  }

  says(words) {
    return this.add('assistant', [{ type: 'text', text: words }])
  }

  uses(name, input, output, more = {}) {
    const id = `toolu_${this.id.slice(0, 8)}${this.count}`
    this.add('assistant', [{ type: 'tool_use', id, name, input }])
    return this.add('user', [{ type: 'tool_result', tool_use_id: id, content: output }], more)
  }

  /** Where it is on disk. */
  get path() {
    return join(this.home.config, 'projects', this.cwd.replaceAll(/[^a-zA-Z0-9]/g, '-'), `${this.id}.jsonl`)
  }

  write() {
    mkdirSync(dirname(this.path), { recursive: true })
    writeFileSync(this.path, this.lines.join('\n') + '\n')
    return this.id
  }

  /** Adds what was said since as Claude Code does: behind the rest, at this moment. */
  append(say) {
    const before = this.lines.length
    this.at = Date.now()
    say(this)
    appendFileSync(this.path, this.lines.slice(before).join('\n') + '\n')
  }
}
