// Draws the world in a dozen draw calls, however many are in it. It only reads the records.

import { BufferGeometry, Mesh, PlaneGeometry, Scene, WebGLRenderer, type ShaderMaterial } from 'three'
import { drawAtlas } from './atlas.ts'
import { Batch, Frame } from './batch.ts'
import type { CameraControl } from './camera.ts'
import { drawAll, type Batches, type View } from './figures.ts'
import { groundShadows, house, meadow, type Tree } from './house.ts'
import { boundsOf } from './layout.ts'
import { lookFor, type Look, type Rgb } from './look.ts'
import { lightOf, picture, setLight, shadows, solid } from './shaders.ts'
import * as shapes from './shapes.ts'
import type { Room, World } from './types.ts'

/** The most agents with a desk, and the most with their sub-agents. */
const AGENTS = 400
const ALL = 1200
/** How finely the light of the day changes. */
const LIGHT_STEPS = 24

export type Detail = 'full' | 'plain'

export class Stage {
  readonly renderer: WebGLRenderer
  private readonly scene = new Scene()
  private readonly light = lightOf()
  private readonly batches: Batches
  private readonly ground: Batch
  private readonly solid: ShaderMaterial
  private readonly still: Mesh
  private readonly meadow: Mesh
  private trees: Tree[] = []
  private planted = ''
  private readonly frame = new Frame()
  private readonly canvas: HTMLCanvasElement
  private look: Look = lookFor(1)
  private brightness = -1
  /** What is built of the rooms: their count of changes, and the light. */
  private built = ''
  isRich: boolean

  constructor(canvas: HTMLCanvasElement, detail: Detail) {
    this.canvas = canvas
    this.isRich = detail === 'full'
    this.renderer = new WebGLRenderer({ canvas, antialias: this.isRich, alpha: true, powerPreference: 'low-power' })
    this.renderer.setClearColor(0, 0)
    this.renderer.info.autoReset = true
    // Colours are written as they are.
    this.renderer.outputColorSpace = 'srgb-linear'
    const atlas = drawAtlas()
    this.solid = solid(this.light)
    const flat = () => new PlaneGeometry(1, 1)
    const floor = () => new PlaneGeometry(1, 1).rotateX(-Math.PI / 2)
    const add = (order: number, geometry: BufferGeometry, material: ShaderMaterial, most: number, each: 2 | 3) => {
      const batch = new Batch(geometry, material, most, each)
      batch.mesh.renderOrder = order
      this.scene.add(batch.mesh)
      return batch
    }
    const still = () => {
      const mesh = new Mesh(new BufferGeometry(), this.solid)
      mesh.frustumCulled = false
      mesh.renderOrder = 1
      this.scene.add(mesh)
      return mesh
    }
    this.still = still()
    this.meadow = still()
    this.ground = add(0, floor(), shadows(this.light), 400, 2)
    this.batches = {
      shadow: add(2, floor(), shadows(this.light), ALL + AGENTS, 2),
      desk: add(3, shapes.desk(), this.solid, AGENTS, 2),
      body: add(3, shapes.body(), this.solid, ALL, 2),
      head: add(3, shapes.head(), this.solid, ALL, 2),
      arm: add(3, shapes.arm(), this.solid, 2 * ALL, 2),
      box: add(3, shapes.box(), this.solid, 4 * ALL, 2),
      coin: add(3, shapes.coin(), this.solid, AGENTS * 14, 2),
      cat: add(3, shapes.cat(), this.solid, 1, 2),
      flat: add(4, flat(), picture(atlas), 4 * ALL, 3),
      glow: add(5, flat(), picture(atlas, false, true), ALL, 3),
      pin: add(6, flat(), picture(atlas, true), AGENTS * 2, 3),
    }
  }

  /** How light it is outside, from 0 to 1. */
  setBrightness(brightness: number): void {
    const step = Math.round(Math.min(1, Math.max(0, brightness)) * LIGHT_STEPS) / LIGHT_STEPS
    if (step === this.brightness) return
    this.brightness = step
    this.look = lookFor(step)
    setLight(this.light, this.look)
    const css = (colour: Rgb) => `rgb(${colour.map(value => Math.round(value * 255)).join(' ')})`
    this.canvas.style.background = `linear-gradient(168deg, ${css(this.look.skyTop)}, ${css(this.look.skyBottom)} 34%)`
  }

  resize(width: number, height: number, ratio: number): void {
    this.renderer.setPixelRatio(ratio)
    this.renderer.setSize(width, height, false)
  }

  /** Puts everything where it is. */
  arrange(world: World, camera: CameraControl, isStill: boolean, isNumbered: boolean): void {
    this.build(world)
    const view: View = { scale: camera.scale, look: this.look, isRich: this.isRich, isStill, isNumbered }
    drawAll(world, this.batches, view)
  }

  render(camera: CameraControl): void {
    this.renderer.render(this.scene, camera.camera)
  }

  /** Rooms, paths and trees change seldom. */
  private build(world: World): void {
    const key = `${world.furniture} ${this.brightness} ${this.isRich}`
    if (key === this.built) return
    this.built = key
    const rooms = [...world.rooms.values()]
    this.plant(rooms)
    this.still.geometry.dispose()
    this.still.geometry = house(rooms, this.look)
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
    const bounds = rooms.length ? boundsOf(rooms.map(room => ({ ...room, centre: Number.isNaN(room.goal.x) ? room.centre : room.goal }))) : { left: -3, right: 3, bottom: -2, top: 2 }
    const key = `${Object.values(bounds).map(value => value.toFixed(2))} ${this.brightness}`
    if (key === this.planted) return
    this.planted = key
    const { geometry, trees } = meadow(bounds, this.look)
    this.meadow.geometry.dispose()
    this.meadow.geometry = geometry
    this.trees = trees
  }

  dispose(): void {
    this.meadow.geometry.dispose()
    for (const batch of [...Object.values(this.batches), this.ground]) batch.dispose()
    this.still.geometry.dispose()
    this.solid.dispose()
    this.renderer.dispose()
  }
}
