// Geometry by hand: boxes, boxes with soft edges and turned shapes, each with a colour at its points. All parts of a shape become one.

import type { Rgb } from './look.ts'

type Corner = readonly [number, number, number]

export interface Paint {
  tint: Rgb
  /** How dark it is at its lowest point, where 1 is as light as at its highest. */
  foot?: number
  /** How far it shines by itself at night. */
  glow?: number
}

/** How much light of the room's lamps a point of the floor has. */
export type Lamps = (x: number, z: number) => number

/** Collects triangles. */
export class Builder {
  private readonly numbers: number[] = []
  lamps: Lamps = () => 0

  /** A box by its middle and its size. */
  box(x: number, y: number, z: number, width: number, height: number, depth: number, paint: Paint): this {
    const [w, h, d] = [width / 2, height / 2, depth / 2]
    const corner = (sx: number, sy: number, sz: number): Corner => [x + sx * w, y + sy * h, z + sz * d]
    const low = y - h
    for (const [normal, right, up] of FACES) {
      const at = (r: number, u: number) => corner(normal[0] + right[0] * r + up[0] * u, normal[1] + right[1] * r + up[1] * u, normal[2] + right[2] * r + up[2] * u)
      this.quad(at(-1, -1), at(1, -1), at(1, 1), at(-1, 1), normal, paint, low, height)
    }
    return this
  }

  /** A box whose edges are cut off by `soft`, with the light of round ones. */
  soft(x: number, y: number, z: number, width: number, height: number, depth: number, soft: number, paint: Paint): this {
    const half: Corner = [width / 2, height / 2, depth / 2]
    const stop = (axis: number, at: number) => [-half[axis]!, soft - half[axis]!, half[axis]! - soft, half[axis]!][at]!
    const point = ([normal, right, up]: (typeof FACES)[number], i: number, j: number): [Corner, Corner] => {
      const at = [0, 1, 2].map(axis => {
        if (normal[axis]) return normal[axis]! * half[axis]!
        return right[axis] ? right[axis]! * stop(axis, i) : up[axis]! * stop(axis, j)
      })
      const inner = at.map((value, axis) => Math.max(soft - half[axis]!, Math.min(half[axis]! - soft, value)))
      const out = unit([at[0]! - inner[0]!, at[1]! - inner[1]!, at[2]! - inner[2]!])
      return [[x + inner[0]! + out[0] * soft, y + inner[1]! + out[1] * soft, z + inner[2]! + out[2] * soft], out]
    }
    for (const face of FACES) {
      for (let i = 0; i < 3; i++) {
        for (let j = 0; j < 3; j++) {
          const four = [point(face, i, j), point(face, i + 1, j), point(face, i + 1, j + 1), point(face, i, j + 1)]
          this.face(four.map(one => one[0]), four.map(one => one[1]), paint, y - height / 2, height)
        }
      }
    }
    return this
  }

  /** A shape turned about an upright axis, by its outline of radius and height from below. */
  turned(x: number, y: number, z: number, outline: readonly (readonly [number, number])[], sides: number, paint: Paint): this {
    const [low, high] = [outline[0]![1], outline.at(-1)![1]]
    const slope = outline.map(([radius, height], at) => {
      const [before, after] = [outline[Math.max(0, at - 1)]!, outline[Math.min(outline.length - 1, at + 1)]!]
      const [across, along] = [after[1] - before[1], after[0] - before[0]]
      const length = Math.hypot(across, along) || 1
      return { radius, height, out: across / length, up: -along / length }
    })
    const at = (ring: number, side: number): [Corner, Corner] => {
      const angle = (side / sides) * 2 * Math.PI
      const [s, c] = [Math.sin(angle), Math.cos(angle)]
      const { radius, height, out, up } = slope[ring]!
      return [[x + radius * s, y + height, z + radius * c], [out * s, up, out * c]]
    }
    for (let ring = 0; ring + 1 < outline.length; ring++) {
      for (let side = 0; side < sides; side++) {
        const four = [at(ring, side), at(ring, side + 1), at(ring + 1, side + 1), at(ring + 1, side)]
        this.face(four.map(one => one[0]), four.map(one => one[1]), paint, y + low, high - low)
      }
    }
    return this
  }

  /** A ball, or an egg. */
  ball(x: number, y: number, z: number, radius: number, paint: Paint, sides = 9, high = radius): this {
    const rings = 6
    const outline = Array.from({ length: rings + 1 }, (_, at): [number, number] => [Math.sin((Math.PI * at) / rings) * radius, -Math.cos((Math.PI * at) / rings) * high])
    return this.turned(x, y, z, outline, sides, paint)
  }

  /** A piece of floor, divided so finely that the light of lamps falls off on it. */
  floor(x: number, y: number, z: number, width: number, depth: number, paint: (x: number, z: number) => Rgb, parts = 8): this {
    for (let i = 0; i < parts; i++) {
      for (let j = 0; j < parts; j++) {
        const four = ([[i, j + 1], [i + 1, j + 1], [i + 1, j], [i, j]] as const).map(([a, b]): Corner => [x + (a / parts - 0.5) * width, y, z + (b / parts - 0.5) * depth])
        for (const at of [0, 1, 2, 0, 2, 3]) this.point(four[at]!, UP, paint(four[at]![0], four[at]![2]), 0)
      }
    }
    return this
  }

  /** The numbers of all points, one after the other: where it is, where it looks, its colour, and its light. */
  build(): Float32Array {
    return new Float32Array(this.numbers)
  }

  private quad(a: Corner, b: Corner, c: Corner, d: Corner, normal: Corner, paint: Paint, low: number, height: number): void {
    this.face([a, b, c, d], [normal, normal, normal, normal], paint, low, height)
  }

