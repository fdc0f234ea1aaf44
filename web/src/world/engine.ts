// Runs the world in a canvas: one loop, which stops while the page is hidden or nothing moves, input, and the loss of the WebGL context.

import { arriveAll, emptyWorld, rearrange, release, step, sync } from './crew.ts'
import { CameraControl, type Insets } from './camera.ts'
import { headHeight, pinHeight, pinSize } from './figures.ts'
import { followPointers } from './gestures.ts'
import { Labels, type Shown } from './labels.ts'
import { EMPTY_ROOM } from './layout.ts'
import { SlowFrames } from './slow.ts'
import { Stage, type Detail } from './stage.ts'
import type { Actor, Agent, Room, World } from './types.ts'

/** The longest step of the simulation, in seconds; more time is divided into several. */
const LONGEST = 0.1
/** The most time that one frame catches up with, in seconds. */
const LONGEST_GAP = 0.6
/** How long a lost context may take to come back by itself, in milliseconds. */
const RESTORE_TIME = 2500
/** No more than thirty frames a second. */
const FRAME_TIME = 30
/** How near to an agent a click has to be, in pixels. */
const CLICK_RADIUS = 34
/** Half as many pixels where a graphics card is missing. */
const PLAIN_RATIO = 0.5

export interface EngineEvents {
  choose: (agent: Agent | undefined) => void
  open: (agent: Agent) => void
  hover: (agent: Agent | undefined) => void
  lost: () => void
  /** It takes so long to draw that a map is better. */
  slow: () => void
}

export interface EngineOptions {
  reducesMotion: boolean
  detail: Detail
  /** Whether it goes on however long a frame takes. */
  isPatient: boolean
  /** Whether the detail stays as it is. */
  isFixed: boolean
}

export class Engine {
  readonly world: World = emptyWorld()
  /** What our own script took for each of the last frames, in milliseconds. */
  readonly frames: number[] = []
  chosen: string | undefined
  private hovered: string | undefined
  private isListed = false
  private readonly canvas: HTMLCanvasElement
  private readonly stage: Stage
  private readonly camera: CameraControl
  private readonly labels: Labels
  private readonly events: EngineEvents
  private readonly options: EngineOptions
  private readonly slow: SlowFrames
  private readonly watchers: (() => void)[] = []
  private frame = 0
  private before = 0
  private now = Date.now()
  private isSeen = true
  private isLost = false
  /** The count of changes of rooms that was last shown whole. */
  private furniture = -1
  private needsFrame = true
  private timer: number | undefined

  constructor(canvas: HTMLCanvasElement, labels: HTMLElement, events: EngineEvents, options: EngineOptions) {
    this.canvas = canvas
    this.events = events
    this.options = options
    this.stage = new Stage(canvas, options.detail)
    this.stage.setBrightness(1)
    this.labels = new Labels(labels)
    this.camera = new CameraControl(options.reducesMotion)
    this.slow = new SlowFrames(options.detail === 'plain', options.isFixed, { plain: () => this.becomePlain(), givesUp: () => options.isPatient || events.slow() })
    this.watch()
    this.resize()
    this.wake()
  }

  /** Nothing moves by itself: the person wants that, or there is no graphics card. */
  private get isStill(): boolean {
    return this.options.reducesMotion || !this.stage.isRich
  }

  /** Shows these sessions, as of `now`. */
  show(actors: readonly Actor[], now: number): void {
    // Where nothing moves, time passes with what comes.
    if (this.isStill) this.world.time += Math.max(0, now - this.now) / 1000
    this.now = now
    sync(this.world, actors, now)
    if (this.isStill) arriveAll(this.world)
    this.showNewRooms()
    this.wake()
  }

  private get rooms(): Room[] {
    return this.world.rooms.size ? [...this.world.rooms.values()] : [EMPTY_ROOM]
  }

  /** Keeps all rooms in view until the person moves the camera or chooses an agent. */
  private showNewRooms(): void {
    if (this.furniture === this.world.furniture || this.world.glide > 0 && this.world.glide < 1) return
    const isFirst = this.furniture < 0
    this.furniture = this.world.furniture
    if (this.camera.isTouched || this.chosen) return
    this.camera.showAll(this.rooms, isFirst)
  }

  showAll(): void {
    this.camera.isTouched = false
    this.camera.showAll(this.rooms)
    this.wake()
  }

  /** How light it is outside, from 0 to 1. */
  setBrightness(brightness: number): void {
    this.stage.setBrightness(brightness)
    this.wake()
  }

