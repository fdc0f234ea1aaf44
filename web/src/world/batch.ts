// Many of one shape in one draw call. What is put in is written straight into the buffers: nothing is made anew for a frame.

import { DynamicDrawUsage, InstancedBufferAttribute, InstancedMesh, type BufferGeometry, type Material } from 'three'
import type { Rgb } from './look.ts'

/** Where a thing is and how it is turned; parts of it are placed in it. */
export class Frame {
  readonly turn = new Float32Array(9)
  x = 0
  y = 0
  z = 0
  size = 1

  set(x: number, y: number, z: number, yaw: number, pitch = 0, roll = 0, size = 1): this {
    turnInto(this.turn, yaw, pitch, roll)
    this.x = x
    this.y = y
    this.z = z
    this.size = size
    return this
  }

  /** A frame inside of another. */
  inside(other: Frame, x: number, y: number, z: number, yaw = 0, pitch = 0, roll = 0, size = 1): this {
    const t = other.turn
    turnInto(OWN, yaw, pitch, roll)
    multiply(this.turn, t, OWN)
    this.x = other.x + (t[0]! * x + t[3]! * y + t[6]! * z) * other.size
    this.y = other.y + (t[1]! * x + t[4]! * y + t[7]! * z) * other.size
    this.z = other.z + (t[2]! * x + t[5]! * y + t[8]! * z) * other.size
    this.size = other.size * size
    return this
  }
}

const OWN = new Float32Array(9)

/** Turned about the upright axis, then forward, then to the side; by columns. */
function turnInto(into: Float32Array, yaw: number, pitch: number, roll: number): void {
  const [cy, sy, cx, sx, cz, sz] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch), Math.cos(roll), Math.sin(roll)]
  into[0] = cy * cz + sy * sx * sz
  into[1] = cx * sz
  into[2] = -sy * cz + cy * sx * sz
  into[3] = -cy * sz + sy * sx * cz
  into[4] = cx * cz
  into[5] = sy * sz + cy * sx * cz
  into[6] = sy * cx
  into[7] = -sx
  into[8] = cy * cx
}

function multiply(into: Float32Array, a: Float32Array, b: Float32Array): void {
  for (let column = 0; column < 9; column += 3) {
    for (let row = 0; row < 3; row++) into[column + row] = a[row]! * b[column]! + a[3 + row]! * b[column + 1]! + a[6 + row]! * b[column + 2]!
  }
}

export class Batch {
  readonly mesh: InstancedMesh
  private readonly matrix: Float32Array
  private readonly colour: Float32Array
  private readonly extra: InstancedBufferAttribute
  private readonly own: Float32Array
  private readonly each: number
  private readonly most: number
  private count = 0

  /** `each` is how many numbers of its own a thing has. */
  constructor(geometry: BufferGeometry, material: Material, most: number, each: 2 | 3) {
    this.mesh = new InstancedMesh(geometry, material, most)
    // Instances are everywhere: the bounds of the geometry say nothing about them.
    this.mesh.frustumCulled = false
    this.mesh.count = 0
    this.most = most
    this.each = each
    this.matrix = this.mesh.instanceMatrix.array as Float32Array
    this.mesh.instanceColor = new InstancedBufferAttribute((this.colour = new Float32Array(most * 3)), 3)
    this.extra = new InstancedBufferAttribute((this.own = new Float32Array(most * each)), each)
    geometry.setAttribute('extra', this.extra)
    for (const part of [this.mesh.instanceMatrix, this.mesh.instanceColor, this.extra]) part.setUsage(DynamicDrawUsage)
  }

  clear(): void {
    this.count = 0
  }

  /** Puts one in a frame, stretched along the axes of that. */
  put(frame: Frame, width: number, height: number, depth: number, tint: Rgb, one = 0, two = 0, three = 0): void {
    if (this.count >= this.most) return
    const { turn: t, size } = frame
    const m = this.matrix
    const at = this.count * 16
    const [w, h, d] = [width * size, height * size, depth * size]
    m[at] = t[0]! * w
    m[at + 1] = t[1]! * w
    m[at + 2] = t[2]! * w
    m[at + 4] = t[3]! * h
    m[at + 5] = t[4]! * h
    m[at + 6] = t[5]! * h
    m[at + 8] = t[6]! * d
    m[at + 9] = t[7]! * d
    m[at + 10] = t[8]! * d
    m[at + 12] = frame.x
    m[at + 13] = frame.y
    m[at + 14] = frame.z
    m[at + 15] = 1
    const colour = this.count * 3
    this.colour[colour] = tint[0]
    this.colour[colour + 1] = tint[1]
    this.colour[colour + 2] = tint[2]
    const own = this.count * this.each
    this.own[own] = one
    this.own[own + 1] = two
    if (this.each === 3) this.own[own + 2] = three
    this.count++
  }

  done(): void {
    this.mesh.count = this.count
    if (!this.count) return
    for (const part of [this.mesh.instanceMatrix, this.mesh.instanceColor!, this.extra]) {
      part.clearUpdateRanges()
      part.addUpdateRange(0, this.count * part.itemSize)
      part.needsUpdate = true
    }
  }

  dispose(): void {
    this.mesh.geometry.dispose()
    ;(this.mesh.material as Material).dispose()
    this.mesh.dispose()
  }
}