  private face(four: readonly Corner[], normals: readonly Corner[], { tint, foot = 1, glow = 0 }: Paint, low: number, height: number): void {
    for (const at of [0, 1, 2, 0, 2, 3]) {
      const point = four[at]!
      const shade = foot + (1 - foot) * Math.min(1, Math.max(0, (point[1] - low) / (height || 1)))
      this.point(point, normals[at]!, [tint[0] * shade, tint[1] * shade, tint[2] * shade], glow)
    }
  }

  private point(at: Corner, normal: Corner, tint: Rgb, glow: number): void {
    this.numbers.push(...at, ...normal, ...tint, this.lamps(at[0], at[2]), glow)
  }
}

const UP: Corner = [0, 1, 0]
/** The six sides of a box: where it looks, and its right and its up as one sees it. */
const FACES: readonly [Corner, Corner, Corner][] = [
  [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
  [[0, 0, -1], [-1, 0, 0], [0, 1, 0]],
  [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
  [[-1, 0, 0], [0, 0, 1], [0, 1, 0]],
  [[0, 1, 0], [1, 0, 0], [0, 0, -1]],
  [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
]

function unit([x, y, z]: Corner): Corner {
  const length = Math.hypot(x, y, z)
  return [x / length, y / length, z / length]
}

const WHITE: Rgb = [1, 1, 1]
const DARK: Rgb = [0.13, 0.14, 0.18]

/** A desk with its drawer, on whose front the bar of the context is. */
export function desk(): Float32Array {
  const wood: Paint = { tint: WHITE, foot: 0.8 }
  return new Builder()
    .box(0, 0.6, 0, 1.62, 0.08, 0.76, wood)
    .box(-0.72, 0.28, 0, 0.09, 0.56, 0.66, { tint: WHITE, foot: 0.6 })
    .box(0.72, 0.28, 0, 0.09, 0.56, 0.66, { tint: WHITE, foot: 0.6 })
    .box(0, 0.42, 0.33, 1.48, 0.26, 0.04, { tint: [0.86, 0.84, 0.82], foot: 0.85 })
    .box(0, 0.42, 0.352, 1.36, 0.15, 0.02, { tint: [0.48, 0.42, 0.38] })
    .box(0, 0.65, 0.02, 0.8, 0.03, 0.46, { tint: [0.5, 0.55, 0.62] })
    .build()
}

/** A unit box, for screens, bars and papers. */
export function box(): Float32Array {
  return new Builder().box(0, 0, 0, 1, 1, 1, { tint: WHITE }).build()
}

/** A head that looks along z: its middle is where it is held. */
export function head(): Float32Array {
  const skin: Paint = { tint: WHITE, foot: 0.86 }
  return new Builder()
    .soft(0, 0, 0, 0.74, 0.58, 0.54, 0.18, skin)
    .box(0, -0.005, 0.235, 0.57, 0.36, 0.11, { tint: DARK })
    .box(-0.39, 0.0, 0, 0.07, 0.17, 0.17, { tint: [0.86, 0.86, 0.86] })
    .box(0.39, 0.0, 0, 0.07, 0.17, 0.17, { tint: [0.86, 0.86, 0.86] })
    .box(0, 0.36, 0, 0.035, 0.16, 0.035, { tint: [0.8, 0.8, 0.8] })
    .ball(0, 0.46, 0, 0.06, { tint: [1.1, 1.1, 1.1] }, 6)
    .build()
}

/** A body that stands on its lowest point. */
export function body(): Float32Array {
  return new Builder().turned(0, 0, 0, [[0, 0], [0.2, 0.01], [0.285, 0.12], [0.31, 0.3], [0.28, 0.5], [0.19, 0.65], [0.07, 0.71], [0, 0.715]], 11, { tint: WHITE, foot: 0.72 }).build()
}

/** An arm that hangs down from where it is held. */
export function arm(): Float32Array {
  return new Builder().turned(0, 0, 0, [[0, -0.48], [0.09, -0.45], [0.105, -0.38], [0.085, -0.1], [0.07, 0.02], [0, 0.06]], 7, { tint: WHITE, foot: 0.92 }).build()
}

export function coin(): Float32Array {
  return new Builder().turned(0, 0, 0, [[0, 0], [0.115, 0], [0.115, 1], [0, 1.02]], 8, { tint: WHITE, foot: 0.8 }).build()
}

/** A cat that looks along z. */
export function cat(): Float32Array {
  const fur: Paint = { tint: WHITE, foot: 0.75 }
  return new Builder()
    .soft(0, 0.25, 0, 0.24, 0.22, 0.56, 0.1, fur)
    .ball(0, 0.42, 0.3, 0.16, fur, 9)
    .box(-0.09, 0.57, 0.29, 0.06, 0.1, 0.04, fur)
    .box(0.09, 0.57, 0.29, 0.06, 0.1, 0.04, fur)
    .box(-0.07, 0.08, 0.2, 0.06, 0.16, 0.07, fur)
    .box(0.07, 0.08, 0.2, 0.06, 0.16, 0.07, fur)
    .box(-0.07, 0.08, -0.2, 0.06, 0.16, 0.07, fur)
    .box(0.07, 0.08, -0.2, 0.06, 0.16, 0.07, fur)
    .box(0, 0.45, -0.34, 0.05, 0.36, 0.05, fur)
    .build()
}

/** A flat square that looks along z, and one that lies on the floor; their light says where on the picture a point is. */
export function square(isOnFloor = false): Float32Array {
  const corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]] as const
  return new Float32Array(corners.flatMap(([x, y]) => [x, isOnFloor ? 0 : y, isOnFloor ? -y : 0, 0, 0, 1, 1, 1, 1, x + 0.5, y + 0.5]))
}
