// Names and bubbles over the world, as HTML: the nearest two dozen, put in place without any layout of the page.

import { Vector3 } from 'three'
import { requestInShort } from './crew.ts'
import { ROOM } from './layout.ts'
import type { Stage } from './stage.ts'
import type { Agent, World } from './types.ts'

const MOST = 24
/** The distance up to which names are shown. */
const FAR = 66
/** How many labels an urgent one may be stacked on. */
const STACKED = 8
/** The gap between two labels, in pixels. */
const APART = 3
const LINE = 17
/** The width of a letter, and of the padding, in pixels. */
const LETTER = 6.9
const AROUND = 18
/** Names of rooms are larger, and bold. */
const ROOM_LETTER = 7.9
const WIDEST_ROOM = 240
/** In rooms that are narrower on the screen, in pixels, a bubble has one line. */
const SMALL_ROOM = 240
const SMALL_BUBBLE = 130
/** The height of the controls over the world. */
const CONTROLS = 48
/** A bubble may be stacked on one label, such as the name of a room. */
const OVER_ROOM = 2

export class Labels {
  private readonly holder: HTMLElement
  private readonly free: HTMLElement[] = []
  private readonly used = new Map<string, HTMLElement>()
  private readonly point = new Vector3()
  private readonly taken: [number, number, number, number][] = []
  /** Whether the rooms are so small that a bubble of three lines would cover one. */
  private isSmall = false

  constructor(holder: HTMLElement) {
    this.holder = holder
  }

  draw(world: World, stage: Stage, chosen: string | undefined): void {
    const shown = new Set<string>()
    this.taken.length = 0
    let narrowest = Infinity
    for (const room of world.rooms.values()) {
      const at = stage.project(room.centre.x, 1, room.centre.z - 5, this.point)
      if (at.z > 1) continue
      shown.add(`room ${room.key}`)
      const { x, y } = at
      const wide = 2 * Math.abs(stage.project(room.centre.x + (ROOM.width + ROOM.gap) / 2, 1, room.centre.z - 5, this.point).x - x)
      narrowest = Math.min(narrowest, wide)
      // A name is as long as its room is wide, so that it does not cover the next one.
      const more = room.hidden ? ` · ${room.hidden} more` : ''
      const text = short(room.name, Math.max(6, Math.floor((Math.min(WIDEST_ROOM, wide) - AROUND) / ROOM_LETTER) - more.length)) + more
      const half = (text.length * ROOM_LETTER + AROUND) / 2
      const middle = this.inside(x, half)
      this.taken.push([middle - half, y - LINE - 4, middle + half, y])
      this.put(`room ${room.key}`, 'label room', text, middle, y)
    }
    this.isSmall = narrowest < SMALL_ROOM
    const camera = stage.camera.position
    const distance = (agent: Agent) => Math.hypot(agent.x - camera.x, camera.y, agent.z - camera.z)
    const says = (agent: Agent) => agent.bubble !== '' && (world.time < agent.bubbleUntil || agent.state === 'waiting_permission')
    const near = [...world.agents.values()]
      .filter(agent => !agent.isLeaving && (agent.key === chosen || says(agent) || distance(agent) < FAR))
      .map(agent => ({ agent, order: distance(agent) - (agent.state === 'waiting_permission' ? 200 : says(agent) ? 60 : 0) - (agent.key === chosen ? 400 : 0) }))
      .sort((one, other) => one.order - other.order)
      .slice(0, MOST)
    for (const { agent } of near) {
      if (agent.parent && agent.key !== chosen && distance(agent) > 29) continue
      // The label of an agent that waits is above the exclamation mark over its head.
      const at = stage.project(agent.x, (agent.state === 'waiting_permission' ? 2.3 : 1.72) * agent.size, agent.z, this.point)
      if (at.z > 1) continue
      const isTalking = says(agent)
      const isShort = this.isSmall && agent.key !== chosen
      const said = isShort ? short(requestInShort(agent.bubble)) : agent.bubble
      const text = (isTalking ? said : short(agent.name)) + (agent.hidden ? ` · ${agent.hidden} more ${agent.hidden === 1 ? 'sub-agent' : 'sub-agents'}` : '')
      const isUrgent = agent.state === 'waiting_permission' || agent.key === chosen
      const size = this.sizeOf(text.length, isShort)
      const x = this.inside(at.x, size.width / 2)
      const y = this.freeAbove(x, at.y, size, isUrgent ? STACKED : isTalking ? OVER_ROOM : 1)
      if (y === undefined && !isUrgent) continue
      shown.add(agent.key)
      const kind = `label ${isTalking ? 'bubble' : 'name'} ${agent.state}${agent.key === chosen ? ' chosen' : ''}${agent.isJob ? ' job' : ''}${isShort ? ' short' : ''}`
      this.put(agent.key, kind, text, x, y ?? at.y)
    }
    for (const [key, element] of this.used) {
      if (shown.has(key)) continue
      element.hidden = true
      this.used.delete(key)
      this.free.push(element)
    }
  }

  /** Moves a label that is half so wide into the screen, unless its agent is off the screen. */
  private inside(x: number, half: number): number {
    const least = half + 4
    const width = this.holder.clientWidth
    return x < 0 || x > width || width < 2 * least ? x : Math.min(width - least, Math.max(least, x))
  }

  /** The lowest free place for a label of this size: its own, or above the labels there. Under the controls there is none. */
  private freeAbove(x: number, y: number, { width, height }: Size, tries: number): number | undefined {
    let bottom = y
    for (let count = 0; count < tries && bottom - height > CONTROLS; count++) {
      const own: [number, number, number, number] = [x - width / 2, bottom - height, x + width / 2, bottom]
      const covered = this.taken.find(other => own[0] < other[2] && own[2] > other[0] && own[1] < other[3] && own[3] > other[1])
      if (!covered) {
        this.taken.push(own)
        return bottom
      }
      bottom = covered[1] - APART
    }
    return undefined
  }

  /** How large a label of so many letters is; the styles have the same widths. */
  private sizeOf(letters: number, isShort: boolean): Size {
    const most = isShort ? SMALL_BUBBLE : this.holder.clientWidth <= 820 ? 170 : 220
    const width = Math.min(most, letters * LETTER + AROUND)
    // A line that is broken between words holds less than it could.
    const lines = isShort ? 1 : Math.min(3, Math.ceil((letters * LETTER) / (most - AROUND - 14)))
    return { width, height: lines * LINE + 8 }
  }

  private put(key: string, kind: string, text: string, x: number, y: number): void {
    let element = this.used.get(key)
    if (!element) {
      element = this.free.pop() ?? this.holder.appendChild(document.createElement('span'))
      element.hidden = false
      this.used.set(key, element)
    }
    if (element.className !== kind) element.className = kind
    if (element.textContent !== text) element.textContent = text
    element.style.transform = `translate(-50%, -100%) translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`
  }
}

interface Size {
  width: number
  height: number
}

function short(name: string, most = 30): string {
  return name.length > most ? `${name.slice(0, most - 1).trimEnd()}…` : name
}
