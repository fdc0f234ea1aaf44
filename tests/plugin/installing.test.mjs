// The real Claude Code accepts the plugin, installs it, and its hooks report what it does.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { ScratchHome, OLDER, PLUGIN, ROOT } from './scratch-home.mjs'

const TURN = ['SessionStart', 'UserPromptSubmit', 'Stop', 'SessionEnd']

/** Runs a test in a home of its own. */
function at(name, work, claude) {
  test(name, async () => {
    const home = await ScratchHome.open(claude)
    try {
      await work(home)
    } finally {
      await home.close()
    }
  })
}

at('its manifests hold, and the tests of its mod pass', async home => {
  for (const folder of [ROOT, PLUGIN]) {
    assert.match(await home.claude('plugin', 'validate', '--strict', folder), /✔ Validation passed/)
  }
  assert.match(await home.claude('plugin', 'test', PLUGIN), /\n *0 fail\n/)
})

/** The commands of a manual that install it, with the repository's folder for its address. */
function commands(manual) {
  const lines = readFileSync(join(ROOT, manual), 'utf8').split('\n').filter(line => line.startsWith('claude plugin '))
  const installing = lines.filter(line => / (install|add) /.test(line))
  return installing.map(line => line.replace('backstory-sessions/backstory', ROOT).split(' ').slice(1))
}

at('the one command of the manuals installs it, and the next session has all of it', async home => {
  const [one] = commands('docs/plugin.md')
  for (const manual of ['README.md', 'plugin/README.md']) {
    assert.deepEqual(commands(manual), [one], manual)
  }
  await home.claude(...one)
  const [installed] = JSON.parse(await home.claude('plugin', 'list', '--json'))
  assert.equal(installed.id, 'backstory@backstory')
  assert.equal(installed.enabled, true)

  assert.equal(await home.claude('-p', 'say hello'), 'Hello.\n')
  assert.deepEqual(home.events(), TURN)
  // The two tools that deserve it are there from the first word; the others wait for a search for tools.
  const asked = home.model.calls.find(call => call.tools?.length > 0)
  const tools = asked.tools.filter(tool => tool.name.startsWith('mcp__') && !tool.defer_loading).map(tool => tool.name)
  assert.deepEqual(tools.sort(), [
    'mcp__plugin_backstory_backstory__read_session',
    'mcp__plugin_backstory_backstory__search',
  ])
  assert.match(JSON.stringify(asked), /backstory:recall/)
})

at('commands put their words to the model', async home => {
  for (const command of ['search', 'before', 'status', 'pick', 'fork']) {
    home.model.calls.length = 0
    await home.claude('--plugin-dir', PLUGIN, '-p', `/backstory:${command} the flaky upload`)
    assert.match(JSON.stringify(home.model.calls), /the flaky upload\\n/, command)
  }
})

at('where the hooks of `hooks install` report too, every event is reported once', async home => {
  await home.backstory('hooks', 'install', '--yes')
  await home.claude('--plugin-dir', PLUGIN, '-p', 'say hello')
  assert.deepEqual(home.events(), TURN)
})

at('without Backstory a session goes on as ever', async home => {
  unlinkSync(join(home.path, 'bin/backstory'))
  assert.equal(await home.claude('--plugin-dir', PLUGIN, '-p', 'say hello'), 'Hello.\n')
})

at('earlier sessions are listed only where the person wants it', async home => {
  await home.claude('-p', 'the first task')
  const lists = call => /Earlier sessions in this repository/.test(JSON.stringify(call))
  await home.claude('--plugin-dir', PLUGIN, '-p', 'say hello')
  assert.equal(home.model.calls.some(lists), false)
  const settings = JSON.stringify({ pluginConfigs: { backstory: { options: { recall: true } } } })
  await home.claude('--plugin-dir', PLUGIN, '--settings', settings, '-p', 'say hello')
  assert.equal(home.model.calls.filter(lists).length, 1)
  assert.match(JSON.stringify(home.model.calls.find(lists)), /the first task/)
  // What is kept from models is not listed either.
  home.model.calls.length = 0
  mkdirSync(join(home.path, '.config/backstory'), { recursive: true })
  writeFileSync(join(home.path, '.config/backstory/config.toml'), '[mcp]\ndeny = ["shop"]\n')
  await home.claude('--plugin-dir', PLUGIN, '--settings', settings, '-p', 'say hello')
  assert.equal(home.model.calls.some(lists), false)
})

const older = async home => {
  assert.equal(await home.claude('--plugin-dir', PLUGIN, '-p', 'say hello'), 'Hello.\n')
  assert.deepEqual(home.events(), TURN)
  const asked = JSON.stringify(home.model.calls)
  assert.match(asked, /"name":"mcp__plugin_backstory_backstory__search"/)
  assert.match(asked, /backstory:recall/)
}
at('an older release has all of it but the mod', older, OLDER)

at('an older release installs it with the two commands that the manual has for it', async home => {
  const [one, ...two] = commands('docs/plugin.md')
  assert.equal(two.length, 2)
  await assert.rejects(home.claude(...one), /unknown option '--marketplace'/)
  for (const command of two) {
    await home.claude(...command)
  }
  assert.equal(await home.claude('-p', 'say hello'), 'Hello.\n')
  assert.match(JSON.stringify(home.model.calls), /"name":"mcp__plugin_backstory_backstory__search"/)
}, OLDER)

test('no command may start a worker without being asked for permission', () => {
  const STARTS = ['smart_fork', 'spawn_worker', 'message_worker', 'answer_worker', 'stop_worker']
  for (const name of readdirSync(join(PLUGIN, 'commands'))) {
    const allowed = /^allowed-tools: (.*)$/m.exec(readFileSync(join(PLUGIN, 'commands', name), 'utf8'))[1].split(', ')
    for (const tool of STARTS) {
      assert.ok(!allowed.includes(`mcp__plugin_backstory_backstory__${tool}`), `${name} allows ${tool}`)
    }
  }
})

test('a hook that cannot report says nothing and succeeds', () => {
  const home = mkdtempSync(join(tmpdir(), 'backstory-report-'))
  try {
    // As long as a tool's answer may be, so that a pipe that nobody reads would break.
    const input = JSON.stringify({ hook_event_name: 'PostToolUse', tool_response: 'x'.repeat(1 << 20) })
    const options = { encoding: 'utf8', env: { HOME: home, PATH: '/usr/bin:/bin' }, input, stdio: 'pipe' }
    assert.equal(execFileSync(join(PLUGIN, 'scripts/report'), options), '')
  } finally {
    rmSync(home, { recursive: true })
  }
})
