// One record for each agent, and the one loop that changes them: `sync` tells them what sessions do, `step` lets time pass.
// Pure: no canvas, no clock, no network.

import { inWords, isWorking, type State } from '../live/fold.ts'
import { BESIDE, besidePlace, deskPlace, door, freeDesk, roomCentre, SHOWN } from './layout.ts'
import { COLOURS, lookOf, type Actor, type Agent, type Point, type Room, type World } from './types.ts'

/** A session is in the office as long as something happened this lately, in milliseconds. */
const RECENT = 5 * 60_000
/** How long a bubble is shown, in seconds of the world. */
const BUBBLE = 6
const LONGEST_BUBBLE = 140
/** Nearer than this is there. */
const ARRIVED = 0.3
const WALK = 3.4
const TURN = 9
const SMALL = 0.6

export function emptyWorld(): World {
  return { rooms: new Map(), agents: new Map(), time: 0, furniture: 0 }
}

/** Whether a session is shown: it works, it needs somebody, or it did something lately. */
export function isPresent(actor: Actor, now: number): boolean {
  if (actor.state === 'ended' || actor.state === 'lost') return now - actor.last < 20_000
  return isWorking(actor.state) || actor.state === 'waiting_permission' || actor.subagents.length > 0 || now - actor.last < RECENT
}

/** Has the world show these sessions, as of `now`. */
export function sync(world: World, actors: readonly Actor[], now: number): void {
  const byRoom = new Map<string, Actor[]>()
  for (const actor of actors) {
    if (!isPresent(actor, now)) continue
    const name = actor.project || 'Elsewhere'
    const room = byRoom.get(name)
    if (room) room.push(actor)
    else byRoom.set(name, [actor])
  }
  const wanted = new Set<string>()
  for (const [name, all] of byRoom) {
    const room = roomOf(world, name)
    const shown = all.sort((one, other) => rank(world, one) - rank(world, other) || other.last - one.last).slice(0, SHOWN)
    room.hidden = all.length - shown.length
    for (const actor of shown) place(world, room, actor, wanted)
  }
  for (const agent of world.agents.values()) if (!wanted.has(agent.key)) leave(world, agent)
  for (const room of world.rooms.values()) if (!byRoom.has(room.name)) room.hidden = 0
  dropEmptyRooms(world)
}

/** Who waits is always shown; who is here already stays before who comes. */
function rank(world: World, actor: Actor): number {
  if (actor.state === 'waiting_permission') return 0
  const isHere = world.agents.has(actor.id) ? 0 : 0.5
  return (isWorking(actor.state) ? 1 : 2) + isHere
}

function roomOf(world: World, name: string): Room {
  const known = world.rooms.get(name)
  if (known) return known
  const number = freeDesk(new Set([...world.rooms.values()].map(room => room.place)))
  const room = { name, place: number, centre: roomCentre(number), hidden: 0 }
  world.rooms.set(name, room)
  world.furniture++
  return room
}

function place(world: World, room: Room, actor: Actor, wanted: Set<string>): void {
  const agent = member(world, room, actor.id, actor.title, undefined, actor.id)
  if (agent.desk < 0) {
    const taken = [...world.agents.values()].filter(one => one.room === room.name && !one.parent && one !== agent).map(one => one.desk)
    agent.desk = freeDesk(new Set(taken))
    world.furniture++
  }
  agent.goal = deskPlace(room.centre, agent.desk)
  agent.uuid = actor.uuid
  say(world, agent, actor.state, actor.detail)
  wanted.add(agent.key)
  actor.subagents.slice(0, BESIDE).forEach((sub, number) => {
    const beside = member(world, room, `${actor.id}/${sub.id}`, sub.name, actor.id, actor.id)
    beside.goal = besidePlace(agent.goal, number)
    beside.uuid = actor.uuid
    say(world, beside, 'tool_use', undefined)
    wanted.add(beside.key)
  })
}

function member(world: World, room: Room, key: string, name: string, parent: string | undefined, session: string): Agent {
  const known = world.agents.get(key)
  if (known && known.room === room.name) {
    known.isLeaving = false
    known.name = name
    return known
  }
  const at = door(room.centre)
  const agent: Agent = {
    key, session, parent, room: room.name, name, state: 'idle', uuid: undefined,
    x: at.x, z: at.z, goal: at, heading: Math.PI, size: 0.01, fullSize: parent ? SMALL : 1,
    bubble: '', bubbleUntil: 0, phase: hash(key) % 628 / 100, speed: 0, isLeaving: false, desk: -1,
  }
  world.agents.set(key, agent)
  return agent
}

