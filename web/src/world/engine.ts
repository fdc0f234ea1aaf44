// Runs the world in a canvas: one loop, which stops while the page is hidden, input, and the loss of the WebGL context.

import { Vector3 } from 'three'
import { emptyWorld, rearrange, step, sync } from './crew.ts'
import { CameraControl } from './camera.ts'
import { Labels } from './labels.ts'
import { daylight } from './look.ts'
import { Stage } from './stage.ts'
import type { Actor, Agent, World } from './types.ts'

/** The longest step of the simulation, in seconds; more time is divided into several. */
const LONGEST = 0.1
/** The most time that one frame catches up with, in seconds. */
const LONGEST_GAP = 0.6
/** How long a lost context may take to come back by itself, in milliseconds. */
const RESTORE_TIME = 2500
/** The distance of the camera from an agent that is visited. */
const VISIT_DISTANCE = 19
/** How near to an agent a click has to be, in pixels. */
const CLICK_RADIUS = 34

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
  private readonly camera: CameraControl
  private readonly labels: Labels
  private readonly events: EngineEvents
  private readonly reducesMotion: boolean
  private readonly watchers: (() => void)[] = []
  private frame = 0
  private before = 0
  private isSeen = true
  private isLost = false
  /** The rooms that the camera was last set to show. */
  private roomsShown = ''
  /** The count of changes of rooms and desks that was last seen. */
  private furniture = 0
  private isOnBattery = false
  private needsFrame = true

  constructor(canvas: HTMLCanvasElement, labels: HTMLElement, events: EngineEvents, reducesMotion: boolean) {
    this.canvas = canvas
    this.events = events
    this.reducesMotion = reducesMotion
    this.stage = new Stage(canvas)
    this.labels = new Labels(labels)
    this.camera = new CameraControl(this.stage.camera, canvas, reducesMotion, () => this.wake())
    this.watch()
    this.resize()
    this.wake()
  }

  /** Shows these sessions, as of `now`. */
  show(actors: readonly Actor[], now: number): void {
    sync(this.world, actors, now)
    if (this.reducesMotion) this.settle()
    this.showNewRooms()
    this.wake()
  }

  /** Keeps all rooms in view until the person moves the camera or chooses an agent. */
  private showNewRooms(): void {
    this.furniture = this.world.furniture
    const rooms = [...this.world.rooms.values()].map(({ key, place }) => `${place} ${key}`).join('\n')
    if (rooms === this.roomsShown || this.camera.isTouched || this.chosen) return
    this.roomsShown = rooms
    this.showAll()
  }

  /** With reduced motion agents are at their goals at once. */
  private settle(): void {
    for (let count = 0; count < 40; count++) step(this.world, 0.25, this.camera.at)
  }

  showAll(): void {
    this.camera.showAll([...this.world.rooms.values()].map(room => room.centre))
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
    this.camera.pan(right, forward)
    this.wake()
  }

  zoom(factor: number): void {
    this.camera.zoom(factor)
    this.wake()
  }

  /** Chooses an agent and flies to it. */
  visit(agent: Agent): void {
    this.camera.fly(agent, VISIT_DISTANCE)
    this.choose(agent)
  }

  /** Chooses an agent, or nobody. */
  choose(agent: Agent | undefined): void {
    this.chosen = agent?.key
    if (agent) this.canvas.focus({ preventScroll: true })
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

  /** The point that the camera looks at, and its distance. */
  get cameraView(): { x: number; z: number; distance: number } {
    return this.camera.cameraView
  }

  stats(): { p95: number; calls: number; triangles: number; drawn: number } {
    const sorted = [...this.frames].sort((one, other) => one - other)
    const { calls, triangles, frame } = this.stage.renderer.info.render
    return { p95: sorted[Math.floor(sorted.length * 0.95)] ?? 0, calls, triangles, drawn: frame }
  }

  /** The time of our own script for so many frames, in milliseconds, shortest first. */
  measure(frames: number): number[] {
    const taken = Array.from({ length: frames }, () => {
      const began = performance.now()
      this.work(1 / 60)
      return performance.now() - began
    })
    return taken.sort((one, other) => one - other)
  }

  /** Loses the WebGL context, and restores it after so many milliseconds; with 0 it stays lost. */
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
    this.camera.dispose()
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
    const isEarly = this.isOnBattery && now - this.before < 30
    if (!isEarly) this.paint(now)
    // Reduced motion: a frame only where something changed.
    if (!this.reducesMotion || this.needsFrame || this.camera.isMoving) this.frame = requestAnimationFrame(this.tick)
  }

  private paint(now: number): void {
    const began = performance.now()
    const seconds = Math.min(LONGEST_GAP, Math.max(0, (now - this.before) / 1000))
    this.before = now
    this.needsFrame = false
    this.work(seconds)
    // Our own work alone: rendering is the graphics card's.
    this.frames.push(performance.now() - began)
    this.stage.render()
    if (this.frames.length > 600) this.frames.splice(0, 300)
  }

  /** Advances the world, and arranges what is drawn. */
  private work(seconds: number): void {
    for (let left = seconds; left > 0 && !this.reducesMotion; left -= LONGEST) step(this.world, Math.min(LONGEST, left), this.camera.at)
    if (this.world.furniture !== this.furniture) this.showNewRooms()
    this.camera.step(seconds)
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
      if (Math.hypot(event.clientX - down.x, event.clientY - down.y) < 6) this.choose(this.under(event))
    })
    const open = (agent: Agent | undefined) => agent && this.events.open(agent)
    on(this.canvas, 'dblclick', (event: MouseEvent) => open(this.under(event)))
    on(this.canvas, 'keydown', (event: KeyboardEvent) => event.key === 'Enter' && open(this.world.agents.get(this.chosen ?? '')))
    const battery = (navigator as { getBattery?: () => Promise<{ charging: boolean; addEventListener: (name: string, take: () => void) => void }> }).getBattery
    void battery?.call(navigator).then(found => {
      const note = () => (this.isOnBattery = !found.charging)
      note()
      found.addEventListener('chargingchange', note)
    })
  }

  private lose(event: Event): void {
    // Without this the browser never restores the context.
    event.preventDefault()
    this.isLost = true
    setTimeout(() => {
      if (this.stage.renderer.getContext().isContextLost()) this.events.lost()
    }, RESTORE_TIME)
  }

  private restore(): void {
    this.isLost = false
    this.events.back()
    this.wake()
  }

  /** The agent that is nearest to the pointer. */
  private under({ clientX, clientY }: MouseEvent): Agent | undefined {
    const place = this.canvas.getBoundingClientRect()
    const [x, y] = [clientX - place.left, clientY - place.top]
    const point = new Vector3()
    let [best, nearest]: [Agent | undefined, number] = [undefined, CLICK_RADIUS]
    for (const agent of this.world.agents.values()) {
      const at = this.stage.project(agent.x, 0.8 * agent.size, agent.z, point)
      const distance = Math.hypot(at.x - x, at.y - y)
      if (at.z < 1 && distance < nearest) [best, nearest] = [agent, distance]
    }
    return best
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.canvas
    if (!clientWidth || !clientHeight) return
    this.stage.resize(clientWidth, clientHeight)
    if (rearrange(this.world, clientHeight > clientWidth)) {
      const chosen = this.world.agents.get(this.chosen ?? '')
      if (chosen) this.camera.fly(chosen, VISIT_DISTANCE)
      else this.showAll()
    }
    this.wake()
  }
}
