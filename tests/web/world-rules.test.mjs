// The world without a canvas: who is where, who is red, who comes and goes, and a day played again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actors, coins, crew, layout, look, poses, replay, scene, Space } from './rules.mjs'

const NOW = 1_800_000_000_000
const actor = (id, more = {}) => ({ id, title: `Session ${id}`, project: 'shop', state: 'tool_use', last: NOW, subagents: [], ...more })

function settled(actors, world = crew.emptyWorld()) {
  crew.sync(world, actors, NOW)
  for (let count = 0; count < 200; count++) crew.step(world, 0.1)
  return world
}
const find = (world, key) => scene(world).agents.find(agent => agent.key === key)

test('a room for each project and an agent for each session, with the kind of its state', () => {
  const world = settled([actor('a'), actor('b', { state: 'waiting_permission', project: 'web', detail: 'rm -rf build' }), actor('c', { state: 'waiting_input' }), actor('d', { state: 'failed', detail: 'API error 529' }), actor('e', { state: 'lost' })])
  assert.deepEqual(scene(world).rooms.map(room => room.name), ['shop', 'web'])
  assert.deepEqual(['a', 'b', 'c', 'd', 'e'].map(key => find(world, key).kind), ['working', 'needs', 'turn', 'failed', 'failed'])
  assert.equal(find(world, 'b').room, 'web')
  assert.equal(find(world, 'd').bubble, 'API error 529', 'an error is said as long as it is there')
})

