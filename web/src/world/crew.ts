// One record for each agent, and the one loop that changes them: `sync` takes what sessions do, `step` advances time.
// Pure: no canvas, no clock, no network.

import { activityInWords, isWorking, type State } from '../live/fold.ts'
import { SUBAGENTS_SHOWN, subagentPlace, deskPlace, door, freeDesk, roomCentre, AGENTS_SHOWN } from './layout.ts'
import { COLOURS, lookOf, type Actor, type Agent, type Look, type Point, type Room, type World } from './types.ts'

/** How long a session stays after its last event, in milliseconds. */
const RECENT = 5 * 60_000
/** How long a bubble is shown, in seconds of the world. */
const BUBBLE_SECONDS = 6
const LONGEST_BUBBLE = 140
/** An agent that is nearer to its goal than this has arrived. */
const ARRIVAL_DISTANCE = 0.3
const WALK_SPEED = 3.4
const TURN_SPEED = 9
const SUBAGENT_SIZE = 0.6
/** The room of sessions without a repository. */
const ELSEWHERE = 'Elsewhere'

export function emptyWorld(isTall = false): World {
  return { isTall, rooms: new Map(), agents: new Map(), time: 0, furniture: 0 }
}

/** Arranges the rooms, with their agents, for a tall or a wide screen; returns whether anything moved. */
export function rearrange(world: World, isTall: boolean): boolean {
  if (world.isTall === isTall) return false
  world.isTall = isTall
  for (const room of world.rooms.values()) {
    const centre = roomCentre(room.place, isTall)
    const moved = (at: Point) => ({ x: at.x + centre.x - room.centre.x, z: at.z + centre.z - room.centre.z })
    for (const agent of world.agents.values()) if (agent.room === room.key) Object.assign(agent, moved(agent), { goal: moved(agent.goal) })
    room.centre = centre
  }
  world.furniture++
  return world.rooms.size > 0
}

/** Whether a session is shown: it works, it needs somebody, or it did something lately. */
export function isPresent(actor: Actor, now: number): boolean {
  if (actor.state === 'ended' || actor.state === 'lost') return now - actor.last < 20_000
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
    for (const actor of shown) seat(world, room, actor, wanted)
  }
  for (const agent of world.agents.values()) if (!wanted.has(agent.key)) leave(world, agent)
  for (const room of world.rooms.values()) if (!byRoom.has(room.key)) room.hidden = 0
  dropEmptyRooms(world)
}

/** Agents that wait for the person come first, and those that are shown already come before new ones. */
function rank(world: World, actor: Actor): number {
  if (actor.state === 'waiting_permission') return 0
  const isHere = world.agents.has(actor.id) ? 0 : 0.5
  return (isWorking(actor.state) ? 1 : 2) + isHere
}

function roomOf(world: World, key: string): Room {
  const known = world.rooms.get(key)
  if (known) return known
  const number = freeDesk(new Set([...world.rooms.values()].map(room => room.place)))
  const room = { key, name: '', place: number, centre: roomCentre(number, world.isTall), hidden: 0 }
  world.rooms.set(key, room)
  world.furniture++
  return room
}

function seat(world: World, room: Room, actor: Actor, wanted: Set<string>): void {
  const agent = agentOf(world, room, actor.id, actor.title, undefined, actor.id)
  if (agent.desk < 0) {
    const taken = [...world.agents.values()].filter(one => one.room === room.key && !one.parent && one !== agent).map(one => one.desk)
    agent.desk = freeDesk(new Set(taken))
    world.furniture++
  }
  agent.goal = deskPlace(room.centre, agent.desk)
  agent.uuid = actor.uuid
  agent.isJob = actor.job !== undefined
  setActivity(world, agent, actor.state, actor.detail, actor.words)
  wanted.add(agent.key)
  agent.hidden = Math.max(0, actor.subagents.length - SUBAGENTS_SHOWN)
  actor.subagents.slice(0, SUBAGENTS_SHOWN).forEach((sub, number) => {
    const beside = agentOf(world, room, `${actor.id}/${sub.id}`, sub.name, actor.id, actor.id)
    beside.goal = subagentPlace(agent.goal, number)
    beside.uuid = actor.uuid
    setActivity(world, beside, 'tool_use')
    wanted.add(beside.key)
  })
}

function agentOf(world: World, room: Room, key: string, name: string, parent: string | undefined, session: string): Agent {
  const known = world.agents.get(key)
  if (known && known.room === room.key) {
    known.isLeaving = false
    known.name = name
    return known
  }
  const at = door(room.centre)
  const agent: Agent = {
    key, session, parent, room: room.key, name, state: 'idle', uuid: undefined, isJob: false,
    x: at.x, z: at.z, goal: at, heading: Math.PI, size: 0.01, fullSize: parent ? SUBAGENT_SIZE : 1,
    bubble: '', bubbleUntil: 0, phase: hash(key) % 628 / 100, speed: 0, isLeaving: false, hidden: 0, desk: -1,
  }
  world.agents.set(key, agent)
  return agent
}