  /** What lies over the canvas. */
  setInsets(insets: Insets): void {
    if (JSON.stringify(insets) === JSON.stringify(this.camera.insets)) return
    this.camera.insets = insets
    const chosen = this.world.agents.get(this.chosen ?? '')
    // What one looks at stays where it is.
    if (chosen) this.flyTo(chosen)
    else this.fit()
    this.wake()
  }

  /** Whether those who need the person are in a list beside the world, whose numbers are on their pins. */
  setListed(isListed: boolean): void {
    this.isListed = isListed
    this.wake()
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
    this.choose(agent)
    this.flyTo(agent)
  }

  flyTo(agent: Agent): void {
    const room = this.world.rooms.get(agent.room)
    if (room) this.camera.visit({ x: room.goal.x + agent.goal.x, z: room.goal.z + agent.goal.z })
    this.wake()
  }

  /** Chooses an agent, or nobody. */
  choose(agent: Agent | undefined): void {
    this.chosen = agent?.key
    this.world.isHeld = agent !== undefined
    if (agent) this.canvas.focus({ preventScroll: true })
    else release(this.world)
    this.events.choose(agent)
    this.wake()
  }

  /** Points at an agent, from a list beside the world. */
  point(key: string | undefined): void {
    this.hovered = key
    this.wake()
  }

  /** The next agent in a fixed order, of all or of those that are wanted. */
  next(isWanted: (agent: Agent) => boolean, by = 1): Agent | undefined {
    const order = (agent: Agent) => agent.number || Infinity
    const all = [...this.world.agents.values()].filter(agent => !agent.isLeaving && isWanted(agent))
    all.sort((one, other) => (order(one) === order(other) ? 0 : order(one) - order(other)) || one.room.localeCompare(other.room) || one.desk - other.desk || one.key.localeCompare(other.key))
    if (!all.length) return undefined
    const at = all.findIndex(agent => agent.key === this.chosen)
    return all[at < 0 && by < 0 ? all.length - 1 : (at + by + all.length) % all.length]
  }

  get cameraView(): CameraControl['cameraView'] & { scale: number } {
    return { ...this.camera.cameraView, scale: this.camera.scale }
  }

  /** Where the heads, pins and screens of agents are on the canvas, in pixels. */
  places(): { key: string; kind: string; head: { x: number; y: number }; pin: { x: number; y: number; size: number } | undefined }[] {
    return [...this.world.agents.values()].flatMap(agent => {
      const room = this.world.rooms.get(agent.room)
      if (!room) return []
      const at = (y: number) => {
        const point = { x: 0, y: 0 }
        this.camera.toScreen(room.centre.x + agent.x, y, room.centre.z + agent.z, point)
        return point
      }
      const size = pinSize(agent, this.camera.scale) * this.camera.scale
      return [{ key: agent.key, kind: agent.parent ? 'sub' : agent.kind, head: at(headHeight(agent)), pin: size ? { ...at(pinHeight(agent)), size } : undefined }]
    })
  }

  stats(): { p95: number; median: number; calls: number; triangles: number; drawn: number } {
    const sorted = [...this.frames].sort((one, other) => one - other)
    const { calls, triangles, frame } = this.stage.renderer.info
    const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? 0
    return { p95: at(0.95), median: at(0.5), calls, triangles, drawn: frame }
  }

  /** The time of our own script for so many frames, in milliseconds, shortest first. */
  measure(frames: number): number[] {
    const taken = Array.from({ length: frames }, () => {
      const began = performance.now()
      this.work(1 / 60, began)
      return performance.now() - began
    })
    return taken.sort((one, other) => one - other)
  }

  /** Loses the WebGL context, and restores it after so many milliseconds; with 0 it stays lost. */
  loseContext(back: number): void {
    const extension = this.stage.renderer.gl.getExtension('WEBGL_lose_context')
    extension?.loseContext()
    if (back) setTimeout(() => extension?.restoreContext(), back)
  }

  dispose(): void {
    cancelAnimationFrame(this.frame)
    clearTimeout(this.timer)
    this.frame = 0
    this.isLost = true
    for (const end of this.watchers) end()
    this.stage.dispose()
  }

  private becomePlain(): void {
    this.stage.isRich = false
    arriveAll(this.world)
    this.resize()
  }

  private wake(): void {
    this.needsFrame = true
    if (!this.frame && this.isSeen && !this.isLost && !document.hidden) {
      this.before = Math.max(this.before, performance.now() - FRAME_TIME)
      this.frame = requestAnimationFrame(this.tick)
    }
  }

