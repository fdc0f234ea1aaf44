// Many of one shape in one draw call. What is put in is written straight into the buffers: nothing is made anew for a frame.

import { NUMBERS, type Mesh } from './gl.ts'
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
  private readonly mesh: Mesh
  private readonly numbers: Float32Array
  private readonly most: number
  private count = 0

  constructor(mesh: Mesh, most: number) {
    this.mesh = mesh
    this.most = most
    this.numbers = mesh.instances = new Float32Array(most * NUMBERS)
  }

  clear(): void {
    this.count = 0
  }

  /** Puts one in a frame, stretched along the axes of that, with up to three numbers of its own. */
  put(frame: Frame, width: number, height: number, depth: number, tint: Rgb, one = 0, two = 0, three = 0): void {
    if (this.count >= this.most) return
    const { turn: t, size } = frame
    const n = this.numbers
    const at = this.count * NUMBERS
    const [w, h, d] = [width * size, height * size, depth * size]
    n[at] = t[0]! * w
    n[at + 1] = t[1]! * w
    n[at + 2] = t[2]! * w
    n[at + 3] = t[3]! * h
    n[at + 4] = t[4]! * h
    n[at + 5] = t[5]! * h
    n[at + 6] = t[6]! * d
    n[at + 7] = t[7]! * d
    n[at + 8] = t[8]! * d
    n[at + 9] = frame.x
    n[at + 10] = frame.y
    n[at + 11] = frame.z
    n[at + 12] = tint[0]
    n[at + 13] = tint[1]
    n[at + 14] = tint[2]
    n[at + 15] = one
    n[at + 16] = two
    n[at + 17] = three
    this.count++
  }

  done(): void {
    this.mesh.count = this.count
  }
}
