// Draws the world. Every part is instanced, so that two hundred agents cost as many draw calls as one. It only reads the records.

import {
  AdditiveBlending, AmbientLight, Color, DirectionalLight, Fog, HemisphereLight, InstancedMesh, MeshBasicMaterial, MeshLambertMaterial, Object3D,
  PerspectiveCamera, Scene, Vector3, WebGLRenderer, type BufferGeometry, type Material,
} from 'three'
import { hash, supervisors } from './crew.ts'
import { deskTop, door, ROOM } from './layout.ts'
import { bodyColour, DAY, NIGHT, PACK, projectColour, WAITING_BODY, type Look } from './look.ts'
import * as shapes from './shapes.ts'
import { COLOURS, lookOf, type Agent, type World } from './types.ts'

/** The most agents and rooms that are drawn. */
const AGENTS = 600
const ROOMS = 80
const DESKS = 900

type Part = 'body' | 'head' | 'visor' | 'eyes' | 'hands' | 'pack' | 'ring' | 'shadow' | 'exclamation'
type Thing = 'floor' | 'walls' | 'rug' | 'panes' | 'sofa' | 'lamp' | 'shade' | 'glow' | 'leaf' | 'plant' | 'desk' | 'screen' | 'cat'

export class Stage {
  readonly renderer: WebGLRenderer
  readonly camera = new PerspectiveCamera(30, 1, 1, 600)
  private readonly scene = new Scene()
  private readonly meshes = {} as Record<Part | Thing, InstancedMesh>
  private readonly dummy = new Object3D()
  private readonly colours = new Map<string, Color>()
  private readonly sun = new DirectionalLight()
  private readonly ambient = new AmbientLight()
  private readonly hemisphere = new HemisphereLight('#ffffff', '#8d8578')
  private look: Look = DAY
  /** The furniture that is drawn, by its count; nothing yet. */
  private furniture = -1
  /** How far each door is open. */
  private readonly doors = new Map<string, number>()

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: 'low-power' })
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2))
    this.renderer.info.autoReset = true
    this.sun.position.set(12, 26, 16)
    this.scene.add(this.sun, this.ambient, this.hemisphere)
    this.build()
    this.setNight(false)
  }

  private build(): void {
    const lambert = () => new MeshLambertMaterial()
    const flat = (opacity = 1) => new MeshBasicMaterial({ transparent: opacity < 1, opacity, depthWrite: opacity === 1 })
    const add = (name: Part | Thing, geometry: BufferGeometry, material: Material, most: number) => {
      const mesh = new InstancedMesh(geometry, material, most)
      mesh.count = 0
      // Instances are everywhere: the bounds of the geometry say nothing about them.
      mesh.frustumCulled = false
      this.meshes[name] = mesh
      this.scene.add(mesh)
    }
    add('floor', shapes.floor(ROOM.width, ROOM.depth), lambert(), ROOMS)
    add('walls', shapes.walls(ROOM.width, ROOM.depth), lambert(), ROOMS)
    add('rug', shapes.rug(), lambert(), ROOMS)
    add('panes', shapes.windows(ROOM.depth), flat(), ROOMS)
    add('sofa', shapes.sofa(), lambert(), ROOMS)
    add('lamp', shapes.lamp(), lambert(), ROOMS)
    add('shade', shapes.shade(), flat(), ROOMS)
    add('glow', shapes.glow(), new MeshBasicMaterial({ vertexColors: true, transparent: true, blending: AdditiveBlending, depthWrite: false }), ROOMS)
    add('leaf', shapes.doorLeaf(), lambert(), ROOMS * 2)
    add('plant', shapes.plant(), lambert(), ROOMS)
    add('desk', shapes.desk(), lambert(), DESKS)
    add('screen', shapes.screen(), flat(), DESKS)
    add('cat', shapes.cat(), lambert(), 1)
    add('shadow', shapes.shadow(), flat(0.16), AGENTS)
    add('ring', shapes.ring(), flat(0.9), AGENTS)
    add('body', shapes.body(), lambert(), AGENTS)
    add('head', shapes.head(), lambert(), AGENTS)
    add('visor', shapes.visor(), lambert(), AGENTS)
    add('eyes', shapes.eyes(), flat(), AGENTS)
    add('hands', shapes.hands(), lambert(), AGENTS)
    add('pack', shapes.pack(), lambert(), AGENTS)
    add('exclamation', shapes.exclamation(), flat(), AGENTS)
  }

  setNight(isNight: boolean): void {
    this.look = isNight ? NIGHT : DAY
    this.scene.background = new Color(this.look.sky)
    this.scene.fog = new Fog(this.look.sky, 110, 330)
    this.ambient.intensity = this.look.ambient
    this.hemisphere.intensity = this.look.ambient * 0.5
    this.sun.intensity = this.look.sun
    this.sun.color.set(this.look.sunColour)
    this.furniture = -1
  }

  /** How light it is outside, from 0 to 1: a replayed day has its morning and its evening. */
  setDaylight(light: number): void {
    this.sun.intensity = this.look.sun * (0.35 + 0.65 * light)
  }

  resize(width: number, height: number): void {
    this.renderer.setSize(width, height, false)
    this.camera.aspect = width / Math.max(1, height)
    this.camera.updateProjectionMatrix()
  }

  /** Puts everything where it is. */
  arrange(world: World): void {
    this.furnish(world)
    this.people(world)
    this.opening(world)
    this.cat(world)
  }

  render(): void {
    this.renderer.render(this.scene, this.camera)
  }

  dispose(): void {
    for (const mesh of Object.values(this.meshes)) {
      mesh.geometry.dispose()
      ;(mesh.material as Material).dispose()
      mesh.dispose()
    }
    this.renderer.dispose()
  }

  /** Where a point of the world is on the screen, in pixels; `z` beyond 1 is behind the camera. */
  project(x: number, y: number, z: number, into: Vector3): Vector3 {
    const { clientWidth, clientHeight } = this.renderer.domElement
    into.set(x, y, z).project(this.camera)
    return into.set(((into.x + 1) / 2) * clientWidth, ((1 - into.y) / 2) * clientHeight, into.z)
  }

  /** Places rooms and desks, which seldom change. */
  private furnish(world: World): void {
    if (this.furniture === world.furniture) return
    this.furniture = world.furniture
    const desks = [...world.agents.values()].filter(agent => !agent.parent && agent.desk >= 0)
    let at = 0
    for (const room of world.rooms.values()) {
      if (at >= ROOMS) break
      this.put('floor', at, room.centre.x, 0, room.centre.z, 0, 1, this.look.floor)
      this.put('walls', at, room.centre.x, 0, room.centre.z, 0, 1, this.look.wall)
      const number = hash(room.key)
      const own = this.blended(this.look.floor, projectColour(number), this.look.rug)
      this.put('rug', at, room.centre.x, 0, room.centre.z, 0, 1, own)
      this.put('panes', at, room.centre.x, 0, room.centre.z, 0, 1, this.look.pane)
      const [right, front] = [room.centre.x + ROOM.width / 2, room.centre.z + ROOM.depth / 2]
      this.put('sofa', at, right - 2.4, 0, front - 1.15, 0, 1, projectColour(number))
      this.put('lamp', at, right - 0.8, 0, front - 1, 0, 1, this.look.wall)
      this.put('shade', at, right - 0.8, 0, front - 1, 0, 1, this.look.shade)
      this.put('glow', at, right - 1.9, 0.02, front - 1.9, 0, 1, this.look.shade)
      this.put('plant', at, room.centre.x - ROOM.width / 2 + 0.8, 0, room.centre.z + ROOM.depth / 2 - 0.9, hash(room.key) % 6, 0.9 + (hash(room.key) % 5) / 12, this.look.plant)
      at++
    }
    this.done('glow', this.look.isLit ? at : 0)
    for (const name of ['floor', 'walls', 'rug', 'panes', 'sofa', 'lamp', 'shade', 'plant'] as const) this.done(name, at)
    let number = 0
    for (const agent of desks.slice(0, DESKS)) {
      const room = world.rooms.get(agent.room)
      if (!room) continue
      const place = deskTop(room.centre, agent.desk)
      this.put('desk', number, place.x, 0, place.z, 0, 1, this.look.desk)
      number++
    }
    this.done('desk', number)
  }

  private people(world: World): void {
    const above = supervisors(world)
    let [at, waiting, screens, packs] = [0, 0, 0, 0]
    for (const agent of world.agents.values()) {
      if (at >= AGENTS) break
      const look = lookOf(agent.state, above.has(agent.key))
      const isWaiting = look === 'waiting'
      const pose = poseOf(agent)
      const y = pose.lift * agent.size
      const own = isWaiting ? WAITING_BODY : bodyColour(hash(agent.parent ?? agent.key))
      const { x, z, heading, size } = agent
      const room = agent.desk >= 0 && screens < DESKS ? world.rooms.get(agent.room) : undefined
      if (room) {
        const place = deskTop(room.centre, agent.desk)
        const isLit = agent.speed === 0 && (look === 'active' || look === 'supervising')
        this.put('screen', screens++, place.x, 0, place.z, 0, 1, isLit ? this.look.lit : this.look.screen)
      }
      this.put('shadow', at, x, 0.022, z, 0, size, '#000000')
      this.put('ring', at, x, 0.03, z, 0, size * (isWaiting ? 1.15 + 0.12 * Math.sin(agent.phase) : 1), COLOURS[look])
      this.put('body', at, x, y, z, heading, size, own, pose.lean)
      const headY = y + (1.12 + pose.nod) * size
      const tilt = pose.lean + pose.look
      this.put('head', at, x, headY, z, heading + pose.sway, size, own, tilt)
      this.put('visor', at, x, headY, z, heading + pose.sway, size, '#262a33', tilt)
      this.put('eyes', at, x, headY, z, heading + pose.sway, size, look === 'sleeping' || look === 'offline' ? '#5b6270' : COLOURS[look], tilt)
      this.put('hands', at, x, y + pose.hands * size, z, heading, size, own)
      if (agent.isJob) this.put('pack', packs++, x, y, z, heading, size, PACK, pose.lean)
      if (isWaiting) this.put('exclamation', waiting++, x, y + (1.75 + 0.1 * Math.sin(agent.phase)) * size, z, 0, size, COLOURS.waiting)
      at++
    }
    for (const name of ['shadow', 'ring', 'body', 'head', 'visor', 'eyes', 'hands'] as const) this.done(name, at)
    this.done('exclamation', waiting)
    this.done('pack', packs)
    this.done('screen', screens)
  }

  /** Opens doors for agents that come and go. */
  private opening(world: World): void {
    let at = 0
    const walkers = [...world.agents.values()].filter(agent => agent.speed > 0)
    for (const room of world.rooms.values()) {
      if (at >= ROOMS * 2) break
      const place = door(room.centre)
      const isNear = walkers.some(agent => Math.abs(agent.x - place.x) < 1.8 && Math.abs(agent.z - place.z) < 1.8)
      const before = this.doors.get(room.key) ?? 0
      const open = before + ((isNear ? 1 : 0) - before) * 0.12
      this.doors.set(room.key, open)
      this.put('leaf', at++, place.x - 1, 0, place.z, open * 1.5, 1, this.look.desk)
      this.put('leaf', at++, place.x + 1, 0, place.z, Math.PI - open * 1.5, 1, this.look.desk)
    }
    this.done('leaf', at)
  }

  /** The cat walks about outside the rooms, and sits down now and then. */
  private cat(world: World): void {
    const [first] = world.rooms.values()
    if (!first) return this.done('cat', 0)
    const way = world.time * 0.12
    const isWalking = Math.sin(way * 0.9) > -0.3
    const x = first.centre.x + Math.sin(way) * (ROOM.width / 2 + 1.1)
    const z = first.centre.z + ROOM.depth / 2 + 1.2 + Math.cos(way * 0.7) * 0.4
    this.put('cat', 0, x, isWalking ? Math.abs(Math.sin(world.time * 7)) * 0.03 : -0.06, z, Math.cos(way) > 0 ? Math.PI / 2 : -Math.PI / 2, 1, this.look.cat)
    this.done('cat', 1)
  }

  private put(name: Part | Thing, at: number, x: number, y: number, z: number, heading: number, size: number, colour: string, lean = 0): void {
    const { dummy } = this
    dummy.position.set(x, y, z)
    dummy.rotation.set(lean, heading, 0, 'YXZ')
    dummy.scale.setScalar(Math.max(0.001, size))
    dummy.updateMatrix()
    this.meshes[name].setMatrixAt(at, dummy.matrix)
    this.meshes[name].setColorAt(at, this.colourOf(colour))
  }

  /** A colour blended with a part of another. */
  private blended(name: string, other: string, part: number): string {
    return `#${this.colourOf(name).clone().lerp(this.colourOf(other), part).getHexString()}`
  }

  private colourOf(name: string): Color {
    const known = this.colours.get(name)
    if (known) return known
    const made = new Color(name)
    this.colours.set(name, made)
    return made
  }

  private done(name: Part | Thing, count: number): void {
    const mesh = this.meshes[name]
    mesh.count = count
    mesh.instanceMatrix.needsUpdate = true
    if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true
  }
}

