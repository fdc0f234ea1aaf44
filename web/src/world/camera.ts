// The camera. Its flights are short, can be interrupted, and keep its direction.

import { MapControls } from 'three/addons/controls/MapControls.js'
import { Vector3, type PerspectiveCamera } from 'three'
import type { Point } from './types.ts'
import { distanceFor, boundsOf } from './layout.ts'

/** The limits of its distance. */
const NEAREST = 7
const FARTHEST = 170

export class CameraControl {
  private readonly controls: MapControls
  private readonly camera: PerspectiveCamera
  private flight: { from: Vector3; to: Vector3; away: Vector3; awayTo: Vector3; gone: number } | undefined
  private readonly reducesMotion: boolean
  /** Whether the person has moved it. */
  isTouched = false

  constructor(camera: PerspectiveCamera, element: HTMLElement, reducesMotion: boolean, moved: () => void) {
    this.camera = camera
    this.reducesMotion = reducesMotion
    camera.position.set(0, 25, 27)
    this.controls = new MapControls(camera, element)
    this.controls.enableDamping = !reducesMotion
    this.controls.dampingFactor = 0.12
    this.controls.maxPolarAngle = 1.25
    this.controls.minDistance = NEAREST
    this.controls.maxDistance = FARTHEST
    this.controls.addEventListener('start', () => {
      this.flight = undefined
      this.isTouched = true
    })
    this.controls.addEventListener('change', moved)
  }

  get at(): Point {
    return { x: this.camera.position.x, z: this.camera.position.z }
  }

  get cameraView(): { x: number; z: number; distance: number } {
    const { target } = this.controls
    return { x: target.x, z: target.z, distance: this.camera.position.distanceTo(target) }
  }

  /** Shows all rooms. */
  showAll(centres: readonly Point[]): void {
    if (!centres.length) return
    const sight = boundsOf(centres)
    const away = this.camera.position.clone().sub(this.controls.target).normalize()
    const distance = distanceFor(sight, [away.x, away.y, away.z], (this.camera.fov / 360) * Math.PI, this.camera.aspect)
    // Many rooms on a small screen need a distance beyond the limit of zooming.
    this.controls.maxDistance = Math.max(FARTHEST, distance)
    this.fly(sight.middle, Math.max(22, distance))
  }

  /** Flies to a point, and to a distance from it where one is given. */
  fly(to: Point, distance?: number): void {
    const target = this.controls.target
    const away = this.camera.position.clone().sub(target)
    const awayTo = distance ? away.clone().setLength(distance) : away.clone()
    this.flight = { from: target.clone(), to: new Vector3(to.x, 0, to.z), away, awayTo, gone: this.reducesMotion ? 1 : 0 }
  }

  /** Moves over the floor, by steps that grow with the distance. */
  pan(right: number, forward: number): void {
    this.flight = undefined
    this.isTouched = true
    const away = this.camera.position.clone().sub(this.controls.target)
    const size = away.length() * 0.06
    const ahead = new Vector3(-away.x, 0, -away.z).normalize()
    const by = ahead.clone().multiplyScalar(forward * size).add(new Vector3(-ahead.z, 0, ahead.x).multiplyScalar(right * size))
    this.controls.target.add(by)
    this.camera.position.add(by)
  }

  zoom(factor: number): void {
    const away = this.camera.position.clone().sub(this.controls.target)
    this.fly({ x: this.controls.target.x, z: this.controls.target.z }, Math.min(this.controls.maxDistance, Math.max(NEAREST, away.length() * factor)))
  }

  step(seconds: number): void {
    const { flight } = this
    if (flight) {
      flight.gone = Math.min(1, flight.gone + seconds / 0.8)
      const eased = 1 - (1 - flight.gone) ** 3
      this.controls.target.lerpVectors(flight.from, flight.to, eased)
      this.camera.position.lerpVectors(flight.away, flight.awayTo, eased).add(this.controls.target)
      if (flight.gone >= 1) this.flight = undefined
    }
    this.controls.update()
  }

  get isMoving(): boolean {
    return this.flight !== undefined
  }

  dispose(): void {
    this.controls.dispose()
  }
}
