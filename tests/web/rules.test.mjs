// The rules of the pages, without a browser.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asMarkdown, command, diffRows, field, filter, format, hit, live, names, overlay, palette, plan, reader, schedule, spending, stack, today, windows } from './rules.mjs'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

test('numbers and times as people read them', () => {
  const now = Date.parse('2026-06-15T12:00:00Z')
  const ages = [[0, 'now'], [5 * MINUTE, '5m'], [3 * HOUR, '3h'], [50 * HOUR, '2d'], [20 * 24 * HOUR, 'May 26'], [300 * 24 * HOUR, 'Aug 19, 2025']]
  for (const [ago, expected] of ages) assert.equal(format.age(now - ago, now), expected)
  for (const [ms, expected] of [[340, '340 ms'], [4200, '4.2 s'], [200_000, '3m 20s'], [2 * HOUR + 5 * MINUTE, '2h 5m']]) assert.equal(format.duration(ms), expected)
  for (const [value, expected] of [[950, '950'], [3400, '3.4k'], [12_000, '12k'], [3_400_000, '3.4M'], [2_000_000_000, '2.0B']]) assert.equal(format.count(value), expected)
  for (const [value, expected] of [[null, ''], [0, '$0'], [0.004, '<$0.01'], [3.2, '$3.20'], [1204, '$1,204']]) assert.equal(format.money(value), expected)
})

test('days, moments and numbers are written in one way, with the year where it is another one', () => {
  const at = new Date(2025, 0, 29, 4, 1).getTime()
  assert.equal(format.moment(at), 'Jan 29, 2025, 04:01')
  assert.equal(format.dayName(at, at + 30 * 24 * HOUR), 'Wednesday, January 29')
  assert.equal(format.shortDay(at), 'Wed, Jan 29')
  assert.deepEqual([0, 999, 1000, 1_234_567].map(format.grouped), ['0', '999', '1,000', '1,234,567'])
  assert.equal(format.plural(12_000, 'session'), '12,000 sessions')
  assert.equal(format.dayName(at, at + 400 * 24 * HOUR), 'Wednesday, January 29, 2025')
})

test('paths are written from a folder that they are below', () => {
  for (const [path, from, expected] of [['/home/sam/shop/a/b.rs', '/home/sam/shop', 'a/b.rs'], ['/home/sam/shop/a', '/home/sam/shop/', 'a'], ['/home/sam/shopping', '/home/sam/shop', '~/shopping'], ['/home/sam/shop', undefined, '~/shop'], ['/home/sam/shop/', '/home/sam/shop', '~/shop/']]) {
    assert.equal(format.shortPath(path, from), expected, path)
  }
})

test('repositories that share a name are called by what tells their paths apart', () => {
  const rows = [['cli', '/Users/ada/work/cli'], ['cli', '/Users/bob/dev/env/cli'], ['cli', '/srv/dev/env/cli'], ['web', '/srv/web'], ['web', '/srv/web'], [null, '/srv/odd'], ['lost', null]].map(([project, path]) => ({ project, path }))
  assert.deepEqual(names.withOwnNames(rows).map(row => row.project), ['work/cli', 'bob/dev/env/cli', '/srv/dev/env/cli', 'web', 'web', null, 'lost'])
  assert.deepEqual([...names.ownNames([{ project: 'a', path: '/a' }, { project: 'a', path: '/b/a' }]).values()], ['/a', '/b/a'])
})

test('a command can be pasted into a shell', () => {
  assert.equal(command.resumeCommand("/home/sam/it's here", 'abc'), "cd '/home/sam/it'\\''s here' && claude --resume abc")
  assert.equal(command.resumeCommand(null, 'abc'), 'claude --resume abc')
})

