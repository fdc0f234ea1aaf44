// Names of rooms and what agents say, as HTML over the world. Where each goes is decided when something changes, at most four times a
// second, from widths that are measured on a canvas; a frame only moves them along with what they belong to.

import { age } from '../format.ts'
import { SIGNS, signOf } from '../ui/states.ts'
import type { CameraControl } from './camera.ts'
import { headHeight, pinHeight, pinSize } from './figures.ts'
import { DESK, seatPlace, seen, sizeOf, WALL } from './layout.ts'
import { Space, type Box } from './space.ts'
import type { Agent, Room, World } from './types.ts'

/** How often labels are placed anew, in milliseconds. */
const EVERY = 250
/** The gap between a bubble's tail and its pin, in pixels, and the length of the tail. */
const GAP = 6
const WIDEST = 190
const NARROW = 124
const HEIGHT = 24
const ICON = 18
const AROUND = 18
/** Above this size, in pixels for a unit, there is room for what those say who work. */
const NEAR = 36
const MOST = { near: 16, far: 10 }
const WORKING_PER_ROOM = 2
const NAME_HEIGHT = 22
/** So wide has a wall to be for words beside a name, in pixels. */
const WORDS_WIDTH = { one: 190, both: 250 }
const LEAST_LETTERS = 8

type Slot = 'above' | 'above-right' | 'above-left' | 'right' | 'left'
const SLOTS: Slot[] = ['above', 'above-right', 'above-left', 'right', 'left']

interface Label {
  element: HTMLElement
  /** What it is tied to in the world, and where it is from there, in pixels. */
  at: { x: number; y: number; z: number }
  dx: number
  dy: number
  slot: Slot | undefined
  content: string
  kind: string
}

export interface Shown {
  chosen: string | undefined
  hovered: string | undefined
  /** Whether those who need the person are in a list beside the world. */
  isListed: boolean
  now: number
}

export class Labels {
  private readonly holder: HTMLElement
  private readonly used = new Map<string, Label>()
  private readonly pen = document.createElement('canvas').getContext('2d')!
  private readonly widths = new Map<string, number>()
  private readonly point = { x: 0, y: 0 }
  private readonly space = new Space()
  private placedAt = -Infinity
  private placedFor = ''
  private font = ''

  constructor(holder: HTMLElement) {
    this.holder = holder
    this.font = getComputedStyle(holder).fontFamily
  }

  /** Moves all labels along, and places them anew where something has changed. */
  draw(world: World, camera: CameraControl, shown: Shown, time: number, isStill: boolean): void {
    const mark = this.markOf(world, camera, shown)
    if (mark !== this.placedFor && (isStill || time - this.placedAt >= EVERY)) {
      this.placedFor = mark
      this.placedAt = time
      this.place(world, camera, shown)
    }
    for (const label of this.used.values()) this.move(label, camera)
  }

  /** Whether a placement is due that has not come yet. */
  isDue(world: World, camera: CameraControl, shown: Shown): boolean {
    return this.markOf(world, camera, shown) !== this.placedFor
  }

  /** What the places of labels depend on. */
  private markOf(world: World, camera: CameraControl, shown: Shown): string {
    let mark = `${camera.width} ${camera.height} ${camera.scale.toFixed(2)} ${camera.cameraView.x.toFixed(1)} ${camera.cameraView.z.toFixed(1)} ${world.furniture} ${shown.chosen} ${shown.hovered} ${shown.isListed} ${Math.floor(shown.now / 60_000)}`
    for (const agent of world.agents.values()) mark += `|${agent.kind}${agent.way.length ? 'w' : ''}${agent.isLeaving ? 'l' : ''}${world.time < agent.bubbleUntil ? agent.bubble : ''}`
    return mark
  }

  private place(world: World, camera: CameraControl, shown: Shown): void {
    const kept = new Set<string>()
    this.space.clear(camera.width, camera.height, camera.insets)
    const agents = [...world.agents.values()].filter(agent => world.rooms.has(agent.room))
    for (const agent of agents) this.claim(agent, world.rooms.get(agent.room)!, camera)
    for (const room of world.rooms.values()) this.placeName(room, agents, camera, kept)
    const most = camera.scale > NEAR ? MOST.near : MOST.far
    const perRoom = new Map<string, number>()
    let count = 0
    for (const agent of agents.filter(agent => this.says(agent, world, shown)).sort((one, other) => order(one, shown) - order(other, shown))) {
      if (count >= most) break
      const isAsked = agent.key === shown.chosen || agent.key === shown.hovered
      const key = `${agent.room} ${agent.kind === 'working' || agent.kind === 'turn' || agent.kind === 'directing'}`
      const before = perRoom.get(key) ?? 0
      if (!isAsked && before >= (camera.scale > NEAR ? (agent.kind === 'needs' || agent.kind === 'failed' ? 9 : WORKING_PER_ROOM) : 1)) continue
      if (!this.placeBubble(agent, world, camera, shown, kept)) continue
      perRoom.set(key, before + 1)
      count++
    }
    for (const [key, label] of this.used) {
      if (kept.has(key)) continue
      label.element.remove()
      this.used.delete(key)
    }
  }

