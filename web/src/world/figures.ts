// Puts everybody, their desks and what is over them into the batches. It only reads the records.

import { contextOf, fullness, signOf, toolSign } from '../ui/states.ts'
import { placeOf, tileOf } from './atlas.ts'
import { Frame, type Batch } from './batch.ts'
import { coinsFor, STACK } from './coins.ts'
import { hash } from './crew.ts'
import { DESK, EMPTY_ROOM, PITCH, seatPlace, sizeOf, SUBAGENTS_SHOWN, YAW } from './layout.ts'
import { bodyColour, COIN, FLAG, FULLNESS, mixed, rgb, STATE_COLOURS, type Look, type Rgb } from './look.ts'
import { blankPose, poseOf } from './poses.ts'
import type { Agent, Kind, Room, World } from './types.ts'

export interface Batches {
  desk: Batch
  head: Batch
  body: Batch
  arm: Batch
  box: Batch
  coin: Batch
  cat: Batch
  flat: Batch
  pin: Batch
  glow: Batch
  shadow: Batch
}

/** How the world is looked at. */
export interface View {
  /** Pixels for a unit. */
  scale: number
  look: Look
  /** Whether soft shadows and glows are drawn. */
  isRich: boolean
  isStill: boolean
  /** Whether pins have the numbers of the list of those who wait. */
  isNumbered: boolean
}

const WHITE: Rgb = [1, 1, 1]
const PAPER: Rgb = [0.98, 0.97, 0.94]
const GREY: Rgb = [0.62, 0.62, 0.66]
const EYES: Rgb = [0.86, 0.97, 1]
const FILLS = Object.fromEntries(Object.entries(STATE_COLOURS).map(([kind, { fill }]) => [kind, rgb(fill)])) as Record<Kind, Rgb>
const INKS = Object.fromEntries(Object.entries(STATE_COLOURS).map(([kind, { sign }]) => [kind, rgb(sign)])) as Record<Kind, Rgb>
const GAUGES = { plain: rgb(FULLNESS.plain), warm: rgb(FULLNESS.warm), full: rgb(FULLNESS.full) }
const GOLD = rgb(COIN)
const FLAGS = rgb(FLAG)
const VIOLET = rgb('#8f72ea')
/** Pins are never smaller than this, in pixels. */
const PIN = { needs: { size: 0.82, least: 24 }, other: { size: 0.6, least: 15 } }
/** Over the middle of a head, where the pin's point is. */
const OVER_HEAD = 0.62
/** Below this size, in pixels for a unit, a stack of coins is one. */
const COINS_APART = 30
const GROUND = -0.34
const FUR = rgb('#4a4440')

/** Where a pin stands over the head of an agent that sits or stands, and how high the head's middle is. */
export function headHeight(agent: Agent): number {
  const lift = agent.parent ? 0.04 : agent.kind === 'needs' && !agent.way.length ? 0.7 : agent.way.length ? 0.06 : 0.42
  return (lift + 0.95) * agent.size
}

export function pinSize(agent: Agent, scale: number): number {
  if (agent.parent || agent.isLeaving) return 0
  if (agent.kind === 'needs') return Math.max(PIN.needs.size, PIN.needs.least / scale)
  return agent.kind === 'failed' || agent.kind === 'turn' ? Math.max(PIN.other.size, PIN.other.least / scale) : 0
}

/** Where the point of the pin is, over the floor. */
export function pinHeight(agent: Agent): number {
  return headHeight(agent) + OVER_HEAD * agent.size
}

const base = new Frame()
const head = new Frame()
const part = new Frame()
const inner = new Frame()
const deskFrame = new Frame()
const pose = blankPose()
const colours = new Map<string, Rgb>()

export function drawAll(world: World, b: Batches, view: View): void {
  for (const batch of Object.values(b)) batch.clear()
  const time = world.time
  for (const agent of world.agents.values()) {
    const room = world.rooms.get(agent.room)
    if (!room) continue
    if (!agent.parent) drawDesk(agent, room, b, view, time)
    drawFigure(agent, room, b, view, time)
  }
  if (!world.rooms.size) drawEmptyDesk(b, view)
  drawCat(world, b, view, time)
  if (view.isRich) for (const room of world.rooms.values()) drawLamp(room, b, view)
  for (const batch of Object.values(b)) batch.done()
}

