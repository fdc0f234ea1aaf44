// The real Claude Code accepts the plugin, installs it, and its hooks report what it does.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { Desk, OLDER, PLUGIN, ROOT } from './desk.mjs'

const TURN = ['SessionStart', 'UserPromptSubmit', 'Stop', 'SessionEnd']

/** Runs a test at a desk of its own. */
function at(name, work, claude) {
  test(name, async () => {
    const desk = await Desk.open(claude)
    try {
      await work(desk)
    } finally {
      await desk.close()
    }
  })
}

at('its manifests hold, and the tests of its mod pass', async desk => {
  for (const folder of [ROOT, PLUGIN]) {
    assert.match(await desk.claude('plugin', 'validate', '--strict', folder), /✔ Validation passed/)
  }
  assert.match(await desk.claude('plugin', 'test', PLUGIN), /\n *0 fail\n/)
})

/** Installs it as docs/plugin.md says. */
async function install(desk, source) {
  await desk.claude('plugin', 'marketplace', 'add', source)
  await desk.claude('plugin', 'install', 'backstory@backstory')
}

at('two commands install it, and the next session has all of it', async desk => {
  await install(desk, ROOT)
  const [installed] = JSON.parse(await desk.claude('plugin', 'list', '--json'))
  assert.equal(installed.id, 'backstory@backstory')
  assert.equal(installed.enabled, true)

  assert.equal(await desk.claude('-p', 'say hello'), 'Hello.\n')
  assert.deepEqual(desk.events(), TURN)
  // The two tools that deserve it are there from the first word; the others wait for a search for tools.
  const asked = desk.model.calls.find(call => call.tools?.length > 0)
  const tools = asked.tools.filter(tool => tool.name.startsWith('mcp__') && !tool.defer_loading).map(tool => tool.name)
  assert.deepEqual(tools.sort(), [
    'mcp__plugin_backstory_backstory__read_session',
    'mcp__plugin_backstory_backstory__search',
  ])
  assert.match(JSON.stringify(asked), /backstory:recall/)
})

at('commands put their words to the model', async desk => {
  for (const command of ['search', 'before', 'status', 'pick', 'fork']) {
    desk.model.calls.length = 0
    await desk.claude('--plugin-dir', PLUGIN, '-p', `/backstory:${command} the flaky upload`)
    assert.match(JSON.stringify(desk.model.calls), /the flaky upload\\n/, command)
  }
})

at('where the hooks of `hooks install` report too, every event is reported once', async desk => {
  await desk.backstory('hooks', 'install', '--yes')
  await desk.claude('--plugin-dir', PLUGIN, '-p', 'say hello')
  assert.deepEqual(desk.events(), TURN)
})

at('without Backstory a session goes on as ever', async desk => {
  unlinkSync(join(desk.home, 'bin/backstory'))
  assert.equal(await desk.claude('--plugin-dir', PLUGIN, '-p', 'say hello'), 'Hello.\n')
})

at('earlier sessions are listed only where the person wants it', async desk => {
  await desk.claude('-p', 'the first task')
  const lists = call => /Earlier sessions in this repository/.test(JSON.stringify(call))
  await desk.claude('--plugin-dir', PLUGIN, '-p', 'say hello')
  assert.equal(desk.model.calls.some(lists), false)
  const settings = JSON.stringify({ pluginConfigs: { backstory: { options: { recall: true } } } })
  await desk.claude('--plugin-dir', PLUGIN, '--settings', settings, '-p', 'say hello')
  assert.equal(desk.model.calls.filter(lists).length, 1)
  assert.match(JSON.stringify(desk.model.calls.find(lists)), /the first task/)
})

const older = async desk => {
  assert.equal(await desk.claude('--plugin-dir', PLUGIN, '-p', 'say hello'), 'Hello.\n')
  assert.deepEqual(desk.events(), TURN)
  const asked = JSON.stringify(desk.model.calls)
  assert.match(asked, /"name":"mcp__plugin_backstory_backstory__search"/)
  assert.match(asked, /backstory:recall/)
}
at('an older release has all of it but the mod', older, OLDER)

at('an older release installs it with the same commands', async desk => {
  await install(desk, ROOT)
  assert.equal(await desk.claude('-p', 'say hello'), 'Hello.\n')
  assert.match(JSON.stringify(desk.model.calls), /"name":"mcp__plugin_backstory_backstory__search"/)
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