  /** Whether there is something to say of an agent; the view from afar has room for the urgent alone. */
  private says(agent: Agent, world: World, shown: Shown): boolean {
    if (agent.isLeaving) return false
    if (agent.key === shown.chosen || agent.key === shown.hovered) return true
    if (agent.parent || agent.way.length) return false
    if (agent.kind === 'needs') return !shown.isListed
    return agent.kind === 'failed' || (agent.bubble !== '' && world.time < agent.bubbleUntil)
  }

  /** Takes the places of heads, pins, screens and sub-agents, over which nothing is written. */
  private claim(agent: Agent, room: Room, camera: CameraControl): void {
    const { scale } = camera
    const [x, z] = [room.centre.x + agent.x, room.centre.z + agent.z]
    camera.toScreen(x, headHeight(agent), z, this.point)
    const half = 0.38 * scale * agent.size
    this.space.add({ left: this.point.x - half, top: this.point.y - half * 0.95, right: this.point.x + half, bottom: this.point.y + half * (agent.parent ? 2.4 : 0.85) }, agent.parent ? 'small' : 'head', agent.key)
    if (agent.parent) return
    const pin = pinSize(agent, scale)
    if (pin) {
      camera.toScreen(x, pinHeight(agent), z, this.point)
      const size = pin * scale
      this.space.add({ left: this.point.x - size * 0.4, top: this.point.y - size * 0.9, right: this.point.x + size * 0.4, bottom: this.point.y }, 'pin', agent.key)
    }
    const seat = seatPlace(room, agent.desk)
    camera.toScreen(room.centre.x + seat.x - 0.14, 0.96, room.centre.z + seat.z + DESK.before + 0.16, this.point)
    const isQuiet = agent.kind === 'working' || agent.kind === 'idle' || agent.kind === 'directing'
    this.space.add({ left: this.point.x - 0.5 * scale, top: this.point.y - 0.38 * scale, right: this.point.x + 0.5 * scale, bottom: this.point.y + 0.34 * scale }, isQuiet ? 'quiet' : 'lid', agent.key)
  }

  /** A room's name hangs on the far left corner of its wall; it stands higher, or farther right, where a pin is. */
  private placeName(room: Room, agents: readonly Agent[], camera: CameraControl, kept: Set<string>): void {
    const { width, depth } = sizeOf(room)
    const at = { x: room.centre.x - width / 2, y: WALL + 0.08, z: room.centre.z - depth / 2 }
    camera.toScreen(at.x, at.y, at.z, this.point)
    const { x, y } = { ...this.point }
    if (x > camera.width + 60 || y < -80 || y > camera.height + 80) return
    camera.toScreen(room.centre.x + width / 2, at.y, at.z, this.point)
    const wall = this.point.x - x
    const own = agents.filter(agent => agent.room === room.key && !agent.parent && !agent.isLeaving)
    const [needs, failed] = [own.filter(agent => agent.kind === 'needs').length, own.filter(agent => agent.kind === 'failed').length]
    const words = wall > (needs && failed ? WORDS_WIDTH.both : WORDS_WIDTH.one)
    const count = `${own.length + room.hidden}`
    const long = [count, ...(needs ? [words ? `! ${needs} ${needs === 1 ? 'needs' : 'need'} you` : `! ${needs}`] : []), ...(failed ? [words ? `× ${failed} failed` : `× ${failed}`] : [])]
    const short = [count, ...(needs ? [`! ${needs}`] : []), ...(failed ? [`× ${failed}`] : [])]
    const widest = Math.max(wall, 40) + 320
    this.space.within({ left: x - widest, right: x + widest, top: y - 100, bottom: y + wall * FALL + 60 })
    // The whole name first, then less of it, and screens of those who work may be covered before a name is over a pin.
    const tries: [string[], boolean][] = [[long, false], [short, false], [long, true], [short, true], [[count], true]]
    for (const [number, [parts, isQuietCovered]] of tries.entries()) {
      const isLast = number === tries.length - 1
      const beside = parts.reduce((sum, part) => sum + this.widthOf(part, 12, 600) + 8, 0)
      const least = this.widthOf(`${room.name.slice(0, LEAST_LETTERS)}…`, 12, 640)
      const name = this.fitted(room.name, parts === long ? Math.max(wall - beside + 30, least) : least, 12)
      const total = Math.ceil(this.widthOf(name, 12, 640) + beside + 16)
      const free = namePlaces(wall, total).find(([dx, dy]) => this.space.isFree(this.nameBox(x + dx, y + dy, total), room.key, isQuietCovered)) ?? (isLast ? this.leastBad(x, y, wall, total, room.key) : undefined)
      if (!free) continue
      const box = this.nameBox(x + free[0], y + free[1], total)
      this.space.add(box, 'label', `room ${room.key}`)
      this.show(`room ${room.key}`, 'label room', [name, ...parts].join('\u0001'), { at, dx: box.left - x, dy: free[1] - NAME_HEIGHT, slot: undefined }, element => {
        element.append(part('b', name), part('span', parts[0]!))
        for (const more of parts.slice(1)) element.append(part('i', more, more[0] === '!' ? 'is-needs' : 'is-failed'))
      }, kept)
      return
    }
  }

