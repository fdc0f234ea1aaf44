// One record for each agent, and the one loop that changes them: `sync` takes what sessions do, `step` advances time.
// Pure: no canvas, no clock, no network.

import { activityInWords, isWorking, requestInShort, type State } from '../live/fold.ts'
import { AGENTS_SHOWN, arrange, columnsFor, entrance, freeDesk, rowsFor, seatPlace, SUBAGENTS_SHOWN, subagentPlace, wayTo, YAW } from './layout.ts'
import { kindOf, type Actor, type Agent, type Point, type Room, type SubActor, type World } from './types.ts'

/** How long a session stays after its last event, in milliseconds. */
const RECENT = 5 * 60_000
/** How long a bubble is shown, in seconds of the world; what needs the person and what failed stay. */
const BUBBLE_SECONDS = 6
const LONGEST_BUBBLE = 140
/** Who comes is at the desk after so many seconds, however far it is. */
const WALK_SECONDS = 1.2
const GLIDE_SECONDS = 0.6
const TURN_SPEED = 9
const SUBAGENT_SIZE = 0.52
/** How long a sub-agent that is done shows it, and how long it takes to go, in seconds. */
const DONE_SECONDS = 1
const SHRINK_SECONDS = 0.3
/** Bodies are turned to the person by a part of the angle from which the world is seen. */
const FACING = YAW * 0.45
/** The room of sessions without a repository. */
const ELSEWHERE = 'Elsewhere'

export function emptyWorld(screen = { width: 1280, height: 760 }): World {
  return { screen, rooms: new Map(), agents: new Map(), time: 0, furniture: 0, glide: 1, isHeld: false }
}

/** Arranges the rooms for another screen; returns whether any is moved. */
export function rearrange(world: World, screen: World['screen']): boolean {
  world.screen = screen
  return place(world, true)
}

/** Whether a session is shown: it works, it needs somebody, or it did something lately. */
export function isPresent(actor: Actor, now: number): boolean {
  if (actor.state === 'ended') return now - actor.last < 20_000
  return isWorking(actor.state) || actor.state === 'waiting_permission' || actor.subagents.length > 0 || now - actor.last < RECENT
}

/** Brings the world up to date with these sessions, as of `now`. */
export function sync(world: World, actors: readonly Actor[], now: number): void {
  const byRoom = new Map<string, Actor[]>()
  for (const actor of actors) {
    if (!isPresent(actor, now)) continue
    const key = actor.path || actor.project || ELSEWHERE
    const room = byRoom.get(key)
    if (room) room.push(actor)
    else byRoom.set(key, [actor])
  }
  const wanted = new Set<string>()
  for (const [key, all] of byRoom) {
    const room = roomOf(world, key)
    room.name = all[0]!.project || ELSEWHERE
    const shown = all.sort((one, other) => rank(world, one) - rank(world, other) || other.last - one.last).slice(0, AGENTS_SHOWN)
    room.hidden = all.length - shown.length
    for (const actor of shown) wanted.add(actor.id)
    seatAll(world, room, shown, wanted)
  }
  for (const agent of world.agents.values()) if (!wanted.has(agent.key)) leave(world, agent)
  for (const room of world.rooms.values()) if (!byRoom.has(room.key)) room.hidden = 0
  dropEmptyRooms(world)
  place(world)
  number(world)
}

/** Agents that wait for the person come first, and those that are shown already come before new ones. */
function rank(world: World, actor: Actor): number {
  if (actor.state === 'waiting_permission') return 0
  const isHere = world.agents.has(actor.id) ? 0 : 0.5
  return (isWorking(actor.state) ? 1 : 2) + isHere
}

/** Those that need the person have a number, the longest wait first. */
function number(world: World): void {
  const waiting = [...world.agents.values()].filter(agent => agent.kind === 'needs' && !agent.isLeaving)
  for (const agent of world.agents.values()) agent.number = 0
  waiting.sort((one, other) => (one.since ?? Infinity) - (other.since ?? Infinity) || (one.key < other.key ? -1 : 1)).forEach((agent, at) => (agent.number = at + 1))
}

function roomOf(world: World, key: string): Room {
  const known = world.rooms.get(key)
  if (known) return known
  const place = freeDesk(new Set([...world.rooms.values()].map(room => room.place)))
  const room: Room = { key, name: '', place, columns: 0, extras: [], centre: { x: NaN, z: NaN }, goal: { x: NaN, z: NaN }, hidden: 0 }
  world.rooms.set(key, room)
  return room
}