interface Pose {
  lift: number
  lean: number
  nod: number
  look: number
  sway: number
  hands: number
}

/** How an agent holds itself: walking, typing, thinking, writing, waiting, idle. */
function poseOf(agent: Agent): Pose {
  const { phase, state } = agent
  const still = { lift: 0, lean: 0, nod: 0, look: 0, sway: 0, hands: 0.62 }
  if (agent.speed > 0) return { ...still, lift: Math.abs(Math.sin(phase * 4)) * 0.07, lean: 0.09, hands: 0.6 + 0.05 * Math.sin(phase * 8) }
  switch (state) {
    case 'tool_use':
      return { ...still, lean: 0.06, look: 0.12, hands: 0.72 + 0.045 * Math.sin(phase * 1.6) }
    case 'responding':
      return { ...still, nod: 0.02 * Math.sin(phase), look: 0.05 * Math.sin(phase), hands: 0.74 + 0.05 * Math.sin(phase) }
    case 'thinking':
      return { ...still, sway: 0.35 * Math.sin(phase), look: -0.16, hands: 0.66 }
    case 'waiting_permission':
      return { ...still, lift: Math.abs(Math.sin(phase)) * 0.16, hands: 1.02 + 0.1 * Math.sin(phase * 1.4) }
    case 'waiting_input':
      return { ...still, sway: 0.15 * Math.sin(phase * 0.6), nod: 0.01 * Math.sin(phase) }
    default: {
      // Now and then it stretches.
      const stretch = Math.max(0, Math.sin(phase * 0.23) - 0.96) * 25
      return { ...still, nod: -0.05 + stretch * 0.05, look: 0.3 - stretch * 0.4, hands: 0.55 + stretch * 0.5 }
    }
  }
}