  /** Where everything is taken, a name covers as little as it can. */
  private leastBad(x: number, y: number, wall: number, total: number, key: string): [number, number] {
    const covered = ([dx, dy]: [number, number]) => this.space.covers(this.nameBox(x + dx, y + dy, total), key)
    // Lower places are over its own people, and are its own for sure.
    const places = namePlaces(wall, total).flatMap(([dx, dy]): [number, number][] => [0, 14, 28, 42].map(down => [dx, dy + down]))
    return places.reduce((best, one) => (covered(one) < covered(best) ? one : best))
  }

  private nameBox(x: number, y: number, width: number): Box {
    return { left: x - 8, right: x - 8 + width, top: y - NAME_HEIGHT, bottom: y }
  }

  private placeBubble(agent: Agent, world: World, camera: CameraControl, shown: Shown, kept: Set<string>): boolean {
    const room = world.rooms.get(agent.room)!
    const pin = pinSize(agent, camera.scale) * camera.scale
    const at = { x: room.centre.x + agent.x, y: pin ? pinHeight(agent) : headHeight(agent) + 0.34 * agent.size, z: room.centre.z + agent.z }
    camera.toScreen(at.x, at.y, at.z, this.point)
    const isAsked = agent.key === shown.chosen || agent.key === shown.hovered
    const isUrgent = agent.kind === 'needs' || agent.kind === 'failed'
    const text = agent.bubble && (isUrgent || !(isAsked || agent.kind === 'turn')) ? agent.bubble : agent.name
    const since = (agent.kind === 'needs' || isAsked) && agent.since ? age(agent.since, shown.now) : ''
    const beside = AROUND + ICON + (since ? this.widthOf(since, 12) + 7 : 0)
    this.space.within({ left: this.point.x - WIDEST - 40, right: this.point.x + WIDEST + 40, top: this.point.y - pin - 60, bottom: this.point.y + 40 })
    const before = this.used.get(agent.key)?.slot
    const slots = before ? [before, ...SLOTS.filter(slot => slot !== before)] : SLOTS
    const isSecond = isUrgent || isAsked
    // What is urgent may say less, and may be over the screens of those who work.
    for (const [widest, overQuiet] of [[WIDEST, false], ...(isSecond ? [[NARROW, false], [WIDEST, true], [NARROW, true]] : [])] as [number, boolean][]) {
      const words = this.fitted(text, widest - beside, 12.5)
      const width = Math.ceil(this.widthOf(words, 12.5, isUrgent ? 600 : 480) + beside)
      for (const slot of slots) {
        const box = boxOf(slot, this.point.x, this.point.y, width, pin)
        if (!this.space.isFree(box, agent.key, overQuiet)) continue
        this.space.add(box, 'label', agent.key)
        const kind = `label bubble ${agent.kind} ${slot}${agent.key === shown.chosen ? ' chosen' : ''}${agent.isJob ? ' job' : ''}`
        this.show(agent.key, kind, `${words}\u0001${since}\u0001${agent.kind} ${agent.tool} ${agent.state}`, { at, dx: box.left - this.point.x, dy: box.top - this.point.y, slot }, element => {
          element.append(iconOf(agent), part('b', words))
          if (since) element.append(part('i', since))
        }, kept)
        return true
      }
    }
    return false
  }