test('the signs of all states can be read, by day and by night', () => {
  const light = hex => {
    const [r, g, b] = look.rgb(hex).map(value => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  for (const [kind, { fill, sign }] of Object.entries(look.STATE_COLOURS)) {
    const [low, high] = [light(fill), light(sign)].sort((one, other) => one - other)
    assert.ok((high + 0.05) / (low + 0.05) >= 3, `${kind}: ${((high + 0.05) / (low + 0.05)).toFixed(2)}`)
  }
})

test('repositories of one name have a room each, and one of two names has one', () => {
  const world = settled([actor('a', { path: '/home/sam/work/cli', project: 'work/cli' }), actor('b', { path: '/srv/cli', project: 'srv/cli' }), actor('c', { path: '/srv/cli', project: 'cli' })])
  assert.deepEqual(scene(world).rooms.map(({ key, name }) => `${key} ${name}`), ['/home/sam/work/cli work/cli', '/srv/cli srv/cli'])
  assert.deepEqual(['a', 'b', 'c'].map(key => find(world, key).room), ['/home/sam/work/cli', '/srv/cli', '/srv/cli'])
  const day = { since: new Date(NOW).toISOString(), until: '', sessions: ['/a/cli', '/b/cli'].map((path, at) => ({ id: `s${at}`, title: 'T', project: 'cli', path })), changes: [0, 1].map(session => ({ at: NOW, session, state: 'thinking' })) }
  assert.deepEqual(new replay.Replay(day).seek(NOW).map(one => `${one.project} ${one.path}`), ['/a/cli /a/cli', '/b/cli /b/cli'])
})

test('a background job carries its mark, and one that is blocked waits for the person', () => {
  const session = (id, job, state = 'waiting_input') => ({ id, title: `Title ${id}`, project: 'shop', path: '/shop', contextTokens: 0, hasTranscript: true, lastActivity: NOW - 3_600_000, activity: { state }, subagents: [], job })
  const blocked = { id: '6dc62884', name: 'colours', state: 'blocked', needs: 'set DEPLOY_TOKEN' }
  const world = settled(actors.actorsOf([session('a', blocked), session('b', undefined, 'tool_use'), session('c', { id: 'c1', state: 'working' }, 'tool_use'), session('d')], ({ id }) => id === 'a' || id === 'd'))
  assert.deepEqual(['a', 'b', 'c'].map(key => find(world, key).isJob), [true, false, true])
  const { name, state, kind } = find(world, 'a')
  assert.deepEqual([name, state, kind], ['colours · Title a', 'waiting_permission', 'needs'])
  assert.equal(world.agents.get('a').bubble, 'Job blocked: set DEPLOY_TOKEN')
  assert.deepEqual([find(world, 'd').kind, world.agents.get('d').bubble], ['needs', 'Your turn'], 'whoever needs the person is red')
})

test('what an actor knows is what is live and what is in the list', () => {
  const session = { id: 'a', title: 'T', project: 'shop', path: '/shop', branch: 'main', contextTokens: 0, lastActivity: NOW, activity: { state: 'tool_use', tool: 'Bash', detail: 'ls', since: new Date(NOW - 60_000).toISOString() }, subagents: [{ taskId: 't', description: 'Look', toolName: 'Grep' }] }
  const [one] = actors.actorsOf([session], () => false, () => ({ cost: 2, context: 90_000 }), () => NOW - 5000)
  assert.deepEqual([one.tool, one.since, one.context, one.cost, one.branch], ['Bash', NOW - 60_000, 90_000, 2, 'main'])
  assert.deepEqual(one.subagents, [{ id: 't', name: 'Look', tool: 'Grep', since: NOW - 5000 }])
  const seen = new actors.FirstSeen()
  assert.deepEqual([seen.of('a', 't', 5), seen.of('a', 't', 9), seen.of('a', 'u', 9)], [5, 5, 9])
})

test('everybody looks at the person, whatever they do', () => {
  const world = settled([actor('a'), actor('b', { state: 'waiting_permission' }), actor('c', { state: 'idle' })])
  for (const agent of world.agents.values()) assert.ok(Math.cos(agent.heading - layout.YAW * 0.45) > 0.999, agent.key)
})

test('each kind has a pose and a face of its own', () => {
  const world = settled(['tool_use', 'thinking', 'waiting_permission', 'failed', 'waiting_input', 'idle'].map((state, at) => actor(`s${at}`, { state, tool: 'Edit' })))
  const faces = [0, 1, 2, 3, 4, 5].map(at => poses.poseOf(world.agents.get(`s${at}`), 1, poses.blankPose()).face)
  assert.deepEqual(faces, ['down', 'up', 'wide', 'cross', 'happy', 'shut'])
  assert.ok(poses.poseOf(world.agents.get('s2'), 1, poses.blankPose()).lift > 0.6, 'who needs somebody stands')
})

test('those who need the person are numbered, the longest wait first', () => {
  const world = settled([actor('a', { state: 'waiting_permission', since: 300 }), actor('b', { state: 'waiting_permission', since: 100 }), actor('c'), actor('d', { state: 'waiting_permission', since: 200, project: 'web' })])
  assert.deepEqual(['a', 'b', 'c', 'd'].map(key => find(world, key).number), [3, 1, 0, 2])
})

test('coins stand for the cost, and no more than two stacks of them', () => {
  assert.deepEqual([0, 0.2, 0.25, 0.5, 1, 4, 5000].map(cost => coins.coinsFor(cost)), [0, 0, 1, 3, 5, 9, 14])
})

test('a label goes where nothing is, inside of what is seen', () => {
  const space = new Space()
  space.clear(400, 300, { top: 50, right: 0, bottom: 0, left: 0 })
  const box = (left, top) => ({ left, top, right: left + 100, bottom: top + 20 })
  space.add(box(100, 100), 'head', 'a')
  space.add(box(100, 200), 'quiet', 'b')
  assert.deepEqual([space.isFree(box(150, 110), 'x', true), space.isFree(box(150, 110), 'a', false), space.isFree(box(150, 210), 'x', false), space.isFree(box(150, 210), 'x', true)], [false, true, false, true])
  assert.deepEqual([space.isFree(box(10, 40), 'x', false), space.isFree(box(320, 100), 'x', false), space.isFree(box(10, 60), 'x', false)], [false, false, true])
  assert.ok(space.covers(box(150, 110), 'x') > space.covers(box(150, 210), 'x'))
})

test('rooms are as large as their people, and as near as they can be', () => {
  assert.deepEqual([1, 2, 3, 5, 6, 9, 15].map(count => [layout.columnsFor(count), layout.rowsFor(count)]), [[1, 1], [2, 1], [3, 1], [3, 2], [3, 2], [4, 3], [5, 3]])
  for (const screen of [{ width: 1068, height: 740 }, { width: 390, height: 650 }]) {
    for (const count of [1, 5, 13]) {
      const rooms = Array.from({ length: count }, (_, at) => ({ columns: 1 + (at % 5), extras: Array(1 + (at % 3)).fill(at % 2 === 0) }))
      const places = layout.arrange(rooms, screen)
      const placed = rooms.map((room, at) => ({ ...room, centre: places[at] }))
      const bounds = layout.boundsOf(placed)
      const scale = layout.scaleFor(bounds, screen.width, screen.height)
      const [wide, high] = [((bounds.right - bounds.left) * scale) / screen.width, ((bounds.top - bounds.bottom) * scale) / screen.height]
      assert.ok(wide <= 1.001 && high <= 1.001 && (scale === layout.NEAREST || Math.max(wide, high) > 0.999), `${count}: ${wide} ${high}`)
      for (const [at, one] of placed.entries()) {
        for (const other of placed.slice(at + 1)) {
          const [a, b] = [layout.sizeOf(one), layout.sizeOf(other)]
          assert.ok(Math.abs(one.centre.x - other.centre.x) >= (a.width + b.width) / 2 - 0.001 || Math.abs(one.centre.z - other.centre.z) >= (a.depth + b.depth) / 2 - 0.001, 'no room is in another')
        }
      }
    }
  }
})

test('rooms that are arranged anew take everybody along, and glide there', () => {
  const all = Array.from({ length: 6 }, (_, at) => actor(`s${at}`, { project: `p${at}`, subagents: [{ id: 'x', name: 'x' }] }))
  const world = settled(all)
  const inRoom = () => [...world.agents.values()].map(({ key, x, z, goal }) => [key, x, z, goal.x, goal.z].join(' '))
  const places = () => [...world.rooms.values()].map(room => ({ ...room.centre }))
  const before = [inRoom(), places()]
  assert.equal(crew.rearrange(world, { width: 390, height: 700 }), true)
  crew.step(world, 0.3)
  const between = places()
  crew.step(world, 0.31)
  assert.deepEqual(inRoom(), before[0])
  assert.notDeepEqual(places(), before[1])
  assert.notDeepEqual(places(), between)
  assert.deepEqual(places(), [...world.rooms.values()].map(room => room.goal))
  assert.equal(crew.rearrange(world, { width: 390, height: 700 }), false, 'nothing is moved twice')
})

test('agents come in between the desks, arrive exactly and in time, and leave the same way', () => {
  const world = settled([actor('a'), actor('b'), actor('c'), actor('d')])
  crew.sync(world, [...['a', 'b', 'c', 'd'].map(key => actor(key)), actor('e')], NOW)
  const agent = world.agents.get('e')
  const room = world.rooms.get('shop')
  const { depth } = layout.sizeOf(room)
  assert.ok(agent.z > depth / 2, 'from the path before the room')
  const desks = [...world.agents.values()].map(one => ({ x: one.goal.x, z: one.goal.z + layout.DESK.before }))
  let passed = 0
  for (; passed < 3 && agent.way.length; passed += 0.02) {
    crew.step(world, 0.02)
    for (const desk of desks) assert.ok(Math.abs(agent.x - desk.x) > layout.DESK.width / 2 || Math.abs(agent.z - desk.z) > layout.DESK.depth / 2, `not through a desk: ${agent.x} ${agent.z}`)
  }
  assert.ok(passed <= 1.25, `${passed} seconds`)
  assert.deepEqual([agent.x, agent.z], [agent.goal.x, agent.goal.z])
  crew.sync(world, [], NOW)
  assert.ok(world.agents.get('a').isLeaving)
  for (let count = 0; count < 100; count++) crew.step(world, 0.1)
  assert.deepEqual([world.agents.size, world.rooms.size], [0, 0])
})

test('a sub-agent that is done shows it for a second, and goes where it stands', () => {
  const world = settled([actor('a', { subagents: [{ id: 't', name: 'Look', tool: 'Grep' }] })])
  const sub = world.agents.get('a/t')
  assert.deepEqual([find(world, 'a').kind, sub.tool, sub.z > world.agents.get('a').z], ['directing', 'Grep', true])
  crew.sync(world, [actor('a')], NOW)
  crew.step(world, 0.9)
  assert.equal(sub.size, sub.fullSize)
  for (let count = 0; count < 5; count++) crew.step(world, 0.1)
  assert.equal(world.agents.has('a/t'), false)
})

test('fifteen are shown in a room, four sub-agents before one, and the others are counted', () => {
  const many = Array.from({ length: 22 }, (_, at) => actor(`s${at}`, { state: at === 21 ? 'waiting_permission' : 'idle' }))
  const subagents = Array.from({ length: 11 }, (_, at) => ({ id: `t${at}`, name: `Task ${at}` }))
  const world = settled([...many, actor('boss', { subagents, project: 'web' })])
  const agents = scene(world).agents
  assert.equal(agents.filter(agent => agent.room === 'shop').length, 15)
  assert.equal(scene(world).rooms.find(room => room.name === 'shop').hidden, 7)
  assert.ok(find(world, 's21'), 'who waits is never among the hidden')
  assert.equal(agents.filter(agent => agent.parent === 'boss').length, 4)
  assert.equal(find(world, 'boss').kind, 'directing')
  assert.equal(world.agents.get('boss/t0').size, 0.52)
  const desks = [...world.agents.values()].filter(agent => agent.room === 'shop').map(agent => agent.desk)
  assert.equal(new Set(desks).size, 15, 'nobody shares a desk')
})

test('sub-agents beyond those that are shown are counted, and those that go on alone are named', () => {
  const subagents = count => Array.from({ length: count }, (_, at) => ({ id: `t${at}`, name: `Task ${at}` }))
  const world = settled([actor('a', { subagents: subagents(11) }), actor('b', { subagents: subagents(4) })])
  assert.deepEqual([find(world, 'a').hidden, find(world, 'b').hidden], [7, 0])
  const session = { id: 'c', title: 'T', project: 'shop', path: '/shop', lastActivity: NOW, activity: { state: 'tool_use', detail: 'in the background' }, subagents: [{ taskId: 't', description: 'Find the ladder' }] }
  settled(actors.actorsOf([session], () => false), world)
  assert.equal(world.agents.get('c').bubble, 'Find the ladder')
})

test('sessions that are done are not in the office', () => {
  const world = settled([actor('old', { state: 'idle', last: NOW - 6 * 60_000 }), actor('ended', { state: 'ended', last: NOW - 60_000 }), actor('asks', { state: 'waiting_permission', last: NOW - 3_600_000 })])
  assert.deepEqual(scene(world).agents.map(agent => agent.key), ['asks'])
})

test('a bubble is said once, and short', () => {
  const world = crew.emptyWorld()
  const show = detail => crew.sync(world, [actor('a', { detail })], NOW)
  show('x'.repeat(500))
  assert.equal(find(world, 'a').bubble.length, 140)
  for (let count = 0; count < 70; count++) crew.step(world, 0.1)
  show('x'.repeat(500))
  assert.equal(find(world, 'a').bubble, '')
  show('npm test')
  assert.equal(find(world, 'a').bubble, 'npm test')
})

test('rooms keep their places while agents come and go, until one needs more desks', () => {
  const stay = ['web', 'api'].map(project => actor(project, { project }))
  const here = count => [...Array.from({ length: count }, (_, at) => actor(`s${at}`)), ...stay]
  const world = settled(here(5))
  const places = () => JSON.stringify([...world.rooms.values()].map(room => room.goal))
  const before = places()
  let seed = 5
  for (let count = 0; count < 200; count++) {
    seed = (seed * 1103515245 + 12345) % 2147483648
    crew.sync(world, here(5 + (seed % 2)), NOW)
    crew.step(world, 0.4)
    assert.equal(places(), before, `after ${count}`)
  }
  crew.sync(world, here(9), NOW)
  assert.notEqual(places(), before)
  assert.equal(new Set([...world.agents.values()].filter(agent => agent.room === 'shop' && !agent.isLeaving).map(agent => agent.desk)).size, 9)
})

test('nothing is moved while somebody looks at an agent', () => {
  const world = settled([actor('a'), actor('b', { project: 'web' })])
  const place = () => JSON.stringify(world.rooms.get('web').goal)
  const before = place()
  world.isHeld = true
  crew.sync(world, [...Array.from({ length: 8 }, (_, at) => actor(`s${at}`)), actor('a'), actor('b', { project: 'web' })], NOW)
  assert.equal(place(), before)
  crew.release(world)
  assert.notEqual(place(), before)
})

test('a day is played forward and back', () => {
  const at = minutes => NOW + minutes * 60_000
  const day = {
    since: new Date(NOW).toISOString(), until: new Date(at(600)).toISOString(), is_cut: false,
    sessions: [{ id: 'a', title: 'A', project: 'shop', path: '/shop' }, { id: 'b', title: 'B', project: 'web', path: '/web' }],
    changes: [
      { at: at(0), session: 0, state: 'thinking', uuid: 'u1' },
      { at: at(1), session: 0, began: { task: 't', name: 'Look' } },
      { at: at(2), session: 0, state: 'waiting_permission', tool: 'Bash', detail: 'rm x', uuid: 'u2' },
      { at: at(5), session: 0, state: 'tool_use', tool: 'Bash', detail: 'rm x' },
      { at: at(6), session: 0, ended: 't' },
      { at: at(7), session: 0, state: 'waiting_input' },
      { at: at(300), session: 1, state: 'thinking' },
    ],
  }
  const played = new replay.Replay(day)
  assert.equal(played.since, at(0), 'it begins on its own day')
  assert.equal(new replay.Replay({ ...day, changes: day.changes.slice(6) }).since, at(299))
  assert.deepEqual(played.waits, [[at(2), at(5)]])
  const seen = minutes => played.seek(at(minutes)).map(one => `${one.id} ${one.state} ${one.subagents.length}`).join(', ')
  assert.equal(seen(3), 'a waiting_permission 1')
  assert.equal(played.seek(at(3))[0].uuid, 'u2')
  assert.equal(seen(10), 'a waiting_input 0')
  assert.equal(seen(301), 'b thinking 0')
  assert.equal(seen(0.5), 'a thinking 0', 'going back begins again')
  assert.equal(played.next(), at(1))
})

test('a question is waited for, the end of a turn is not', () => {
  const changes = [[1, 'waiting_input', 'AskUserQuestion'], [3, 'thinking'], [4, 'waiting_input'], [9, 'thinking']].map(([minute, state, tool]) => ({ at: NOW + minute * 60_000, session: 0, state, ...(tool ? { tool } : {}) }))
  const day = { since: new Date(NOW).toISOString(), until: new Date(NOW + 3_600_000).toISOString(), is_cut: false, sessions: [{ id: 'a', title: 'A', project: 'shop' }], changes }
  const played = new replay.Replay(day)
  assert.deepEqual(played.waits, [[NOW + 60_000, NOW + 180_000]])
  const seen = minute => played.seek(NOW + minute * 60_000).map(one => [one.state, one.words])[0]
  assert.deepEqual([2, 3, 5].map(seen), [['waiting_permission', 'Asks a question'], ['thinking', undefined], ['waiting_input', undefined]])
})

test('a replay of one session calls its room as the others do', () => {
  const day = { since: '', until: '', sessions: [{ id: 'a', project: 'shop', path: '/home/sam/code/shop' }], changes: [{ at: NOW, session: 0, state: 'thinking' }] }
  const known = [{ project: 'shop', path: '/home/sam/code/shop' }, { project: 'shop', path: '/home/sam/old/shop' }]
  assert.equal(new replay.Replay(day, known).seek(NOW)[0].project, 'code/shop')
})

test('a replay says how much happened when', () => {
  const change = minute => ({ at: NOW + minute * 60_000, session: 0, state: 'thinking' })
  const day = { since: '', until: '', sessions: [{ id: 'a' }], changes: [change(0), change(0), change(0), change(0), change(60)] }
  const { activity } = new replay.Replay(day)
  assert.deepEqual([Math.max(...activity), activity.filter(Boolean).length], [1, 2])
  assert.equal(activity.findLast(Boolean), 0.5)
})

test('sub-agents are beside each other, not in each other', () => {
  const at = Array.from({ length: layout.SUBAGENTS_SHOWN }, (_, number) => layout.subagentPlace({ x: 0, z: 0 }, number, 4))
  for (const [one, other] of at.flatMap((one, place) => at.slice(place + 1).map(other => [one, other]))) {
    assert.ok(Math.hypot(one.x - other.x, one.z - other.z) > 0.4)
  }
})

test('light follows the hour, and looks are blended', () => {
  assert.deepEqual([3, 6.5, 12, 20, 23].map(look.daylight), [0, 0.5, 1, 0.5, 0])
  assert.deepEqual([look.lookFor(1).glow, look.lookFor(0).glow, look.lookFor(0.5).glow], [look.DAY.glow, look.NIGHT.glow, look.DUSK.glow])
  const between = look.lookFor(0.75).floor[0]
  assert.ok(between < look.DAY.floor[0] && between > look.DUSK.floor[0])
})
