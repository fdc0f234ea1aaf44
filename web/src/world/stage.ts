// Draws the world in a dozen draw calls, however many are in it. It only reads the records.

import { drawAtlas } from './atlas.ts'
import { Batch, Frame } from './batch.ts'
import type { CameraControl } from './camera.ts'
import { drawAll, type Batches, type View } from './figures.ts'
import { Renderer, type Mesh, type Paint } from './gl.ts'
import { groundShadows, house, meadow, type Tree } from './house.ts'
import { boundsOf, EMPTY_ROOM } from './layout.ts'
import { lookFor, type Look, type Rgb } from './look.ts'
import * as shapes from './shapes.ts'
import type { Room, World } from './types.ts'

/** The most agents with a desk, and the most with their sub-agents. */
const AGENTS = 400
const ALL = 1200
/** How finely the light of the day changes. */
const LIGHT_STEPS = 24

export type Detail = 'full' | 'plain'

export class Stage {
  readonly renderer: Renderer
  private readonly batches: Batches
  private readonly ground: Batch
  private readonly frame = new Frame()
  private readonly canvas: HTMLCanvasElement
  private still: Mesh
  private meadow: Mesh
  private trees: Tree[] = []
  private planted = ''
  private look: Look = lookFor(1)
  private brightness = -1
  /** What is built of the rooms: their count of changes, and the light. */
  private built = ''
  isRich: boolean

  constructor(canvas: HTMLCanvasElement, detail: Detail) {
    this.canvas = canvas
    this.isRich = detail === 'full'
    this.renderer = new Renderer(canvas, this.isRich, drawAtlas())
    const batch = (paint: Paint, shape: Float32Array, most: number) => new Batch(this.renderer.add(paint, shape, most), most)
    this.still = this.renderer.add('solid', new Float32Array(0))
    this.meadow = this.renderer.add('solid', new Float32Array(0))
    const floor = shapes.square(true)
    const flat = shapes.square()
    // What is seen through comes after what is solid, in the order in which it lies over each other.
    this.batches = {
      desk: batch('solid', shapes.desk(), AGENTS),
      body: batch('solid', shapes.body(), ALL),
      head: batch('solid', shapes.head(), ALL),
      arm: batch('solid', shapes.arm(), 2 * ALL),
      box: batch('solid', shapes.box(), 4 * ALL),
      coin: batch('solid', shapes.coin(), AGENTS * 14),
      cat: batch('solid', shapes.cat(), 1),
      shadow: batch('shadow', floor, ALL + AGENTS),
      flat: batch('picture', flat, 4 * ALL),
      glow: batch('glow', flat, ALL),
      pin: batch('pin', flat, 2 * AGENTS),
    }
    this.ground = batch('shadow', floor, 400)
  }

  /** How light it is outside, from 0 to 1. */
  setBrightness(brightness: number): void {
    const step = Math.round(Math.min(1, Math.max(0, brightness)) * LIGHT_STEPS) / LIGHT_STEPS
    if (step === this.brightness) return
    this.brightness = step
    this.look = lookFor(step)
    this.renderer.light = this.look
    const css = (colour: Rgb) => `rgb(${colour.map(value => Math.round(value * 255)).join(' ')})`
    this.canvas.style.background = `linear-gradient(168deg, ${css(this.look.skyTop)}, ${css(this.look.skyBottom)} 34%)`
  }

  resize(width: number, height: number, ratio: number): void {
    this.renderer.resize(width * ratio, height * ratio)
  }

  /** Puts everything where it is. */
  arrange(world: World, camera: CameraControl, isStill: boolean, isNumbered: boolean): void {
    this.build(world)
    const view: View = { scale: camera.scale, look: this.look, isRich: this.isRich, isStill, isNumbered }
    drawAll(world, this.batches, view)
  }

  render(camera: CameraControl): void {
    this.renderer.render(camera.matrix)
  }

  /** Everything is made anew after the graphics card was lost for a moment. */
  restore(): void {
    this.renderer.restore()
  }

  /** Rooms, paths and trees change seldom. */
  private build(world: World): void {
    const key = `${world.furniture} ${this.brightness} ${this.isRich}`
    if (key === this.built) return
    this.built = key
    const rooms = world.rooms.size ? [...world.rooms.values()] : [EMPTY_ROOM]
    this.plant(rooms)
    this.renderer.replace(this.still, house(rooms, this.look))
    this.ground.clear()
    if (this.isRich) {
      for (const { x, z, width, depth, soft } of groundShadows(rooms, this.trees)) {
        this.frame.set(x, -0.335, z, 0)
        this.ground.put(this.frame, 2 * width, 1, 2 * depth, [width, depth, soft])
      }
    }
    this.ground.done()
  }

  /** Trees stand around where the rooms are to be. */
  private plant(rooms: readonly Room[]): void {
    const bounds = boundsOf(rooms.map(room => ({ ...room, centre: Number.isNaN(room.goal.x) ? room.centre : room.goal })))
    const key = `${Object.values(bounds).map(value => value.toFixed(2))} ${this.brightness}`
    if (key === this.planted) return
    this.planted = key
    const { points, trees } = meadow(bounds, this.look)
    this.renderer.replace(this.meadow, points)
    this.trees = trees
  }

  dispose(): void {
    this.renderer.dispose()
  }
}