test('the field of a call that says most', () => {
  const check = (tool, input, expected) => assert.equal(field.fieldOf(tool, input).value, expected)
  check('Bash', { description: 'List', command: 'ls' }, 'ls')
  check('Edit', { file_path: '/a/b.rs', old_string: 'x', new_string: 'y' }, '/a/b.rs')
  check('Grep', { pattern: 'TODO', path: 'src' }, 'TODO  in src')
  check('Task', { description: 'Find writers', prompt: 'Look…', subagent_type: 'Explore' }, 'Find writers')
  check('TodoWrite', { todos: [{ status: 'completed' }, { status: 'pending' }] }, '1 of 2 done')
  check('mcp__x__y', { channel: 'general' }, 'general')
  check('Odd', null, '')
  check('Odd', 'a word', 'a word')
})

test('the plan that waits for a yes', () => {
  const calls = (...blocks) => [{ role: 'assistant', blocks: blocks.map(([id, name, input]) => ({ type: 'tool_use', id, name, input })) }]
  const file = ['w', 'Write', { file_path: '/home/sam/.claude/plans/quiet-fox.md', content: '# From the file' }]
  const other = ['o', 'Write', { file_path: '/shop/plans.md', content: 'no plan' }]
  const check = (messages, call, expected) => assert.equal(plan.planIn(messages, call), expected)
  check(calls(file, ['x', 'ExitPlanMode', { plan: '# Said' }]), 'x', '# Said')
  check(calls(['a', 'ExitPlanMode', { plan: 'old' }], file, other, ['x', 'ExitPlanMode', {}]), 'x', '# From the file')
  check(calls(other, ['x', 'ExitPlanMode', { plan: ' ' }], file), 'x', undefined)
  check(calls(['a', 'ExitPlanMode', { plan: 'newest' }]), undefined, 'newest')
  check([], 'x', undefined)
})

const session = (id, more = {}) => ({ sessionId: id, label: id, projectPath: '/home/sam/shop', project_name: 'shop', status: 'x', activity: { state: 'idle', evidence: 'registry' }, subagents: [], lastActivity: 1, ...more })

test('events fold into one record for each session', () => {
  const state = live.blank()
  const tell = (name, data) => live.fold(state, [{ name, data }])
  tell('sessions-refresh', { sessions: [session('a'), session('b', { pid: null, gitBranch: null })] })
  assert.deepEqual([...state.sessions.keys()], ['a', 'b'])
  assert.equal(state.sessions.get('b').pid, undefined)
  tell('session-activity', { sessionId: 'a', state: 'tool_use', tool: 'Bash', detail: 'npm test' })
  assert.equal(live.inWords(state.sessions.get('a').activity), 'Bash: npm test')
  tell('subagent-spawned', { sessionId: 'a', taskId: 't', description: 'Look' })
  tell('subagent-progress', { sessionId: 'a', taskId: 't', description: 'Look', toolName: 'Grep' })
  assert.equal(state.sessions.get('a').subagents.length, 1)
  tell('subagent-completed', { sessionId: 'a', taskId: 't' })
  assert.equal(state.sessions.get('a').subagents.length, 0)
  tell('worker-asks', { sessionId: 'a', worker: 3, requests: [] })
  tell('session-activity', { sessionId: 'a', state: 'waiting_permission' })
  assert.ok(live.needsPerson(state.sessions.get('a'), state.asks))
  tell('session-activity', { sessionId: 'a', state: 'thinking' })
  assert.ok(!live.needsPerson(state.sessions.get('a'), state.asks))
  tell('session-removed', { sessionId: 'a' })
  tell('session-activity', { sessionId: 'never seen', state: 'thinking' })
  tell('something-new', { any: 'thing' })
  assert.deepEqual([...state.sessions.keys()], ['b'])
})

test('a thousand events a second leave no backlog', () => {
  const state = live.blank()
  live.fold(state, [{ name: 'sessions-refresh', data: { sessions: Array.from({ length: 200 }, (_, at) => session(`s${at}`)) } }])
  const events = Array.from({ length: 10_000 }, (_, at) => ({ name: 'session-activity', data: { sessionId: `s${at % 200}`, state: at % 2 ? 'thinking' : 'tool_use', detail: `step ${at}` } }))
  const began = performance.now()
  live.fold(state, events)
  const took = performance.now() - began
  assert.equal(state.sessions.get('s199').activity.detail, 'step 9999')
  assert.ok(took < 1000, `ten seconds of events took ${took} ms`)
})

