// From where the world is seen: always from the same side, so that nobody is lost; it can be moved and brought nearer. Flights are short
// and can be interrupted.

import { boundsOf, floorAt, NEAREST, PITCH, scaleFor, seen, YAW, type Bounds } from './layout.ts'
import type { Point, Room } from './types.ts'

/** What lies over the canvas, in pixels. */
export interface Insets {
  top: number
  right: number
  bottom: number
  left: number
}

/** A point of the floor in units of the screen, and how large it is shown. */
interface Sight {
  right: number
  up: number
  scale: number
}

const FLIGHT_SECONDS = 0.45
/** How much nearer and farther one may go than where all is shown. */
const LIMITS = { far: 0.5, near: 5 }
/** The largest that a chosen agent is shown, in pixels for a unit. */
const CHOSEN = 96
/** How deep the world is that is drawn, in units before and behind its middle. */
const DEPTH = 160

export class CameraControl {
  /** Turns a point of the world into one of the screen, by columns. */
  readonly matrix = new Float32Array(16)
  insets: Insets = { top: 0, right: 0, bottom: 0, left: 0 }
  width = 1
  height = 1
  /** Whether the person has moved it. */
  isTouched = false
  private sight: Sight = { right: 0, up: 0, scale: 40 }
  /** The size at which all is shown. */
  private whole = 40
  private flight: { from: Sight; to: Sight; gone: number } | undefined
  private readonly reducesMotion: boolean

  constructor(reducesMotion: boolean) {
    this.reducesMotion = reducesMotion
  }

  get scale(): number {
    return this.sight.scale
  }

  get isMoving(): boolean {
    return this.flight !== undefined
  }

  /** The point of the floor in the middle, and how far away one would be to see as much. */
  get cameraView(): { x: number; z: number; distance: number } {
    const at = floorAt(this.sight.right, this.sight.up)
    return { ...at, distance: 1000 / this.sight.scale }
  }

  resize(width: number, height: number): void {
    this.width = width
    this.height = height
    this.apply()
  }

  /** What of the canvas is free. */
  get free(): { width: number; height: number } {
    const { top, right, bottom, left } = this.insets
    return { width: Math.max(120, this.width - left - right), height: Math.max(120, this.height - top - bottom) }
  }

  /** Where a point of the world is on the canvas, in pixels. */
  toScreen(x: number, y: number, z: number, into: { x: number; y: number }): void {
    const at = seen(x, y, z)
    into.x = this.width / 2 + (at.right - this.sight.right) * this.sight.scale
    into.y = this.height / 2 - (at.up - this.sight.up) * this.sight.scale
  }

  /** Shows all rooms, as large as they fit. */
  showAll(rooms: readonly Room[], isAtOnce = false): void {
    if (!rooms.length) return
    const bounds = boundsOf(rooms.map(room => ({ ...room, centre: Number.isNaN(room.goal.x) ? room.centre : room.goal })))
    this.whole = this.scaleOf(bounds)
    this.go(this.centred({ right: (bounds.left + bounds.right) / 2, up: (bounds.bottom + bounds.top) / 2, scale: this.whole }), isAtOnce)
  }

  private scaleOf(bounds: Bounds): number {
    const { width, height } = this.free
    return scaleFor(bounds, width - 24, height - 16)
  }

  /** Flies to a point, near enough to look at it. */
  visit(at: Point): void {
    const { right, up } = seen(at.x, 0.8, at.z)
    this.isTouched = true
    this.go(this.centred({ right, up, scale: Math.min(CHOSEN, Math.max(this.sight.scale, this.whole * 1.6, 56)) }))
  }

  /** Moves the middle so that it is that of what is free. */
  private centred(sight: Sight): Sight {
    const { top, right, bottom, left } = this.insets
    return { ...sight, right: sight.right + (right - left) / 2 / sight.scale, up: sight.up + (top - bottom) / 2 / sight.scale }
  }

  /** Moves by steps that are a part of the screen. */
  pan(right: number, forward: number): void {
    this.drag(-right * this.width * 0.08, forward * this.height * 0.08)
  }

  /** Moves what is seen by so many pixels. */
  drag(x: number, y: number): void {
    this.flight = undefined
    this.isTouched = true
    this.sight = { ...this.sight, right: this.sight.right - x / this.sight.scale, up: this.sight.up + y / this.sight.scale }
    this.apply()
  }

  /** Brings what is at a point of the canvas nearer, or farther. */
  zoom(factor: number, x = this.width / 2, y = this.height / 2, isAtOnce = false): void {
    this.isTouched = true
    const from = this.flight?.to ?? this.sight
    const scale = Math.min(Math.max(NEAREST, this.whole) * LIMITS.near, Math.max(this.whole * LIMITS.far, from.scale * factor))
    const [dx, dy] = [x - this.width / 2, this.height / 2 - y]
    const to = { right: from.right + dx / from.scale - dx / scale, up: from.up + dy / from.scale - dy / scale, scale }
    if (isAtOnce) {
      this.flight = undefined
      this.sight = to
      this.apply()
    } else this.go(to)
  }

  step(seconds: number): void {
    const { flight } = this
    if (!flight) return
    flight.gone = Math.min(1, flight.gone + seconds / FLIGHT_SECONDS)
    const part = 1 - (1 - flight.gone) ** 3
    const between = (from: number, to: number) => from + (to - from) * part
    this.sight = {
      right: between(flight.from.right, flight.to.right),
      up: between(flight.from.up, flight.to.up),
      scale: Math.exp(between(Math.log(flight.from.scale), Math.log(flight.to.scale))),
    }
    if (flight.gone >= 1) this.flight = undefined
    this.apply()
  }

  private go(to: Sight, isAtOnce = false): void {
    if (isAtOnce || this.reducesMotion) {
      this.flight = undefined
      this.sight = to
      this.apply()
    } else this.flight = { from: this.sight, to, gone: 0 }
  }

  private apply(): void {
    const { sight, matrix } = this
    const [w, h] = [this.width / 2 / sight.scale, this.height / 2 / sight.scale]
    const [sin, cos, tilt, rise] = [Math.sin(YAW), Math.cos(YAW), Math.sin(PITCH), Math.cos(PITCH)]
    const at = floorAt(sight.right, sight.up)
    const near = at.x * rise * sin + at.z * rise * cos
    matrix.set([cos / w, (-sin * tilt) / h, (-rise * sin) / DEPTH, 0])
    matrix.set([0, rise / h, -tilt / DEPTH, 0], 4)
    matrix.set([-sin / w, (-cos * tilt) / h, (-rise * cos) / DEPTH, 0], 8)
    matrix.set([-sight.right / w, -sight.up / h, near / DEPTH, 1], 12)
  }
}