/** What an agent does is said once, when it changes. */
function say(world: World, agent: Agent, state: State, detail: string | undefined): void {
  const words = state === 'idle' ? '' : inWords({ state, ...(detail ? { detail } : {}) }).replace(/^Tool: /, '')
  const text = detail && state === 'tool_use' ? detail : words
  const short = text.length > LONGEST_BUBBLE ? `${text.slice(0, LONGEST_BUBBLE - 1)}…` : text
  if (agent.state === state && agent.bubble === short) return
  agent.state = state
  agent.bubble = agent.parent ? '' : short
  agent.bubbleUntil = world.time + BUBBLE
}

function leave(world: World, agent: Agent): void {
  if (agent.isLeaving) return
  const room = world.rooms.get(agent.room)
  agent.isLeaving = true
  agent.goal = room ? door(room.centre) : { x: agent.x, z: agent.z }
  agent.bubble = ''
}

function dropEmptyRooms(world: World): void {
  const used = new Set([...world.agents.values()].map(agent => agent.room))
  for (const name of world.rooms.keys()) if (!used.has(name)) world.rooms.delete(name)
}

/** Lets `seconds` pass. `camera` is where the person looks from: who waits faces it. */
export function step(world: World, seconds: number, camera: Point): void {
  world.time += seconds
  for (const agent of world.agents.values()) {
    const isThere = walk(agent, seconds)
    if (agent.isLeaving && isThere) {
      agent.size -= seconds * 2.5
      if (agent.size <= 0) {
        world.agents.delete(agent.key)
        world.furniture++
        dropEmptyRooms(world)
      }
      continue
    }
    agent.size = Math.min(agent.fullSize, agent.size + seconds * 2)
    if (isThere) turn(agent, agent.state === 'waiting_permission' ? towards(agent, camera) : Math.PI, seconds)
    agent.phase += seconds * pace(agent.state)
  }
}

/** Goes a step; true once it is there. */
function walk(agent: Agent, seconds: number): boolean {
  const distance = Math.hypot(agent.goal.x - agent.x, agent.goal.z - agent.z)
  if (distance < ARRIVED) {
    agent.x = agent.goal.x
    agent.z = agent.goal.z
    agent.speed = 0
    return true
  }
  const length = Math.min(distance, WALK * seconds)
  agent.x += ((agent.goal.x - agent.x) / distance) * length
  agent.z += ((agent.goal.z - agent.z) / distance) * length
  agent.speed = WALK
  turn(agent, towards(agent, agent.goal), seconds)
  return false
}

/** The heading towards a point; 0 looks along z. */
function towards(from: Point, to: Point): number {
  return Math.atan2(to.x - from.x, to.z - from.z)
}

function turn(agent: Agent, heading: number, seconds: number): void {
  const way = Math.atan2(Math.sin(heading - agent.heading), Math.cos(heading - agent.heading))
  agent.heading += way * Math.min(1, seconds * TURN)
}

/** How fast the motion of a state is. */
function pace(state: State): number {
  if (state === 'tool_use') return 9
  if (state === 'responding') return 5
  if (state === 'waiting_permission') return 6
  return state === 'thinking' ? 2.2 : 1.1
}

/** A number that a text always gives. */
export function hash(text: string): number {
  let value = 2166136261
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 16777619)
  return value >>> 0
}

/** Which agents have sub-agents here. */
export function supervisors(world: World): Set<string> {
  const found = new Set<string>()
  for (const agent of world.agents.values()) if (agent.parent && !agent.isLeaving) found.add(agent.parent)
  return found
}

export interface SceneAgent {
  key: string
  room: string
  name: string
  state: State
  colour: string
  parent: string | undefined
  bubble: string
  isLeaving: boolean
}

/** The world as tests and lists read it. */
export function scene(world: World): { agents: SceneAgent[]; rooms: { name: string; hidden: number }[] } {
  const above = supervisors(world)
  const agents = [...world.agents.values()].map(agent => ({
    key: agent.key,
    room: agent.room,
    name: agent.name,
    state: agent.state,
    colour: COLOURS[lookOf(agent.state, above.has(agent.key))],
    parent: agent.parent,
    bubble: world.time < agent.bubbleUntil ? agent.bubble : '',
    isLeaving: agent.isLeaving,
  }))
  return { agents, rooms: [...world.rooms.values()].map(({ name, hidden }) => ({ name, hidden })) }
}