const row = (id, more = {}) => ({ id, title: `Title ${id}`, project: 'shop', path: '/shop', messages: 2, context: 0, last: 1000, ...more })
const known = { isUnread: () => false, state: one => one.state, groupOfDay: at => `day ${at}` }
const asked = text => filter.readFilter(new URLSearchParams(text))

test('sessions are filtered by their address', () => {
  const rows = [row('a', { last: 3000 }), row('b', { last: 2000, branch: 'fix', tags: ['later'], note: 'ask Ada' }), row('c', { pinned: true }), row('d', { project: 'web', path: '/web', state: 'thinking' })]
  const ids = text => filter.select(rows, asked(text), known).map(one => one.id).join('')
  for (const [text, expected] of [['', 'cabd'], ['q=later', 'b'], ['project=/web', 'd'], ['show=running', 'd'], ['show=pinned', 'c'], ['branch=fix', 'b'], ['tag=Later', 'b'], ['q=%23later', 'b'], ['q=ada', 'b'], ['q=title+web', 'd'], ['q=nothing', ''], ['show=nonsense', 'cabd']]) {
    assert.equal(ids(text), expected, text)
  }
})

test('groups fold', () => {
  const rows = [row('a', { last: 3000 }), row('b', { last: 2000 }), row('c', { pinned: true })]
  const chosen = filter.select(rows, asked(''), known)
  const shown = text => filter.lines(chosen, asked(text), known).map(line => (line.kind === 'group' ? `[${line.name} ${line.count}]` : line.row.id)).join(' ')
  assert.equal(shown(''), '[Pinned 1] c [day 3000 1] a [day 2000 1] b')
  assert.equal(shown('group=none'), 'c a b')
  assert.equal(shown('group=project&fold=shop'), '[Pinned 1] c [shop 2]')
})

test('a change of annotations is shown at once, and one that is heard counts', () => {
  const rows = [row('a'), row('b', { pinned: true, tags: ['old'] }), row('c')]
  const none = overlay.annotationsOf(undefined)
  const before = overlay.annotationsOf(rows[1])
  const after = overlay.changed(before, { pinned: false, add_tags: ['New', 'OLD'], remove_tags: ['nothing'] })
  assert.deepEqual(after, { tags: ['old', 'New'], pinned: false, hidden: false })
  assert.deepEqual(overlay.changed(after, { add_tags: [], remove_tags: ['Old'], note: 'x' }), { tags: ['New'], pinned: false, hidden: false, note: 'x' })
  const state = live.blank()
  live.fold(state, [{ name: 'session-annotated', data: { sessionId: 'b', annotations: after } }, { name: 'session-annotated', data: { sessionId: 'c', annotations: { ...none, hidden: true } } }])
  const shown = overlay.overlay(rows, state.annotated)
  assert.deepEqual(shown.map(one => [one.id, one.pinned ?? false, one.tags ?? []]), [['a', false, []], ['b', false, ['old', 'New']]])
  assert.deepEqual(overlay.overlay([row('c', { hidden: true })], state.annotated).map(one => one.id), ['c'], 'it is among the hidden ones')
  live.fold(state, [{ name: 'resync', data: {} }])
  assert.equal(state.annotated.size, 0, 'the rows are asked for again')
})

test('tags as people type them', () => {
  for (const [text, tags] of [['auth release', ['auth', 'release']], [' #auth, release,auth', ['auth', 'release']], ['', []], ['# ,', []]]) assert.deepEqual(overlay.typedTags(text), tags)
})

