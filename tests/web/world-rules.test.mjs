// The world without a canvas: who is where, who is red, who comes and goes, and a day played again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actors, crew, layout, look, replay } from './rules.mjs'

const NOW = 1_800_000_000_000
const actor = (id, more = {}) => ({ id, title: `Session ${id}`, project: 'shop', state: 'tool_use', last: NOW, subagents: [], ...more })
const CAMERA = { x: 0, z: 40 }

function settled(actors, world = crew.emptyWorld()) {
  crew.sync(world, actors, NOW)
  for (let count = 0; count < 200; count++) crew.step(world, 0.1, CAMERA)
  return world
}
const find = (world, key) => crew.scene(world).agents.find(agent => agent.key === key)

test('a room for each project and an agent for each session, with its colour', () => {
  const world = settled([actor('a'), actor('b', { state: 'waiting_permission', project: 'web', detail: 'rm -rf build' }), actor('c', { state: 'waiting_input' })])
  assert.deepEqual(crew.scene(world).rooms.map(room => room.name), ['shop', 'web'])
  assert.deepEqual([find(world, 'a').colour, find(world, 'b').colour, find(world, 'c').colour], ['#4ade80', '#ef4444', '#fbbf24'])
  assert.equal(find(world, 'b').room, 'web')
})

test('repositories of one name have a room each, and one of two names has one', () => {
  const world = settled([actor('a', { path: '/home/sam/work/cli', project: 'work/cli' }), actor('b', { path: '/srv/cli', project: 'srv/cli' }), actor('c', { path: '/srv/cli', project: 'cli' })])
  assert.deepEqual(crew.scene(world).rooms.map(({ key, name }) => `${key} ${name}`), ['/home/sam/work/cli work/cli', '/srv/cli srv/cli'])
  assert.deepEqual(['a', 'b', 'c'].map(key => find(world, key).room), ['/home/sam/work/cli', '/srv/cli', '/srv/cli'])
  const day = { since: new Date(NOW).toISOString(), until: '', sessions: ['/a/cli', '/b/cli'].map((path, at) => ({ id: `s${at}`, title: 'T', project: 'cli', path })), changes: [0, 1].map(session => ({ at: NOW, session, state: 'thinking' })) }
  assert.deepEqual(new replay.Replay(day).seek(NOW).map(one => `${one.project} ${one.path}`), ['/a/cli /a/cli', '/b/cli /b/cli'])
})

test('a background job carries its mark, and one that is blocked waits for the person', () => {
  const session = (id, job, state = 'waiting_input') => ({ id, title: `Title ${id}`, project: 'shop', path: '/shop', contextTokens: 0, hasTranscript: true, lastActivity: NOW - 3_600_000, activity: { state }, subagents: [], job })
  const blocked = { id: '6dc62884', name: 'colours', state: 'blocked', needs: 'set DEPLOY_TOKEN' }
  const world = settled(actors.actorsOf([session('a', blocked), session('b', undefined, 'tool_use'), session('c', { id: 'c1', state: 'working' }, 'tool_use'), session('d')], ({ id }) => id === 'a' || id === 'd'))
  assert.deepEqual(['a', 'b', 'c'].map(key => find(world, key).isJob), [true, false, true])
  const { name, state, colour } = find(world, 'a')
  assert.deepEqual([name, state, colour], ['colours · Title a', 'waiting_permission', '#ef4444'])
  assert.equal(world.agents.get('a').bubble, 'Job blocked: set DEPLOY_TOKEN')
  assert.deepEqual([find(world, 'd').colour, world.agents.get('d').bubble], ['#ef4444', 'Your turn'], 'whoever needs the person is red')
})

test('who waits faces the person, whoever else looks at the screen', () => {
  const world = settled([actor('a'), actor('b', { state: 'waiting_permission' })])
  const waits = world.agents.get('b')
  const wanted = Math.atan2(CAMERA.x - waits.x, CAMERA.z - waits.z)
  assert.ok(Math.abs(waits.heading - wanted) < 0.05)
  assert.ok(Math.abs(Math.abs(world.agents.get('a').heading) - Math.PI) < 0.05)
})

