// Runs the world in a canvas: one loop, which sleeps while nobody looks, and what becomes of a lost graphics card.

import { Vector3 } from 'three'
import { emptyWorld, step, sync } from './crew.ts'
import { Eye } from './camera.ts'
import { Labels } from './labels.ts'
import { daylight } from './look.ts'
import { Stage } from './stage.ts'
import type { Actor, Agent, World } from './types.ts'

/** A longer step than this would let agents jump, in seconds; more time is taken in several. */
const LONGEST = 0.1
/** More time than this is not caught up with. */
const CAUGHT_UP = 0.6
/** A lost context may come back by itself within this time, in milliseconds. */
const PATIENCE = 2500
/** How near a click has to be, in pixels. */
const REACH = 34

export interface EngineEvents {
  choose: (agent: Agent | undefined) => void
  open: (agent: Agent) => void
  lost: () => void
  back: () => void
}

export class Engine {
  readonly world: World = emptyWorld()
  /** What our own script took for each of the last frames, in milliseconds. */
  readonly frames: number[] = []
  chosen: string | undefined
  private readonly canvas: HTMLCanvasElement
  private readonly stage: Stage
  private readonly eye: Eye
  private readonly labels: Labels
  private readonly events: EngineEvents
  private readonly isStill: boolean
  private readonly watchers: (() => void)[] = []
  private frame = 0
  private before = 0
  private isSeen = true
  private isLost = false
  private roomsShown = 0
  private isThrifty = false
  private needsFrame = true

  constructor(canvas: HTMLCanvasElement, labels: HTMLElement, events: EngineEvents, isStill: boolean) {
    this.canvas = canvas
    this.events = events
    this.isStill = isStill
    this.stage = new Stage(canvas)
    this.labels = new Labels(labels)
    this.eye = new Eye(this.stage.camera, canvas, isStill, () => this.wake())
    this.watch()
    this.resize()
    this.wake()
  }

  /** Shows these sessions, as of `now`. */
  show(actors: readonly Actor[], now: number): void {
    sync(this.world, actors, now)
    if (this.isStill) this.settle()
    if (this.world.rooms.size !== this.roomsShown && !this.eye.isTouched && !this.chosen) {
      this.roomsShown = this.world.rooms.size
      this.showAll()
    }
    this.wake()
  }

  /** Without motion everybody is where they go at once. */
  private settle(): void {
    for (let count = 0; count < 40; count++) step(this.world, 0.25, this.eye.at)
  }

  showAll(): void {
    this.eye.showAll([...this.world.rooms.values()].map(room => room.centre))
    this.wake()
  }

  setNight(isNight: boolean): void {
    this.stage.setNight(isNight)
    this.wake()
  }

  setHour(hour: number): void {
    this.stage.setDaylight(daylight(hour))
  }

  pan(right: number, forward: number): void {
    this.eye.pan(right, forward)
    this.wake()
  }

  zoom(factor: number): void {
    this.eye.zoom(factor)
    this.wake()
  }

  /** Chooses an agent and goes there. */
  visit(agent: Agent): void {
    this.chosen = agent.key
    this.eye.fly(agent, 19)
    this.events.choose(agent)
    this.wake()
  }

  /** The next agent in a fixed order, of all or of those that wait. */
  next(isWanted: (agent: Agent) => boolean, by = 1): Agent | undefined {
    const all = [...this.world.agents.values()].filter(agent => !agent.isLeaving && isWanted(agent)).sort((one, other) => one.room.localeCompare(other.room) || one.desk - other.desk || one.key.localeCompare(other.key))
    if (!all.length) return undefined
    const at = all.findIndex(agent => agent.key === this.chosen)
    return all[(at + by + all.length) % all.length]
  }

  stats(): { p95: number; calls: number; triangles: number; frames: number } {
    const sorted = [...this.frames].sort((one, other) => one - other)
    const { calls, triangles } = this.stage.renderer.info.render
    return { p95: sorted[Math.floor(sorted.length * 0.95)] ?? 0, calls, triangles, frames: sorted.length }
  }

  /** Our own work for so many frames, one after the other. */
  measure(frames: number): number[] {
    const taken = Array.from({ length: frames }, () => {
      const began = performance.now()
      this.work(1 / 60)
      return performance.now() - began
    })
    return taken.sort((one, other) => one - other)
  }

  /** Takes the graphics card away, and gives it back after so many milliseconds; never, where that is 0. */
  loseContext(back: number): void {
    const extension = this.stage.renderer.getContext().getExtension('WEBGL_lose_context')
    extension?.loseContext()
    if (back) setTimeout(() => extension?.restoreContext(), back)
  }