  private readonly tick = (now: number): void => {
    this.frame = 0
    if (!this.isSeen || this.isLost || document.hidden) return
    if (now - this.before >= FRAME_TIME - 4 || this.needsFrame) this.paint(now)
    const isMoving = !this.isStill && this.world.agents.size > 0
    if (isMoving || this.needsFrame || this.camera.isMoving || this.slow.isMeasuring) this.frame = requestAnimationFrame(this.tick)
    else if (this.labels.isDue(this.world, this.camera, this.shown)) this.timer = window.setTimeout(() => this.wake(), 60)
  }

  private paint(now: number): void {
    const began = performance.now()
    const seconds = Math.min(LONGEST_GAP, Math.max(0, (now - this.before) / 1000))
    this.before = now
    this.needsFrame = false
    this.work(seconds, now)
    // Our own work alone: rendering is the graphics card's.
    this.frames.push(performance.now() - began)
    this.stage.render(this.camera)
    if (this.world.agents.size) this.slow.note(this.stage.renderer.gl, began)
    if (this.frames.length > 600) this.frames.splice(0, 300)
  }

  private get shown(): Shown {
    return { chosen: this.chosen, hovered: this.hovered, isListed: this.isListed, now: this.now }
  }

  /** Advances the world, and arranges what is drawn. */
  private work(seconds: number, now: number): void {
    for (let left = seconds; left > 0 && !this.isStill; left -= LONGEST) step(this.world, Math.min(LONGEST, left))
    if (this.world.furniture !== this.furniture) this.showNewRooms()
    this.camera.step(seconds)
    this.stage.arrange(this.world, this.camera, this.isStill, this.isListed)
    this.labels.draw(this.world, this.camera, this.shown, now, this.isStill)
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
    this.watchers.push(
      followPointers(this.canvas, {
        drag: (x, y) => (this.camera.drag(x, y), this.wake()),
        zoom: (factor, x, y) => (this.camera.zoom(factor, x, y, true), this.wake()),
        hover: (x, y) => this.hoverAt(x, y),
      }),
    )
    on(document, 'visibilitychange', () => this.wake())
    on(this.canvas, 'pointerleave', () => this.setHovered(undefined))
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
  }

  private lose(event: Event): void {
    // Without this the browser never restores the context.
    event.preventDefault()
    this.isLost = true
    setTimeout(() => {
      if (this.stage.renderer.gl.isContextLost()) this.events.lost()
    }, RESTORE_TIME)
  }

  private restore(): void {
    this.isLost = false
    this.stage.restore()
    this.wake()
  }

  private under({ clientX, clientY }: MouseEvent): Agent | undefined {
    const place = this.canvas.getBoundingClientRect()
    return this.at(clientX - place.left, clientY - place.top)
  }

  /** The agent that is nearest to a point of the canvas: to its head, its pin or its desk. */
  private at(x: number, y: number): Agent | undefined {
    let [best, nearest]: [Agent | undefined, number] = [undefined, CLICK_RADIUS]
    for (const { key, head, pin } of this.places()) {
      const agent = this.world.agents.get(key)!
      const radius = agent.parent ? 0.7 : 1
      const desk = { x: head.x, y: head.y + 0.75 * this.camera.scale * agent.size }
      for (const point of [head, desk, ...(pin ? [{ x: pin.x, y: pin.y - pin.size / 2 }] : [])]) {
        const distance = Math.hypot(point.x - x, point.y - y) / radius
        if (distance < nearest) [best, nearest] = [agent, distance]
      }
    }
    return best
  }

  private hoverAt(x: number, y: number): void {
    this.setHovered(this.at(x, y))
  }

  private setHovered(agent: Agent | undefined): void {
    if (agent?.key === this.hovered) return
    this.hovered = agent?.key
    this.canvas.style.cursor = agent ? 'pointer' : ''
    this.events.hover(agent)
    this.wake()
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.canvas
    if (!clientWidth || !clientHeight) return
    this.stage.resize(clientWidth, clientHeight, this.stage.isRich ? Math.min(devicePixelRatio, 2) : PLAIN_RATIO)
    this.camera.resize(clientWidth, clientHeight)
    this.fit()
    this.wake()
  }

  /** Arranges the rooms for what is free of the canvas. */
  private fit(): void {
    rearrange(this.world, this.camera.free)
    if (this.isStill) arriveAll(this.world)
    const chosen = this.world.agents.get(this.chosen ?? '')
    if (chosen) this.flyTo(chosen)
    else if (!this.camera.isTouched) this.camera.showAll(this.rooms)
  }
}
