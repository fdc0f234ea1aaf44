// The mod in a real terminal: its band, its pane and its keys; and its types, as Claude Code lays them beside it.

import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { ScratchHome, PLUGIN, TSC } from './scratch-home.mjs'
import { PATIENCE, Terminal } from './terminal.mjs'

/** Sessions about other things: among two, no word says much, and no hit is strong. */
const OTHERS = ['rate-limit', 'migration', 'dark-mode', 'config-refactor', 'release-notes', 'dialog-a11y']

let home, terminal, copy, log

before(async () => {
  home = await ScratchHome.open()
  // What there is to be found.
  await home.claude('-p', 'why does the token refresh fail after an hour?')
  await home.claude('-p', 'make the flaky upload test pass')
  const folder = join(home.path, '.claude/projects/-others')
  mkdirSync(folder, { recursive: true })
  for (const name of OTHERS) {
    const file = join(PLUGIN, `../crates/app/demo/${name}.jsonl`)
    const [, id] = readFileSync(file, 'utf8').match(/"sessionId":"([^"]+)"/)
    cpSync(file, join(folder, `${id}.jsonl`))
  }
  await home.backstory('index')
  // Claude Code writes its types into a plugin's folder that it watches.
  copy = join(home.path, 'plugin')
  cpSync(PLUGIN, copy, { recursive: true })
  log = join(home.path, 'debug.log')
  const words = [join(home.path, 'bin/claude'), '--plugin-dir', copy, '--debug-file', log]
  terminal = new Terminal(home.environment, home.project, words)
  await terminal.until(/❯/)
  await connected()
})

after(async () => {
  terminal?.close()
  await home?.close()
})

/** Waits until the server is connected. */
async function connected() {
  const end = Date.now() + PATIENCE
  while (!/plugin:backstory:backstory": Successfully connected/.test(readFileSync(log, 'utf8'))) {
    assert.ok(Date.now() < end, readFileSync(log, 'utf8'))
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

test('the band says where the drafted prompt was done before', async () => {
  terminal.type('why does the token refresh fail')
  await terminal.until(/done before: why does the token refresh fail after an hour\? \(\d+ \w+, \w+\) [0-9a-f]{8}:\d+/)
  terminal.key('C-u')
})

test('the pane searches as one types, follows the focus and shows the commands', async () => {
  terminal.type('/backstory')
  await terminal.until(/Search all your sessions/)
  terminal.key('Enter')
  await terminal.until(/Find: words, a file/)
  terminal.type('upload')
  await terminal.until(/▸ make the flaky upload test pass/)
  await terminal.until(/You: make the flaky upload test pass[^]*Claude: Hello\./)
  terminal.key('Enter')
  // The field keeps what was typed, and the keys now belong to the hit.
  await terminal.until(/Find: upload *\n/)
  terminal.key('l')
  await terminal.until(/backstory resume [0-9a-f]{8}[^]*backstory fork [0-9a-f]{8}/)
  terminal.key('l')
  await terminal.until(/You: make the flaky upload test pass/)
})

test('a key puts a cited pack into the prompt, and no model was asked for any of it', async () => {
  const calls = home.model.calls.length
  terminal.key('p')
  await terminal.until(/From an earlier session, quoted[^]*> user: make the flaky upload test pass \[[0-9a-f]{8}[: ]\w+\]/)
  assert.equal(home.model.calls.length, calls)
  // The caret is before it, where the person says what is wanted.
  terminal.type('do the same')
  await terminal.until(/❯\sdo the same/)
  terminal.key('Enter')
  await terminal.until(/● Hello\./)
  assert.match(JSON.stringify(home.model.calls.at(-1).messages), /do the same\\n\\nFrom an earlier session, quoted/)
})

test('the pane that is opened with words keeps them', async () => {
  terminal.type('/backstory upload')
  await terminal.until(/❯.\/backstory upload/)
  terminal.key('Enter')
  await terminal.until(/Find: upload +⏎ choose[^]*▸ /)
  for (const _ of [1, 2]) {
    terminal.key('Enter')
    // The keys belong to the hit now, and the field has its words.
    await terminal.steadily(/Find: upload *\n/)
    terminal.key('l')
    await terminal.until(/Find: upload *\n[^]*backstory resume [0-9a-f]{8}/)
    terminal.key('l')
    await terminal.until(/l: resume or fork it/)
    terminal.key('Up')
    await terminal.until(/Find: upload +⏎ choose/)
  }
  terminal.key('Escape')
  await terminal.until(/^(?![^]*Find:)/)
})

test('the band says what the context costs once it is cold', async () => {
  await terminal.until(/30k tokens of context: cached for \d+ idle minutes, then read again/)
})

test('no hook of the mod failed', () => {
  const failed = readFileSync(log, 'utf8').split('\n').filter(line => {
    return /backstory/.test(line) && /hook skipped|returned the wrong shape|threw while drawn|did not load/.test(line)
  })
  assert.deepEqual(failed, [])
})

test('the mod fits the types of this Claude Code', async () => {
  await home.run(TSC, '-p', copy)
})
