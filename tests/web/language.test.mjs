// The language of the pages: states have a colour, a shape and a word, what is written can be read, and what is the same is one.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { WEB } from './places.mjs'
import { grouped, names, states } from './rules.mjs'

const css = readFileSync(join(WEB, 'src/style/base.css'), 'utf8')

/** The tokens of a theme, by name. */
function tokens(isDark) {
  const blocks = [/:root \{([^}]*)\}/.exec(css)[1], isDark ? /:root\[data-theme='dark'\] \{([^}]*)\}/.exec(css)[1] : '']
  return Object.fromEntries(blocks.flatMap(block => [...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value])))
}

function contrast(one, other) {
  const light = hex => {
    const [r, g, b] = [1, 3, 5].map(at => Number.parseInt(hex.slice(at, at + 2), 16) / 255).map(value => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const [low, high] = [light(one), light(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

const STATES = ['needs', 'failed', 'turn', 'working', 'directing', 'idle']

for (const [theme, isDark] of [['light', false], ['dark', true]]) {
  test(`what is written in a colour can be read in the ${theme} theme`, () => {
    const all = tokens(isDark)
    for (const name of [...STATES, 'text', 'dim', 'accent', 'red', 'green', 'amber', 'violet']) {
      for (const ground of ['bg', 'panel']) assert.ok(contrast(all[name], all[ground]) >= 4.5, `${name} on ${ground}: ${contrast(all[name], all[ground]).toFixed(2)}`)
    }
    for (const name of ['needs', 'failed', 'turn']) assert.ok(contrast(all['on-state'], all[name]) >= 4.5, `the sign on ${name}: ${contrast(all['on-state'], all[name]).toFixed(2)}`)
    for (const name of ['failed', 'turn', 'directing']) assert.ok(contrast(all[name], all[`${name}-soft`]) >= 4.5, `${name} on its soft ground: ${contrast(all[name], all[`${name}-soft`]).toFixed(2)}`)
    for (const name of ['full', 'warm', 'half']) assert.ok(contrast(all[name], all.track) >= 3, `a bar, ${name}: ${contrast(all[name], all.track).toFixed(2)}`)
  })
}

test('every state has one kind, an error is none that asks, and every kind has a sign of its own', () => {
  const kinds = ['waiting_permission', 'failed', 'lost', 'waiting_input', 'thinking', 'tool_use', 'responding', 'idle', 'ended', undefined].map(state => states.kindOf(state))
  assert.deepEqual(kinds, ['needs', 'failed', 'failed', 'turn', 'working', 'working', 'working', 'idle', 'idle', 'idle'])
  assert.deepEqual([states.kindOf('tool_use', true), states.kindOf('waiting_permission', true), states.kindOf('failed', true)], ['directing', 'needs', 'failed'])
  const signs = STATES.map(kind => states.SIGNS[states.signOf(kind, 'tool_use', kind === 'needs' ? undefined : 'Bash')])
  assert.equal(new Set(signs).size, STATES.length)
  assert.equal(new Set(STATES.map(kind => states.WORDS[kind])).size, STATES.length)
  assert.deepEqual(['Bash', 'Edit', 'Read', 'Grep', 'WebFetch', 'TodoWrite', 'Agent', 'mcp__a__b', undefined].map(tool => states.toolSign(tool)), ['terminal', 'pencil', 'book', 'magnifier', 'globe', 'list', 'linked', 'globe', 'terminal'])
})

test('a context is measured by the size that it must have', () => {
  assert.deepEqual([100_000, 200_000, 500_000].map(tokens => states.contextOf(tokens)), [{ share: 0.5, window: 200_000 }, { share: 1, window: 200_000 }, { share: 0.5, window: 1_000_000 }])
  assert.deepEqual([0.5, 0.8, 0.95].map(share => states.fullness(share)), ['plain', 'warm', 'full'])
})

test('sessions that ask the same are one, unless it might not be the same', () => {
  const session = (id, activity, more = {}) => ({ id, activity: { state: 'waiting_permission', ...activity }, ...more })
  const push = { tool: 'Bash', asking: 'git push' }
  const open = { a: 'git push', b: 'git push', c: 'git push --force' }
  const of = ({ id }) => open[id] && { worker: 1, requests: [{ request: id, tool: 'Bash', input: { command: open[id] } }] }
  const all = [session('a', push), session('b', push), session('c', push), session('d', push), session('e', push), session('f', push, { job: { id: 'j', state: 'blocked' } })]
  assert.deepEqual(grouped.groupsOf(all, of).map(group => group.sessions.map(one => one.id).join('')), ['ab', 'c', 'de', 'f'])
  assert.equal(grouped.groupsOf(all.slice(0, 2), () => 'unknown').length, 2, 'nothing is the same that is not known')
  const question = ({ id }) => ({ worker: 1, requests: [{ request: id, tool: 'AskUserQuestion', input: {} }] })
  assert.equal(grouped.groupsOf(all.slice(0, 2), question).length, 2, 'a question is answered for one')
})

test('forks are told apart from what they were forked from, and from each other', () => {
  const rows = [{ id: 'a', title: 'Paint' }, { id: 'c', title: 'Paint', fork_of: 'a', created: 3 }, { id: 'b', title: 'Paint', fork_of: 'a', created: 2 }, { id: 'd', title: 'Own', fork_of: 'a', created: 4 }]
  assert.deepEqual(names.withForkTitles(rows).map(row => row.title), ['Paint', 'Paint · fork 2', 'Paint · fork', 'Own'])
})