function colourOf(agent: Agent): Rgb {
  const key = `${agent.parent ?? agent.key} ${agent.kind === 'idle' || agent.kind === 'failed'}`
  const known = colours.get(key)
  if (known) return known
  const own = rgb(bodyColour(hash(agent.parent ?? agent.key)))
  const made = agent.kind === 'idle' || agent.kind === 'failed' ? mixed(own, GREY, 0.55) : own
  colours.set(key, made)
  return made
}

function flat(batch: Batch, frame: Frame, width: number, height: number, tile: number, tint: Rgb, alpha = 1): void {
  const [u, v] = placeOf(tile)
  batch.put(frame, width, height, 1, tint, u, v, alpha)
}

function drawDesk(agent: Agent, room: Room, b: Batches, view: View, time: number): void {
  if (agent.isLeaving && agent.size < 0.5) return
  const seat = seatPlace(room, agent.desk)
  const x = room.centre.x + seat.x
  const z = room.centre.z + seat.z + DESK.before
  deskFrame.set(x, 0, z, 0)
  b.desk.put(deskFrame, 1, 1, 1, view.look.wood, 0, 0.5)
  if (view.isRich) shade(b, x + 0.08, z + 0.12, 1.05, 0.66, 0.42)
  const isAt = !agent.way.length && !agent.isLeaving
  const kind: Kind = isAt ? agent.kind : 'idle'
  part.inside(deskFrame, -0.14, 0.96, 0.16, YAW * 0.45, -0.26)
  const shines = kind === 'idle' ? 0 : 2
  b.box.put(part, 1, 0.66, 0.05, FILLS[kind], shines, 0.3)
  inner.inside(part, 0, 0, 0.03)
  flat(b.flat, inner, 0.58, 0.58, tileOf.sign(signOf(kind, agent.state, agent.tool)), INKS[kind])
  if (view.isRich && view.look.glow > 0.05 && shines) {
    inner.inside(part, 0, 0.05, -0.3)
    flat(b.glow, inner, 2.1, 2.1, tileOf.glow, FILLS[kind], 0.34 * view.look.glow)
  }
  drawContext(agent, b)
  drawCost(agent, b, view)
  if (isAt && !agent.parent) drawFloorSigns(agent, b, x, z, time, view)
  if (agent.isJob) {
    part.inside(deskFrame, -0.72, 1.0, 0.1)
    b.box.put(part, 0.035, 0.74, 0.035, PAPER, 0, 0.3)
    inner.inside(part, 0.17, 0.24, 0)
    b.box.put(inner, 0.32, 0.22, 0.03, FLAGS, 0.6, 0.3)
  }
}

/** The desk of the next project, with a screen that waits for a command. */
function drawEmptyDesk(b: Batches, view: View): void {
  const seat = seatPlace(EMPTY_ROOM, 0)
  const z = seat.z + DESK.before
  deskFrame.set(seat.x, 0, z, 0)
  b.desk.put(deskFrame, 1, 1, 1, view.look.wood, 0, 0.5)
  if (view.isRich) shade(b, seat.x + 0.08, z + 0.12, 1.05, 0.66, 0.42)
  part.inside(deskFrame, -0.14, 0.96, 0.16, YAW * 0.45, -0.26)
  b.box.put(part, 1, 0.66, 0.05, FILLS.idle, 0, 0.3)
  inner.inside(part, 0, 0, 0.03)
  flat(b.flat, inner, 0.58, 0.58, tileOf.sign('terminal'), INKS.idle)
}

function drawContext(agent: Agent, b: Batches): void {
  if (!agent.context) return
  const { share } = contextOf(agent.context)
  const width = 1.36 * Math.max(0.02, share)
  part.inside(deskFrame, (width - 1.36) / 2, 0.42, 0.37)
  b.box.put(part, width, 0.12, 0.02, GAUGES[fullness(share)], 2, 0)
}