test('what was done is grouped by repository', () => {
  const rows = [row('a', { last: 10, cost: 1 }), row('b', { last: 30, cost: 2 }), row('c', { last: 20, path: '/web', project: 'web' }), row('d', { last: 99 })]
  assert.deepEqual(today.byRepository(rows, 0, 50).map(group => [group.name, group.cost, group.rows.map(one => one.id).join('')]), [['shop', 3, 'ba'], ['web', 0, 'c']])
})

test('marks of a snippet are bytes', () => {
  assert.deepEqual(hit.marked('é token', [[3, 8]]), [{ text: 'é ', isMarked: false }, { text: 'token', isMarked: true }])
  assert.deepEqual(hit.marked('short', [[2, 99]]), [{ text: 'short', isMarked: false }])
})

test('the palette finds words at their beginning first', () => {
  assert.ok(palette.score('tok', ['token refresh']) > palette.score('ref', ['token refresh']))
  assert.ok(palette.score('ref', ['token refresh']) > palette.score('oke', ['token refresh']))
  assert.equal(palette.score('tok zebra', ['token refresh']), 0)
})

test('a schedule as a form says it', () => {
  const when = { kind: 'daily', time: '04:30', weekday: '1', every: '2h', at: '', cron: '0 4 * * *' }
  assert.deepEqual(schedule.scheduleBody(when), { cron: '30 4 * * *' })
  assert.deepEqual(schedule.scheduleBody({ ...when, kind: 'weekly' }), { cron: '30 4 * * 1' })
  assert.equal(schedule.scheduleInWords({ kind: 'cron', expr: '30 4 * * 1', tz: null }), 'Mondays at 04:30')
  assert.equal(schedule.scheduleInWords({ kind: 'cron', expr: '*/5 * * * *', tz: 'UTC' }), '*/5 * * * * (UTC)')
  assert.equal(schedule.scheduleInWords({ kind: 'every', every_ms: 5_400_000 }), 'every 90 minutes')
})

test('spending adds up the same by any field', () => {
  const rows = [
    { day: '2026-01-01', session: 'a', model: 'm', project: 'shop', branch: 'main', cost_usd: 1, tokens_in: 5, tokens_out: 1 },
    { day: '2026-01-02', session: 'a', model: 'm', project: 'shop', branch: 'main', cost_usd: 2, tokens_in: 5, tokens_out: 1 },
    { day: '2026-01-02', session: 'b', model: 'n', project: 'web', branch: null, cost_usd: null, tokens_in: 5, tokens_out: 1 },
  ]
  for (const by of ['project', 'branch', 'model', 'session']) assert.equal(spending.sums(rows, by).reduce((sum, one) => sum + one.cost, 0), 3)
  assert.deepEqual(spending.choose(rows, { day: '2026-01-02', project: 'shop', branch: '', model: '' }).map(one => one.cost_usd), [2])
  const days = spending.days('2026-01-01', '2026-01-03')
  assert.deepEqual(days, ['2026-01-01', '2026-01-02', '2026-01-03'])
  assert.deepEqual(stack.stack(days, spending.sums(rows, 'project')).series.map(one => one.values), [[1, 2, 0], [1, 2, 0]])
})

const message = (uuid, role, blocks, more = {}) => ({ uuid, role, blocks, at: '2026-01-01T10:00:00Z', offset: Number(uuid) * 100, ...more })
const places = { left: new Map(), dayName: () => 'Today' }