/** Takes an agent's new activity; its bubble appears when the activity changes. */
function setActivity(world: World, agent: Agent, state: State, detail?: string, words?: string): void {
  const text = state === 'idle' ? '' : detail && state === 'tool_use' ? detail : actorInWords({ state, detail, words }).replace(/^Tool: /, '')
  const short = text.length > LONGEST_BUBBLE ? `${text.slice(0, LONGEST_BUBBLE - 1)}…` : text
  if (agent.state === state && agent.bubble === short) return
  agent.state = state
  agent.bubble = agent.parent ? '' : short
  agent.bubbleUntil = world.time + BUBBLE_SECONDS
}

/** What an actor does, in words. */
export function actorInWords({ state, detail, words }: Pick<Actor, 'state' | 'detail' | 'words'>): string {
  return words ?? activityInWords({ state, ...(detail ? { detail } : {}) })
}

function leave(world: World, agent: Agent): void {
  if (agent.isLeaving) return
  const room = world.rooms.get(agent.room)
  agent.isLeaving = true
  agent.goal = room ? door(room.centre) : { x: agent.x, z: agent.z }
  agent.bubble = ''
}

/** Removes agents that leave at once, for a view that shows nobody walking. */
export function removeLeaving(world: World): void {
  for (const agent of world.agents.values()) if (agent.isLeaving) world.agents.delete(agent.key)
  dropEmptyRooms(world)
}

function dropEmptyRooms(world: World): void {
  const used = new Set([...world.agents.values()].map(agent => agent.room))
  for (const key of world.rooms.keys()) if (!used.has(key)) world.rooms.delete(key)
}

/** Advances time. Agents that wait for the person face `camera`. */
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
    agent.phase += seconds * motionSpeed(agent.state)
  }
}

/** Moves an agent towards its goal; true once it has arrived. */
function walk(agent: Agent, seconds: number): boolean {
  const distance = Math.hypot(agent.goal.x - agent.x, agent.goal.z - agent.z)
  if (distance < ARRIVAL_DISTANCE) {
    agent.x = agent.goal.x
    agent.z = agent.goal.z
    agent.speed = 0
    return true
  }
  const length = Math.min(distance, WALK_SPEED * seconds)
  agent.x += ((agent.goal.x - agent.x) / distance) * length
  agent.z += ((agent.goal.z - agent.z) / distance) * length
  agent.speed = WALK_SPEED
  turn(agent, towards(agent, agent.goal), seconds)
  return false
}

/** The heading towards a point; 0 is along z. */
function towards(from: Point, to: Point): number {
  return Math.atan2(to.x - from.x, to.z - from.z)
}

function turn(agent: Agent, heading: number, seconds: number): void {
  const way = Math.atan2(Math.sin(heading - agent.heading), Math.cos(heading - agent.heading))
  agent.heading += way * Math.min(1, seconds * TURN_SPEED)
}

/** The speed of a state's animation. */
function motionSpeed(state: State): number {
  if (state === 'tool_use') return 9
  if (state === 'responding') return 5
  if (state === 'waiting_permission') return 6
  return state === 'thinking' ? 2.2 : 1.1
}

/** A stable number for a text. */
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
  /** Its desk, and where it stands there. */
  desk: number
  goal: Point
  look: Look
  room: string
  name: string
  state: State
  colour: string
  parent: string | undefined
  bubble: string
  isLeaving: boolean
  isJob: boolean
  hidden: number
}

export interface SceneRoom {
  key: string
  name: string
  hidden: number
  centre: Point
}

/** The world as tests and lists read it. */
export function scene(world: World): { agents: SceneAgent[]; rooms: SceneRoom[] } {
  const above = supervisors(world)
  const agents = [...world.agents.values()].map(agent => {
    const look = lookOf(agent.state, above.has(agent.key))
    return {
      key: agent.key,
      desk: agent.desk,
      goal: agent.goal,
      room: agent.room,
      name: agent.name,
      state: agent.state,
      look,
      colour: COLOURS[look],
      parent: agent.parent,
      bubble: world.time < agent.bubbleUntil ? agent.bubble : '',
      isLeaving: agent.isLeaving,
      isJob: agent.isJob,
      hidden: agent.hidden,
    }
  })
  return { agents, rooms: [...world.rooms.values()].map(({ key, name, hidden, centre }) => ({ key, name, hidden, centre })) }
}

/** What every request for a permission begins with: where there is little room the command says enough. */
const PERMISSION = /^Needs permission(?: for [^:]*)?: /

export function requestInShort(words: string): string {
  return words.replace(PERMISSION, '')
}