function drawCost(agent: Agent, b: Batches, view: View): void {
  const coins = coinsFor(agent.cost)
  for (let stack = 0; stack * STACK < coins; stack++) {
    const count = Math.min(STACK, coins - stack * STACK)
    const [x, z] = [0.62 - stack * 0.04, 0.12 - stack * 0.27]
    if (view.scale < COINS_APART) {
      part.inside(deskFrame, x, 0.64, z)
      b.coin.put(part, 1, 0.06 * count, 1, GOLD, 0, 0.4)
    } else {
      for (let at = 0; at < count; at++) {
        part.inside(deskFrame, x + (at % 2) * 0.012, 0.64 + at * 0.062, z - (at % 3) * 0.008)
        b.coin.put(part, 1, 0.05, 1, at % 2 ? GOLD : mixedGold, 0, 0.4)
      }
    }
  }
}
const mixedGold = mixed(GOLD, rgb('#c98a1c'), 0.35)

/** Around the desk of one that needs the person, that failed, or that directs others. */
function drawFloorSigns(agent: Agent, b: Batches, x: number, z: number, time: number, view: View): void {
  const colour = FILLS[agent.kind]
  if (agent.kind === 'needs' || agent.kind === 'failed') {
    part.set(x, 0.032, z - 0.25, 0, -Math.PI / 2)
    flat(b.flat, part, 2.3, 2.2, tileOf.glow, colour, 0.75)
    flat(b.flat, part, 2.25, 2.1, tileOf.ring, colour, agent.kind === 'needs' ? 0.9 : 0.5)
  }
  if (agent.kind === 'needs' && !view.isStill) {
    const far = (time * 0.6 + agent.phase) % 1
    part.set(x, 0.034, z - 0.25, 0, -Math.PI / 2)
    flat(b.flat, part, 2.2 + 0.9 * far, 2.1 + 0.9 * far, tileOf.ring, colour, 0.7 * (1 - far))
  }
}

function drawFigure(agent: Agent, room: Room, b: Batches, view: View, time: number): void {
  const { size } = agent
  if (size <= 0.02) return
  const x = room.centre.x + agent.x
  const z = room.centre.z + agent.z
  poseOf(agent, time, pose)
  const colour = colourOf(agent)
  base.set(x, pose.lift * size, z, agent.heading, pose.lean, 0, size)
  b.body.put(base, 1, 1, 1, colour, 0, 0.5)
  head.inside(base, 0, 0.95, 0.03, pose.turn, pose.nod, pose.tilt)
  b.head.put(head, 1, 1, 1, colour, 0, 0.5)
  part.inside(head, 0, -0.005, 0.3)
  flat(b.flat, part, 0.56, 0.46, tileOf.face(pose.face), agent.kind === 'failed' ? PINK : EYES)
  part.inside(base, -0.3, 0.54, 0.02, 0, pose.left.forward, -pose.left.out)
  b.arm.put(part, 1, 1, 1, colour, 0, 0.5)
  part.inside(base, 0.3, 0.54, 0.02, 0, pose.right.forward, pose.right.out)
  b.arm.put(part, 1, 1, 1, colour, 0, 0.5)
  if (pose.holdsPaper) {
    part.inside(base, 0.02, 0.5, 0.52, 0, -0.5)
    b.box.put(part, 0.4, 0.46, 0.02, PAPER, 0.3, 0.4)
  }
  if (view.isRich) shade(b, x + 0.05, z + 0.04, 0.4 * size, 0.36 * size, 0.3 * size)
  if (agent.parent) drawTablet(agent, b, x, z)
  else {
    drawPin(agent, b, view, x, z, time)
    if (agent.kind === 'directing' && !agent.way.length) drawCircle(agent, room, b)
  }
}
const PINK = rgb('#ff9ccb')