/** Gives everybody of a room a desk; the room grows with its people, and shrinks once it is too large even for one more. */
function seatAll(world: World, room: Room, actors: readonly Actor[], wanted: Set<string>): void {
  const before = `${room.columns} ${room.extras}`
  const count = actors.length
  const held = room.columns * room.extras.length
  const isSmaller = columnsFor(count + 1) * rowsFor(count + 1) < held && !world.isHeld
  if (count > held || isSmaller) {
    const rows = rowsFor(count)
    room.columns = columnsFor(count)
    room.extras = Array.from({ length: rows }, (_, row) => room.extras[row] ?? false)
  }
  const desks = room.columns * room.extras.length
  const agents = actors.map(actor => [actor, agentOf(world, room, actor.id, undefined, actor.id)] as const)
  const taken = new Set<number>()
  for (const [, agent] of agents) {
    if (agent.desk >= desks || taken.has(agent.desk)) agent.desk = -1
    if (agent.desk >= 0) taken.add(agent.desk)
  }
  for (const [actor, agent] of agents) {
    if (agent.desk < 0) {
      agent.desk = freeDesk(taken)
      taken.add(agent.desk)
    }
    const row = Math.floor(agent.desk / room.columns)
    if (actor.subagents.length) room.extras[row] = true
  }
  if (before !== `${room.columns} ${room.extras}`) {
    room.goal = { x: NaN, z: NaN }
    world.furniture++
  }
  for (const [actor, agent] of agents) describe(world, room, actor, agent, wanted)
}

function describe(world: World, room: Room, actor: Actor, agent: Agent, wanted: Set<string>): void {
  agent.name = actor.title
  agent.uuid = actor.uuid
  agent.isJob = actor.job !== undefined
  agent.since = actor.since
  agent.context = actor.context ?? 0
  agent.cost = actor.cost ?? 0
  agent.kind = kindOf(actor.state, actor.subagents.length > 0)
  settle(room, agent, seatPlace(room, agent.desk))
  setActivity(world, agent, actor.state, actor.tool, actor.detail, actor.words)
  agent.hidden = Math.max(0, actor.subagents.length - SUBAGENTS_SHOWN)
  actor.subagents.slice(0, SUBAGENTS_SHOWN).forEach((sub, place) => {
    const before = agentOf(world, room, `${actor.id}/${sub.id}`, actor.id, actor.id)
    describeSub(world, room, before, sub, subagentPlace(agent.goal, place, actor.subagents.length))
    before.desk = place
    before.uuid = actor.uuid
    wanted.add(before.key)
  })
}

function describeSub(world: World, room: Room, agent: Agent, sub: SubActor, at: Point): void {
  agent.name = sub.name
  agent.since = sub.since
  agent.kind = 'working'
  settle(room, agent, at)
  setActivity(world, agent, 'tool_use', sub.tool)
}

/** Sends an agent to its place: the first time from the entrance, later over the floor. */
function settle(room: Room, agent: Agent, goal: Point): void {
  if (agent.goal.x === goal.x && agent.goal.z === goal.z) return
  const isNew = Number.isNaN(agent.goal.x)
  agent.goal = goal
  if (isNew && !agent.parent) {
    const [start, ...way] = wayTo(room, goal)
    Object.assign(agent, start, { way })
  } else if (isNew || agent.parent) Object.assign(agent, goal, { way: [] })
  else agent.way = [goal]
  agent.speed = lengthOf(agent, agent.way) / WALK_SECONDS
}

function lengthOf(from: Point, way: readonly Point[]): number {
  let [length, at] = [0, from]
  for (const point of way) {
    length += Math.hypot(point.x - at.x, point.z - at.z)
    at = point
  }
  return length
}

function agentOf(world: World, room: Room, key: string, parent: string | undefined, session: string): Agent {
  const known = world.agents.get(key)
  if (known && known.room === room.key) {
    known.isLeaving = false
    known.done = 0
    return known
  }
  const agent: Agent = {
    key, session, parent, room: room.key, name: '', state: 'idle', kind: 'idle', tool: undefined, since: undefined, context: 0, cost: 0, uuid: undefined, isJob: false,
    x: 0, z: 0, goal: { x: NaN, z: NaN }, way: [], heading: FACING, size: 0.01, fullSize: parent ? SUBAGENT_SIZE : 1,
    bubble: '', bubbleUntil: 0, phase: (hash(key) % 628) / 100, speed: 0, isLeaving: false, done: 0, hidden: 0, number: 0, desk: -1,
  }
  world.agents.set(key, agent)
  return agent
}

/** Takes an agent's new activity; its bubble appears when the activity changes. */
function setActivity(world: World, agent: Agent, state: State, tool: string | undefined, detail?: string, words?: string): void {
  // A screen shows that one thinks or writes; a bubble would say no more.
  const isPlain = state === 'idle' || state === 'thinking' || state === 'responding'
  const text = isPlain ? '' : detail && state === 'tool_use' ? detail : requestInShort(actorInWords({ state, detail, words })).replace(/^(?:Tool|Failed): /, '')
  const short = text.length > LONGEST_BUBBLE ? `${text.slice(0, LONGEST_BUBBLE - 1)}…` : text
  agent.tool = tool
  if (agent.state === state && agent.bubble === short) return
  agent.state = state
  agent.bubble = agent.parent ? '' : short
  agent.bubbleUntil = agent.kind === 'needs' || agent.kind === 'failed' ? Infinity : world.time + BUBBLE_SECONDS
}