  private show(key: string, kind: string, content: string, place: Pick<Label, 'at' | 'dx' | 'dy' | 'slot'>, fill: (element: HTMLElement) => void, kept: Set<string>): void {
    kept.add(key)
    let label = this.used.get(key)
    if (!label) {
      label = { element: this.holder.appendChild(document.createElement('span')), content: '', kind: '', ...place }
      this.used.set(key, label)
    }
    label.element.dataset.of = key
    Object.assign(label, place)
    if (label.kind !== kind) label.element.className = label.kind = kind
    if (label.content === content) return
    label.content = content
    label.element.replaceChildren()
    fill(label.element)
  }

  private move({ element, at, dx, dy }: Label, camera: CameraControl): void {
    camera.toScreen(at.x, at.y, at.z, this.point)
    const place = `translate(${(this.point.x + dx).toFixed(1)}px,${(this.point.y + dy).toFixed(1)}px)`
    if (element.style.transform !== place) element.style.transform = place
  }

  private widthOf(text: string, size: number, weight = 480): number {
    const key = `${size} ${weight} ${text}`
    const known = this.widths.get(key)
    if (known !== undefined) return known
    if (this.widths.size > 2000) this.widths.clear()
    this.pen.font = `${weight} ${size}px ${this.font}`
    const { width } = this.pen.measureText(text)
    this.widths.set(key, width)
    return width
  }

  /** As much of a text as fits. */
  private fitted(text: string, width: number, size: number): string {
    if (this.widthOf(text, size, 640) <= width) return text
    let [least, most] = [Math.min(LEAST_LETTERS, text.length), text.length]
    while (least < most) {
      const middle = Math.ceil((least + most) / 2)
      if (this.widthOf(`${text.slice(0, middle)}…`, size, 640) <= width) least = middle
      else most = middle - 1
    }
    return least < text.length ? `${text.slice(0, least).trimEnd()}…` : text
  }
}

/** By how much the upper edge of a back wall falls on the screen, for each pixel to the right. */
const FALL = seen(1, 0, 0).up / -seen(1, 0, 0).right

/** Where a name can be, from the far left corner of its wall: there, a little higher, beside it, and farther along the wall. */
function namePlaces(wall: number, total: number): [number, number][] {
  const along = Array.from({ length: 12 }, (_, at) => ((wall - total + 8) * (at + 1)) / 12).filter(dx => dx > 0)
  const near: [number, number][] = [0, 14, 28].flatMap((dx): [number, number][] => [0, -10, -22, -34].map(dy => [dx, dx * FALL + dy]))
  const left: [number, number][] = [0.25, 0.5].flatMap((part): [number, number][] => [-4, -18, 10].map(dy => [-part * total - 2, dy]))
  return [...near, ...along.flatMap((dx): [number, number][] => [0, -12, -26].map(dy => [dx, dx * FALL + dy])), ...left, [0, -46], [Math.max(0, wall - total + 24), Math.max(0, wall - total + 24) * FALL - 16]]
}

/** The chosen first, then those that need the person, the longest wait first. */
function order(agent: Agent, { chosen, hovered }: Shown): number {
  if (agent.key === chosen) return -2
  if (agent.key === hovered) return -1
  return ['needs', 'failed', 'turn', 'working', 'directing', 'idle'].indexOf(agent.kind) * 1000 + agent.number
}

/** Where a bubble is whose tail is at the pin: over it, shifted, or beside it. */
function boxOf(slot: Slot, x: number, y: number, width: number, pin: number): Box {
  const over = y - pin * 0.92 - GAP
  const middle = y - pin * 0.55
  const beside = pin ? pin * 0.4 : 0
  const left = slot === 'above' ? x - width / 2 : slot === 'above-right' ? x - 22 : slot === 'above-left' ? x - width + 22 : slot === 'right' ? x + beside + GAP : x - beside - GAP - width
  const bottom = slot === 'right' || slot === 'left' ? middle + HEIGHT / 2 + (pin ? 0 : 12) : over
  return { left, right: left + width, top: bottom - HEIGHT, bottom }
}

function part(name: string, text: string, kind = ''): HTMLElement {
  const element = document.createElement(name)
  element.textContent = text
  if (kind) element.className = kind
  return element
}

const SVG = 'http://www.w3.org/2000/svg'

function iconOf(agent: Agent): SVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 16 16')
  const path = svg.appendChild(document.createElementNS(SVG, 'path'))
  path.setAttribute('d', SIGNS[agent.kind === 'needs' ? 'bang' : signOf(agent.kind, agent.state, agent.tool)])
  return svg
}