test('a call and its result are one item', () => {
  const messages = [
    message('1', 'user', [{ type: 'text', text: 'go' }]),
    message('2', 'assistant', [{ type: 'thinking', text: 'hm' }, { type: 'tool_use', id: 't', name: 'Bash', input: { command: 'ls' } }]),
    message('3', 'tool', [{ type: 'tool_result', id: 't', text: 'a.txt', length: 5, is_error: false, is_refused: false }], { at: '2026-01-01T10:00:04Z' }),
    message('4', 'note', [], { note: 'compaction' }),
    message('5', 'assistant', [{ type: 'text', text: 'done' }]),
  ]
  const kinds = layout => reader.items(messages, layout, places).map(item => item.kind).join(' ')
  assert.equal(kinds('normal'), 'prompt thinking tool divider text')
  assert.equal(kinds('conversation'), 'prompt divider text')
  assert.equal(kinds('prompts'), 'prompt divider')
  const call = reader.items(messages, 'normal', places)[2]
  assert.deepEqual([call.result.text, call.ms, call.resultOffset], ['a.txt', 4000, 300])
  assert.match(asMarkdown.markdown('Title', reader.items(messages, 'normal', places)), /^# Title\n\n## You\n\ngo\n- `Bash`/)
})

test('a fork is divided from what it was forked from, and leads there', () => {
  const fork = { session: 'origin', uuid: '2', title: 'Fix the gate' }
  const forks = messages => reader.items(messages, 'normal', { ...places, fork }).filter(item => item.what === 'fork').map(item => [item.key, item.text, item.from, item.target])
  const plain = ['1', '2', '3'].map((uuid, at) => ({ role: 'user', uuid, offset: at, blocks: [{ type: 'text', text: 'x' }] }))
  const expected = [['3 fork', 'Forked here from “Fix the gate”', 'origin', '2']]
  assert.deepEqual(forks(plain), expected)
  const marked = plain.map((message, at) => (at < 2 ? { ...message, copied_from: 'origin' } : message))
  assert.deepEqual(forks(marked), expected, 'once, also where the copies are marked')
  assert.deepEqual(forks(plain.slice(0, 2)), [], 'nothing was said after it yet')
})

test('dividers: new since read, forks, and branches that were left', () => {
  const said = (uuid, role, more) => message(uuid, role, [{ type: 'text', text: uuid }], more)
  const messages = [said('1', 'user', { copied_from: 'x' }), said('2', 'user'), said('3', 'assistant')]
  const shown = reader.items(messages, 'normal', { ...places, readUntil: '2', left: new Map([['9', '2']]) })
  assert.deepEqual(shown.filter(item => item.kind === 'divider').map(item => [item.what, item.target]), [['fork', undefined], ['left', '9'], ['new', undefined]])
})

test('a window lets go at one end what it takes at the other, and can ask for it again', () => {
  const page = (first, count, more = {}) => ({ session_id: 's', messages: Array.from({ length: count }, (_, at) => ({ uuid: `${first + at}`, offset: first + at, role: 'user', blocks: [] })), older: first > 0 ? `<${first}` : null, newer: `>${first + count}`, is_last: false, ...more })
  let window = new windows.Window([page(19_900, 100, { is_last: true })])
  for (let first = 19_800; first >= 0; first -= 100) {
    window = window.before(page(first, 100))
    assert.ok(window.messages.length <= windows.KEPT)
    const offsets = window.messages.map(one => one.offset)
    assert.deepEqual(offsets, Array.from({ length: offsets.length }, (_, at) => first + at), 'none is missing between')
  }
  assert.deepEqual([window.older, window.newer, window.isLast], [null, '>600', false])
  for (let first = 600; first < 20_000; first += 100) window = window.after(page(first, 100, { is_last: first === 19_900 }))
  assert.deepEqual([window.messages.at(-1).offset, window.isLast, window.older], [19_999, true, '<19400'])
  window = window.after(page(20_000, 1, { is_last: true }))
  assert.equal(window.messages.at(-1).offset, 20_000)
})

test('lines of a change are numbered and paired', () => {
  const rows = diffRows.rows([{ old_start: 3, new_start: 3, lines: [' a', '-b', '+B', ' c'] }, { old_start: 9, new_start: 9, lines: ['+z'] }])
  assert.deepEqual(rows, [
    { kind: 'same', number: 3, text: 'a' },
    { kind: 'removed', number: 4, text: 'b', other: 'B' },
    { kind: 'added', number: 4, text: 'B', other: 'b' },
    { kind: 'same', number: 5, text: 'c' },
    { kind: 'gap' },
    { kind: 'added', number: 9, text: 'z', other: undefined },
  ])
})