  dispose(): void {
    cancelAnimationFrame(this.frame)
    this.frame = 0
    this.isLost = true
    for (const end of this.watchers) end()
    this.eye.dispose()
    this.stage.dispose()
  }

  private wake(): void {
    this.needsFrame = true
    if (!this.frame && this.isSeen && !this.isLost && !document.hidden) {
      this.before = performance.now()
      this.frame = requestAnimationFrame(this.tick)
    }
  }

  private readonly tick = (now: number): void => {
    this.frame = 0
    if (!this.isSeen || this.isLost || document.hidden) return
    const isEarly = this.isThrifty && now - this.before < 30
    if (!isEarly) this.paint(now)
    // Reduced motion: a frame only where something changed.
    if (!this.isStill || this.needsFrame || this.eye.isMoving) this.frame = requestAnimationFrame(this.tick)
  }

  private paint(now: number): void {
    const began = performance.now()
    const seconds = Math.min(CAUGHT_UP, Math.max(0, (now - this.before) / 1000))
    this.before = now
    this.needsFrame = false
    this.work(seconds)
    // Our own work; what the graphics card takes is not ours to count.
    this.frames.push(performance.now() - began)
    this.stage.render()
    if (this.frames.length > 600) this.frames.splice(0, 300)
  }

  /** Lets time pass and puts everything in its place. */
  private work(seconds: number): void {
    for (let left = seconds; left > 0 && !this.isStill; left -= LONGEST) step(this.world, Math.min(LONGEST, left), this.eye.at)
    this.eye.step(seconds)
    this.stage.arrange(this.world)
    this.labels.draw(this.world, this.stage, this.chosen)
  }

  private watch(): void {
    const on = (target: EventTarget, name: string, take: (event: never) => void) => {
      target.addEventListener(name, take as EventListener)
      this.watchers.push(() => target.removeEventListener(name, take as EventListener))
    }
    const sized = new ResizeObserver(() => this.resize())
    sized.observe(this.canvas)
    const seen = new IntersectionObserver(entries => {
      this.isSeen = entries.some(entry => entry.isIntersecting)
      this.wake()
    })
    seen.observe(this.canvas)
    this.watchers.push(() => sized.disconnect(), () => seen.disconnect())
    on(document, 'visibilitychange', () => this.wake())
    on(this.canvas, 'webglcontextlost', (event: Event) => this.lose(event))
    on(this.canvas, 'webglcontextrestored', () => this.restore())
    let down = { x: 0, y: 0 }
    on(this.canvas, 'pointerdown', (event: PointerEvent) => (down = { x: event.clientX, y: event.clientY }))
    on(this.canvas, 'click', (event: MouseEvent) => {
      if (Math.hypot(event.clientX - down.x, event.clientY - down.y) < 6) this.click(event)
    })
    const battery = (navigator as { getBattery?: () => Promise<{ charging: boolean; addEventListener: (name: string, take: () => void) => void }> }).getBattery
    void battery?.call(navigator).then(found => {
      const note = () => (this.isThrifty = !found.charging)
      note()
      found.addEventListener('chargingchange', note)
    })
  }

  private lose(event: Event): void {
    // Without this the browser never gives it back.
    event.preventDefault()
    this.isLost = true
    setTimeout(() => {
      if (this.stage.renderer.getContext().isContextLost()) this.events.lost()
    }, PATIENCE)
  }

  private restore(): void {
    this.isLost = false
    this.events.back()
    this.wake()
  }

  private click(event: MouseEvent): void {
    const place = this.canvas.getBoundingClientRect()
    const agent = this.under(event.clientX - place.left, event.clientY - place.top)
    this.chosen = agent?.key
    this.events.choose(agent)
    if (agent) this.events.open(agent)
    this.wake()
  }

  /** The agent that is nearest to a point of the screen. */
  private under(x: number, y: number): Agent | undefined {
    const point = new Vector3()
    let [best, nearest]: [Agent | undefined, number] = [undefined, REACH]
    for (const agent of this.world.agents.values()) {
      const at = this.stage.project(agent.x, 0.8 * agent.size, agent.z, point)
      const distance = Math.hypot(at.x - x, at.y - y)
      if (at.z < 1 && distance < nearest) [best, nearest] = [agent, distance]
    }
    return best
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.canvas
    if (clientWidth && clientHeight) this.stage.resize(clientWidth, clientHeight)
    this.wake()
  }
}
