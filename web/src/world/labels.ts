// Names and bubbles over the world, as HTML: the nearest two dozen, put in place without any layout of the page.

import { Vector3 } from 'three'
import type { Stage } from './stage.ts'
import type { Agent, World } from './types.ts'

const MOST = 24
/** How far one can be and still read a name. */
const FAR = 66

export class Labels {
  private readonly holder: HTMLElement
  private readonly free: HTMLElement[] = []
  private readonly used = new Map<string, HTMLElement>()
  private readonly point = new Vector3()
  private readonly taken: [number, number, number, number][] = []

  constructor(holder: HTMLElement) {
    this.holder = holder
  }

  draw(world: World, stage: Stage, chosen: string | undefined): void {
    const shown = new Set<string>()
    this.taken.length = 0
    for (const room of world.rooms.values()) {
      const at = stage.project(room.centre.x, 1, room.centre.z - 5, this.point)
      if (at.z > 1) continue
      shown.add(`room ${room.name}`)
      this.put(`room ${room.name}`, 'label room', room.hidden ? `${room.name} · ${room.hidden} more` : room.name, at.x, at.y)
    }
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
      const at = stage.project(agent.x, 1.72 * agent.size, agent.z, this.point)
      if (at.z > 1) continue
      const isTalking = says(agent)
      const letters = isTalking ? agent.bubble.length : Math.min(30, agent.name.length)
      const isUrgent = agent.state === 'waiting_permission' || agent.key === chosen
      const x = this.inside(at.x, letters)
      if (!this.isFree(x, at.y, letters) && !isUrgent) continue
      shown.add(agent.key)
      const kind = `label ${isTalking ? 'bubble' : 'name'} ${agent.state}${agent.key === chosen ? ' chosen' : ''}`
      this.put(agent.key, kind, isTalking ? agent.bubble : short(agent.name), x, at.y)
    }
    for (const [key, element] of this.used) {
      if (shown.has(key)) continue
      element.hidden = true
      this.used.delete(key)
      this.free.push(element)
    }
  }

  /** Where a label of so many letters is whole on the screen; where it belongs, if that is off the screen itself. */
  private inside(x: number, letters: number): number {
    const half = widthOf(letters) / 2 + 4
    const width = this.holder.clientWidth
    return x < 0 || x > width || width < 2 * half ? x : Math.min(width - half, Math.max(half, x))
  }

  /** Whether a label of so many letters would cover no other. */
  private isFree(x: number, y: number, letters: number): boolean {
    const [width, height] = [widthOf(letters), letters > 32 ? 44 : 22]
    const own: [number, number, number, number] = [x - width / 2, y - height, x + width / 2, y]
    const isCovered = this.taken.some(([left, top, right, bottom]) => own[0] < right && own[2] > left && own[1] < bottom && own[3] > top)
    if (!isCovered) this.taken.push(own)
    return !isCovered
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

function widthOf(letters: number): number {
  return Math.min(220, letters * 6.9 + 18)
}

function short(name: string): string {
  return name.length > 30 ? `${name.slice(0, 29)}…` : name
}
