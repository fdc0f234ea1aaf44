// A scratch home with the real Claude Code, the real Backstory and a scripted model on the loopback interface.
//
// CLAUDE and BACKSTORY name the programs; without them they are the pinned release and the debug build.

import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository, which is the marketplace. */
export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
export const PLUGIN = join(ROOT, 'plugin')
const TOOLS = join(ROOT, 'tests/tools/node_modules')
const CLAUDE = process.env.CLAUDE ?? join(TOOLS, '@anthropic-ai/claude-code-linux-x64/claude')
export const BACKSTORY = process.env.BACKSTORY ?? join(ROOT, 'target/debug/backstory')
/** A release from before plugins could hold JavaScript. */
export const OLDER = process.env.OLDER_CLAUDE ?? join(TOOLS, 'claude-code-2-1-197/claude')
export const TSC = process.env.TSC ?? join(TOOLS, '.bin/tsc')

/** A program that runs longer hangs, in milliseconds. */
const PATIENCE = 300_000
const KEY = 'sk-ant-not-a-key'

/** A home, a project in it, and a model that answers every prompt with `Hello.` */
export class ScratchHome {
  static async open(claude = CLAUDE) {
    const model = await Model.start()
    return new ScratchHome(realpathSync(mkdtempSync(join(tmpdir(), 'backstory-plugin-'))), model, claude)
  }

  constructor(home, model, claude) {
    this.path = home
    this.model = model
    this.config = join(home, '.claude')
    this.project = join(home, 'shop')
    this.state = join(home, 'state')
    mkdirSync(join(home, 'bin'))
    mkdirSync(this.config)
    mkdirSync(this.project)
    execFileSync('git', ['init', '-q', this.project])
    symlinkSync(claude, join(home, 'bin/claude'))
    symlinkSync(realpathSync(BACKSTORY), join(home, 'bin/backstory'))
    const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
    const known = {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [KEY], rejected: [] },
      projects: { [this.project]: trusted },
    }
    writeFileSync(join(this.config, '.claude.json'), JSON.stringify(known))
  }

  /** The whole environment of the programs: nothing of the person's. */
  get environment() {
    return {
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: this.model.url,
      BACKSTORY_HOME: this.state,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
      CLAUDE_CONFIG_DIR: this.config,
      DISABLE_AUTOUPDATER: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_TELEMETRY: '1',
      HOME: this.path,
      PATH: `${join(this.path, 'bin')}:/usr/local/bin:/usr/bin:/bin`,
      TERM: 'xterm-256color',
    }
  }

  /** Runs a program in the project; it has to succeed. Returns what it printed. */
  run(program, ...words) {
    const options = { cwd: this.project, encoding: 'utf8', env: this.environment, timeout: PATIENCE }
    return new Promise((resolve, reject) => {
      const child = execFile(program, words, { ...options, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${program} ${words.join(' ')}: ${error.message}\n${stdout}\n${stderr}`))
        else resolve(stdout)
      })
      child.stdin.end()
    })
  }

  /** Claude Code with these words. */
  claude(...words) {
    return this.run(join(this.path, 'bin/claude'), ...words)
  }

  /** Backstory with these words. */
  backstory(...words) {
    return this.run(join(this.path, 'bin/backstory'), ...words)
  }

  /** The events that were reported to Backstory, in order. */
  events() {
    const text = readFileSync(join(this.state, 'hooks/events.jsonl'), 'utf8')
    return text.trim().split('\n').map(line => JSON.parse(line).event)
  }

  async close() {
    this.model.close()
    // A session that ends may still write.
    await rm(this.path, { recursive: true, force: true, maxRetries: 60, retryDelay: 100 })
  }
}

/** The Messages API, as far as a prompt needs it; it keeps what it is asked. */
class Model {
  static async start() {
    const model = new Model()
    model.server = createServer((request, response) => model.answer(request, response))
    await new Promise(ready => model.server.listen(0, '127.0.0.1', ready))
    model.server.unref()
    model.url = `http://127.0.0.1:${model.server.address().port}`
    return model
  }

  /** The requests for an answer, as JSON. */
  calls = []

  answer(request, response) {
    let body = ''
    request.on('data', piece => (body += piece))
    request.on('end', () => {
      if (new URL(request.url, this.url).pathname !== '/v1/messages') {
        response.setHeader('content-type', 'application/json')
        return response.end('{"input_tokens":1}')
      }
      const asked = JSON.parse(body)
      this.calls.push(asked)
      const usage = { input_tokens: 3, cache_creation_input_tokens: 30_000, cache_read_input_tokens: 0, output_tokens: 5 }
      const text = { type: 'text', text: 'Hello.' }
      const message = { id: `msg_${this.calls.length}`, type: 'message', role: 'assistant', model: asked.model, usage }
      if (!asked.stream) {
        response.setHeader('content-type', 'application/json')
        return response.end(JSON.stringify({ ...message, content: [text], stop_reason: 'end_turn', stop_sequence: null }))
      }
      const stop = { stop_reason: 'end_turn', stop_sequence: null }
      const events = [
        { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: text.text } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: stop, usage: { output_tokens: 5 } },
        { type: 'message_stop' },
      ]
      response.setHeader('content-type', 'text/event-stream')
      response.end(events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
    })
  }

  close() {
    this.server.close()
    this.server.closeAllConnections()
  }
}