test('rooms that are arranged anew take everybody along', () => {
  const all = Array.from({ length: 6 }, (_, at) => actor(`s${at}`, { project: `p${at}`, subagents: [{ id: 'x', name: 'x' }] }))
  const world = settled(all)
  const inRoom = () => [...world.agents.values()].map(({ key, room, x, z, goal }) => {
    const { centre } = world.rooms.get(room)
    return [key, ...[x - centre.x, z - centre.z, goal.x - centre.x, goal.z - centre.z].map(value => value.toFixed(6))].join(' ')
  })
  const before = inRoom()
  assert.equal(crew.rearrange(world, true), true)
  assert.deepEqual(inRoom(), before)
  assert.equal(new Set([...world.rooms.values()].map(room => room.centre.x)).size, 2)
  assert.equal(crew.rearrange(world, true), false, 'nothing is moved twice')
})

test('agents come by the door, arrive exactly, and leave by it', () => {
  const world = crew.emptyWorld()
  crew.sync(world, [actor('a')], NOW)
  const agent = world.agents.get('a')
  const { centre } = world.rooms.get('shop')
  assert.deepEqual([agent.x, agent.z], [layout.door(centre).x, layout.door(centre).z])
  let before = Infinity
  for (let count = 0; count < 100; count++) {
    crew.step(world, 0.1, CAMERA)
    const distance = Math.hypot(agent.goal.x - agent.x, agent.goal.z - agent.z)
    assert.ok(distance <= before, 'it never turns back')
    before = distance
  }
  assert.deepEqual([agent.x, agent.z], [agent.goal.x, agent.goal.z])
  crew.sync(world, [], NOW)
  assert.ok(world.agents.get('a').isLeaving)
  for (let count = 0; count < 100; count++) crew.step(world, 0.1, CAMERA)
  assert.deepEqual([world.agents.size, world.rooms.size], [0, 0])
})

test('fifteen are shown in a room, eight beside one, and the others are counted', () => {
  const many = Array.from({ length: 22 }, (_, at) => actor(`s${at}`, { state: at === 21 ? 'waiting_permission' : 'idle' }))
  const subagents = Array.from({ length: 11 }, (_, at) => ({ id: `t${at}`, name: `Task ${at}` }))
  const world = settled([...many, actor('boss', { subagents, project: 'web' })])
  const agents = crew.scene(world).agents
  assert.equal(agents.filter(agent => agent.room === 'shop').length, 15)
  assert.equal(crew.scene(world).rooms.find(room => room.name === 'shop').hidden, 7)
  assert.ok(find(world, 's21'), 'who waits is never among the hidden')
  assert.equal(agents.filter(agent => agent.parent === 'boss').length, 8)
  assert.equal(find(world, 'boss').colour, '#a78bfa')
  assert.equal(world.agents.get('boss/t0').size, 0.6)
  const desks = [...world.agents.values()].filter(agent => agent.room === 'shop').map(agent => agent.desk)
  assert.equal(new Set(desks).size, 15, 'nobody shares a desk')
})

test('sub-agents beyond those that are shown are counted, and those that go on alone are named', () => {
  const subagents = count => Array.from({ length: count }, (_, at) => ({ id: `t${at}`, name: `Task ${at}` }))
  const world = settled([actor('a', { subagents: subagents(11) }), actor('b', { subagents: subagents(8) })])
  assert.deepEqual([find(world, 'a').hidden, find(world, 'b').hidden], [3, 0])
  const session = { id: 'c', title: 'T', project: 'shop', path: '/shop', lastActivity: NOW, activity: { state: 'tool_use', detail: 'in the background' }, subagents: [{ taskId: 't', description: 'Find the ladder' }] }
  settled(actors.actorsOf([session], () => false), world)
  assert.equal(world.agents.get('c').bubble, 'Find the ladder')
})

test('sessions that are done are not in the office', () => {
  const world = settled([actor('old', { state: 'idle', last: NOW - 6 * 60_000 }), actor('ended', { state: 'ended', last: NOW - 60_000 }), actor('asks', { state: 'waiting_permission', last: NOW - 3_600_000 })])
  assert.deepEqual(crew.scene(world).agents.map(agent => agent.key), ['asks'])
})