/** What an actor does, in words. */
export function actorInWords({ state, detail, words }: Pick<Actor, 'state' | 'detail' | 'words'>): string {
  return words ?? activityInWords({ state, ...(detail ? { detail } : {}) })
}

function leave(world: World, agent: Agent): void {
  if (agent.isLeaving) return
  const room = world.rooms.get(agent.room)
  agent.isLeaving = true
  agent.bubble = ''
  if (agent.parent) agent.done = DONE_SECONDS
  else if (room) {
    const start = entrance(room, agent.goal)
    agent.way = [{ x: start.x, z: agent.z }, start]
    agent.speed = lengthOf(agent, agent.way) / WALK_SECONDS
  }
}

/** Removes agents that leave at once, for a view that shows nobody walking. */
export function removeLeaving(world: World): void {
  for (const agent of world.agents.values()) if (agent.isLeaving) world.agents.delete(agent.key)
  if (dropEmptyRooms(world)) place(world)
}

function dropEmptyRooms(world: World): boolean {
  const used = new Set([...world.agents.values()].map(agent => agent.room))
  let isGone = false
  for (const key of world.rooms.keys()) if (!used.has(key)) isGone = world.rooms.delete(key) || isGone
  if (isGone) {
    world.furniture++
    // Those that are left are arranged anew.
    for (const room of world.rooms.values()) room.goal = { ...room.goal, x: NaN }
  }
  return isGone
}

/** Arranges the rooms, if one of them has no place yet or another size; they glide to where they are then. */
function place(world: World, isForced = false): boolean {
  const rooms = [...world.rooms.values()].sort((one, other) => one.place - other.place)
  const isNew = (room: Room) => Number.isNaN(room.centre.x)
  if (!isForced && !rooms.some(room => Number.isNaN(room.goal.x))) return false
  if (world.isHeld && !isForced && !rooms.some(isNew)) return false
  const places = arrange(rooms, world.screen)
  let isMoved = false
  rooms.forEach((room, at) => {
    room.goal = places[at]!
    if (isNew(room)) room.centre = { ...room.goal }
    isMoved ||= room.centre.x !== room.goal.x || room.centre.z !== room.goal.z
  })
  world.furniture++
  world.glide = isMoved ? 0 : 1
  return isMoved
}

/** Lets the rooms go to where they belong, after somebody has looked at one. */
export function release(world: World): void {
  world.isHeld = false
  place(world)
}

/** Puts everything where it is on its way to. */
export function arriveAll(world: World): void {
  for (const room of world.rooms.values()) room.centre = { ...room.goal }
  world.glide = 1
  world.furniture++
  removeLeaving(world)
  for (const agent of world.agents.values()) Object.assign(agent, agent.goal, { way: [], speed: 0, size: agent.fullSize, heading: FACING })
}

/** Advances time. */
export function step(world: World, seconds: number): void {
  world.time += seconds
  if (world.glide < 1) {
    const before = 1 - world.glide
    world.glide = Math.min(1, world.glide + seconds / GLIDE_SECONDS)
    // What is left of the way shrinks with the cube of the time that is left.
    const left = ((1 - world.glide) / before) ** 3
    for (const room of world.rooms.values()) {
      room.centre = { x: room.goal.x + (room.centre.x - room.goal.x) * left, z: room.goal.z + (room.centre.z - room.goal.z) * left }
    }
    world.furniture++
  }
  for (const agent of world.agents.values()) {
    const isThere = walk(agent, seconds)
    if (agent.isLeaving && isThere) {
      agent.done -= seconds
      if (agent.done > 0) continue
      agent.size -= (agent.fullSize * seconds) / SHRINK_SECONDS
      if (agent.size <= 0) {
        world.agents.delete(agent.key)
        if (dropEmptyRooms(world)) place(world)
      }
      continue
    }
    agent.size = Math.min(agent.fullSize, agent.size + seconds * 4)
    if (isThere) turn(agent, FACING, seconds)
  }
}

/** Moves an agent along its way; true once it has arrived. */
function walk(agent: Agent, seconds: number): boolean {
  let left = agent.speed * seconds
  while (agent.way.length) {
    const next = agent.way[0]!
    const distance = Math.hypot(next.x - agent.x, next.z - agent.z)
    if (distance > left) {
      turn(agent, Math.atan2(next.x - agent.x, next.z - agent.z), seconds)
      agent.x += ((next.x - agent.x) / distance) * left
      agent.z += ((next.z - agent.z) / distance) * left
      return false
    }
    left -= distance
    agent.x = next.x
    agent.z = next.z
    agent.way.shift()
  }
  agent.speed = 0
  return true
}

function turn(agent: Agent, heading: number, seconds: number): void {
  const way = Math.atan2(Math.sin(heading - agent.heading), Math.cos(heading - agent.heading))
  agent.heading += way * Math.min(1, seconds * TURN_SPEED)
}

/** A stable number for a text. */
export function hash(text: string): number {
  let value = 2166136261
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 16777619)
  return value >>> 0
}