/** What a sub-agent holds: the sign of its own tool, or that it is done. */
function drawTablet(agent: Agent, b: Batches, x: number, z: number): void {
  const kind: Kind = agent.isLeaving ? 'turn' : 'working'
  part.set(x, 0.3 * agent.size, z + 0.4 * agent.size, YAW * 0.6, -0.35, 0, agent.size)
  b.box.put(part, 0.66, 0.56, 0.05, FILLS[kind], 2, 0.3)
  inner.inside(part, 0, 0, 0.035)
  flat(b.flat, inner, 0.54, 0.54, agent.isLeaving ? tileOf.sign('check') : tileOf.sign(toolSign(agent.tool)), INKS[kind])
}

/** The disc that sub-agents stand on, with the number of those who found no place. */
function drawCircle(agent: Agent, room: Room, b: Batches): void {
  const x = room.centre.x + agent.x
  const z = room.centre.z + agent.z + DESK.before + 1.14
  part.set(x, 0.03, z, 0, -Math.PI / 2)
  flat(b.flat, part, 0.9 + 0.5 * (SUBAGENTS_SHOWN - 1), 1.05, tileOf.disc, VIOLET, 0.42)
  if (!agent.hidden) return
  inner.set(x + 0.52 * 2 + 0.12, 0.34, z, YAW, -PITCH)
  flat(b.pin, inner, 0.62, 0.62, tileOf.more(agent.hidden), VIOLET)
}

function drawPin(agent: Agent, b: Batches, view: View, x: number, z: number, time: number): void {
  const size = pinSize(agent, view.scale)
  if (!size || agent.size < 0.5) return
  const pulse = agent.kind === 'needs' && !view.isStill ? 1 + 0.06 * Math.sin(time * 4 + agent.phase) : 1
  // The picture stands on its lowest point, whatever its size.
  part.set(x, pinHeight(agent), z, YAW, -PITCH)
  inner.inside(part, 0, size * pulse * 0.44, 0)
  flat(b.pin, inner, size * pulse, size * pulse, tileOf.pin(agent.kind as 'needs' | 'failed' | 'turn', view.isNumbered ? agent.number : 0), WHITE)
}

function drawLamp(room: Room, b: Batches, view: View): void {
  const { width, depth } = sizeOf(room)
  if (view.look.glow < 0.05) return
  part.set(room.centre.x + width / 2 - 0.4, 1.55, room.centre.z - depth / 2 + 0.42, YAW, -PITCH)
  flat(b.glow, part, 2.4, 2.4, tileOf.glow, LAMP, 0.5 * view.look.glow)
}
const LAMP = rgb('#ffc873')

function shade(b: Batches, x: number, z: number, width: number, depth: number, soft: number): void {
  part.set(x, 0.028, z, 0)
  b.shadow.put(part, 2 * width, 1, 2 * depth, [width, depth, soft])
}

/** The cat walks along the path of the first room, sits down now and then, and sleeps where nobody waits and somebody works. */
function drawCat(world: World, b: Batches, view: View, time: number): void {
  const agents = [...world.agents.values()].filter(agent => !agent.parent && !agent.isLeaving)
  const warmest = agents.some(agent => agent.kind === 'needs') ? undefined : agents.filter(agent => agent.kind === 'working').sort((one, other) => other.context - one.context)[0]
  const room = (warmest && world.rooms.get(warmest.room)) ?? [...world.rooms.values()].sort((one, other) => one.place - other.place)[0] ?? EMPTY_ROOM
  if (warmest && !warmest.way.length) {
    const seat = seatPlace(room, warmest.desk)
    part.set(room.centre.x + seat.x + 0.3, 0.52, room.centre.z + seat.z + DESK.before + 0.26, 1.2, 0, 0, 0.72)
  } else {
    const { width, depth } = sizeOf(room)
    const way = view.isStill ? 0.6 : time * 0.22
    const isWalking = !view.isStill && Math.sin(way * 1.7) > -0.4
    part.set(room.centre.x + Math.sin(way) * (width / 2), GROUND + (isWalking ? Math.abs(Math.sin(time * 7)) * 0.04 : 0), room.centre.z + depth / 2 + 0.85, Math.cos(way) > 0 ? 1.4 : -1.4)
  }
  b.cat.put(part, 1, 1, 1, FUR, 0, 0.2)
}