test('a bubble is said once, and short', () => {
  const world = crew.emptyWorld()
  const show = detail => crew.sync(world, [actor('a', { detail })], NOW)
  show('x'.repeat(500))
  assert.equal(find(world, 'a').bubble.length, 140)
  for (let count = 0; count < 70; count++) crew.step(world, 0.1, CAMERA)
  show('x'.repeat(500))
  assert.equal(find(world, 'a').bubble, '')
  show('npm test')
  assert.equal(find(world, 'a').bubble, 'npm test')
})

test('rooms keep their places while others come and go', () => {
  const world = settled([actor('a'), actor('b', { project: 'web' }), actor('c', { project: 'api' })])
  const place = world.rooms.get('api').centre
  settled([actor('c', { project: 'api' })], world)
  assert.deepEqual(world.rooms.get('api').centre, place)
  settled([actor('c', { project: 'api' }), actor('d', { project: 'new' })], world)
  assert.deepEqual(world.rooms.get('api').centre, place)
  const centres = Array.from({ length: 40 }, (_, at) => JSON.stringify(layout.roomCentre(at)))
  assert.equal(new Set(centres).size, 40)
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

test('all rooms are on the screen, whatever its shape', () => {
  const half = (15 * Math.PI) / 180
  const [dy, dz] = [0.68, Math.sqrt(1 - 0.68 ** 2)]
  for (const aspect of [0.46, 1, 1.6]) {
    for (const rooms of [1, 2, 4, 9]) {
      const bounds = layout.boundsOf(Array.from({ length: rooms }, (_, at) => layout.roomCentre(at)))
      const distance = layout.distanceFor(bounds, [0, dy, dz], half, aspect)
      const reach = bounds.corners.map(([x, y, z]) => {
        const at = [x - bounds.middle.x, y, z - bounds.middle.z]
        const depth = distance - (dy * at[1] + dz * at[2])
        return [Math.abs(at[0]) / (depth * Math.tan(half) * aspect), Math.abs(dz * at[1] - dy * at[2]) / (depth * Math.tan(half))]
      })
      const [wide, high] = [0, 1].map(axis => Math.max(...reach.map(one => one[axis])))
      assert.ok(wide <= 0.93 && high <= 0.75, `${rooms} at ${aspect}: ${wide} ${high}`)
      assert.ok(wide > 0.9 || high > 0.73, `${rooms} at ${aspect} is as near as it can be`)
    }
  }
})

test('a tall screen has up to four rooms in one column and more in two, and all are nearer than in a square', () => {
  const far = (rooms, isTall) => layout.distanceFor(layout.boundsOf(Array.from({ length: rooms }, (_, at) => layout.roomCentre(at, isTall))), [0, 0.68, Math.sqrt(1 - 0.68 ** 2)], (15 * Math.PI) / 180, 390 / 740)
  for (const rooms of [3, 4, 8]) assert.ok(far(rooms, true) < 0.85 * far(rooms, false), `${rooms} rooms: ${far(rooms, true)} and ${far(rooms, false)}`)
  assert.ok(far(2, true) < 1.15 * far(1, true), 'the second one makes the first hardly smaller')
  assert.equal(new Set(Array.from({ length: 40 }, (_, at) => JSON.stringify(layout.roomCentre(at, true)))).size, 40)
})

test('sub-agents are beside each other, not in each other', () => {
  const at = Array.from({ length: layout.SUBAGENTS_SHOWN }, (_, number) => layout.subagentPlace({ x: 0, z: 0 }, number))
  for (const [one, other] of at.flatMap((one, place) => at.slice(place + 1).map(other => [one, other]))) {
    assert.ok(Math.hypot(one.x - other.x, one.z - other.z) > 0.4)
  }
})

test('light follows the hour', () => {
  assert.deepEqual([3, 6.5, 12, 20.5, 23].map(look.daylight), [0, 0.5, 1, 0.5, 0])
})
