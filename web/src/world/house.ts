// What stands still: rooms with what is in them, paths and trees, as one shape that is built when a room changes.

import { hash } from './crew.ts'
import { GAP, seen, floorAt, sizeOf, WALL, type Bounds } from './layout.ts'
import { mixed, projectColour, rgb, type Look, type Rgb } from './look.ts'
import { Builder } from './shapes.ts'
import type { Room } from './types.ts'

const THICK = 0.16
const POT = rgb('#c4744f')
const POLE = rgb('#7a6a56')
const FRAME: Rgb = [0.98, 0.96, 0.92]
const TREES = 64
/** How far around the rooms trees stand, in units of the screen. */
const MEADOW = 13

export function house(rooms: readonly Room[], look: Look): Float32Array {
  const builder = new Builder()
  for (const room of rooms) furnish(builder, room, look)
  builder.lamps = () => 0
  for (const room of rooms) path(builder, room, look)
  return builder.build()
}

/** What grows around the rooms, and where: its soft shadows are drawn apart. */
export function meadow(bounds: Bounds, look: Look): { points: Float32Array; trees: Tree[] } {
  const builder = new Builder()
  return { trees: plant(builder, bounds, look), points: builder.build() }
}

export interface Tree {
  x: number
  z: number
  /** Where it is on the screen, in units. */
  right: number
  up: number
  size: number
}

function furnish(builder: Builder, room: Room, look: Look): void {
  const { x, z } = room.centre
  const { width, depth } = sizeOf(room)
  const [left, right, back, front] = [x - width / 2, x + width / 2, z - depth / 2, z + depth / 2]
  const number = hash(room.key)
  const colour = rgb(projectColour(number))
  const lamp = { x: right - 0.4, z: back + 0.42 }
  builder.lamps = (px, pz) => Math.min(1.25, Math.exp(-((px - lamp.x) ** 2 + (pz - lamp.z) ** 2) / 5) + 0.8 * Math.exp(-((px - x) ** 2 + (pz - z) ** 2) / (2.2 + width * 0.9)))
  builder.soft(x, -0.17, z, width + 0.44, 0.34, depth + 0.44, 0.1, { tint: look.slab, foot: 0.72 })
  // The floor is darker under the walls; the rug has the colour of the project.
  const near = (px: number, pz: number) => 1 - 0.16 * Math.exp(-Math.min(px - left, pz - back) / 0.3)
  const shade = (tint: Rgb, by: number): Rgb => [tint[0] * by, tint[1] * by, tint[2] * by]
  builder.floor(x, 0.01, z, width, depth, (px, pz) => shade(look.floor, near(px, pz)), 8)
  const rug = mixed(look.floor, shade(colour, 0.42 + 0.58 * (1 - look.glow * 0.45)), look.rug + 0.12)
  builder.floor(x, 0.022, z + 0.08, width - 0.9, depth - 0.95, () => rug, 8)
  builder.floor(x, 0.017, z + 0.08, width - 0.72, depth - 0.77, () => shade(rug, 0.93), 1)
  walls(builder, { left, right, back, front }, look)
  hang(builder, room, number, colour, look)
  // The lamp in the far corner, the plant at the near one.
  builder.turned(lamp.x, 0, lamp.z, [[0.2, 0.02], [0.2, 0.06], [0.03, 0.08], [0.03, 1.5]], 9, { tint: POLE })
  builder.turned(lamp.x, 1.35, lamp.z, [[0.34, 0], [0.2, 0.38], [0, 0.38]], 12, { tint: look.shade, glow: 1 })
  const bush = { x: left + 0.42, z: front - 0.42 }
  builder.turned(bush.x, 0.01, bush.z, [[0.16, 0], [0.24, 0.36], [0.2, 0.37], [0, 0.37]], 9, { tint: POT, foot: 0.8 })
  for (const [dx, high, dz, radius] of [[0, 0.66, 0, 0.33], [0.2, 0.86, 0.06, 0.23], [-0.18, 0.9, -0.04, 0.22]] as const) {
    builder.ball(bush.x + dx, high, bush.z + dz, radius, { tint: look.leaf, foot: 0.74 }, 8)
  }
}

function walls(builder: Builder, { left, right, back, front }: { left: number; right: number; back: number; front: number }, look: Look): void {
  const [x, z] = [(left + right) / 2, (back + front) / 2]
  const [width, depth] = [right - left, front - back]
  builder.box(x - THICK / 2, WALL / 2, back - THICK / 2, width + THICK, WALL, THICK, { tint: look.wall, foot: 0.8 })
  builder.box(left - THICK / 2, WALL / 2, z, THICK, WALL, depth, { tint: look.wall, foot: 0.8 })
  builder.box(x - THICK / 2, WALL + 0.03, back - THICK / 2, width + THICK + 0.08, 0.07, THICK + 0.1, { tint: look.trim })
  builder.box(left - THICK / 2, WALL + 0.03, z + 0.02, THICK + 0.1, 0.07, depth + 0.02, { tint: look.trim })
  builder.box(x, 0.06, back + 0.02, width, 0.12, 0.04, { tint: look.trim, foot: 0.9 })
}

/** Windows and pictures on the back wall, one over each column of desks. */
function hang(builder: Builder, room: Room, number: number, colour: Rgb, look: Look): void {
  const { width, depth } = sizeOf(room)
  const back = room.centre.z - depth / 2
  const pane = { tint: look.pane, glow: 1 }
  for (let column = 0; column < room.columns; column++) {
    const x = room.centre.x + (column - (room.columns - 1) / 2) * ((width - 1.2) / Math.max(1, room.columns)) - 0.2
    if (column && (number >> column) % 3 === 0) {
      builder.box(x, 0.76, back + 0.03, 0.62, 0.5, 0.06, { tint: mixed(POLE, FRAME, 0.2) })
      builder.box(x, 0.76, back + 0.066, 0.5, 0.38, 0.02, { tint: colour })
      builder.box(x + 0.06, 0.7, back + 0.08, 0.2, 0.2, 0.012, { tint: mixed(colour, POT, 0.6) })
      continue
    }
    builder.box(x, 0.78, back + 0.03, 0.98, 0.56, 0.06, { tint: mixed(look.trim, FRAME, 0.4) })
    for (const side of [-1, 1]) builder.box(x + side * 0.23, 0.78, back + 0.066, 0.4, 0.44, 0.02, pane)
    builder.box(x, 0.49, back + 0.06, 1.04, 0.05, 0.12, { tint: look.trim })
  }
}

function path(builder: Builder, room: Room, look: Look): void {
  const { width, depth } = sizeOf(room)
  builder.box(room.centre.x, -0.34, room.centre.z + depth / 2 + 0.8, width + GAP.x + 0.02, 0.02, 0.7, { tint: look.path })
}

/** Trees around the rooms, the same ones in the same places as long as the rooms are. */
function plant(builder: Builder, bounds: Bounds, look: Look): Tree[] {
  const trees: Tree[] = []
  let seed = 7
  const next = () => ((seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff), seed / 0x7fffffff)
  const [wide, high] = [bounds.right - bounds.left, bounds.top - bounds.bottom]
  for (let tries = 0; tries < 400 && trees.length < TREES; tries++) {
    // Most of them are near; some stand together.
    const away = 0.9 + next() ** 2 * MEADOW
    const along = next() * 2 - 1
    const side = next() * (2 * wide + 2 * high)
    const isBeside = side > 2 * wide
    const sign = next() < 0.5 ? -1 : 1
    const right = (bounds.left + bounds.right) / 2 + (isBeside ? sign * (wide / 2 + away) : along * (wide / 2 + MEADOW / 2))
    const up = (bounds.bottom + bounds.top) / 2 + (isBeside ? along * (high / 2 + MEADOW / 2) : sign * (high / 2 + away))
    const size = 0.75 + next() * 0.5
    const warm = next()
    // One that stands before a room would hide it.
    if (right > bounds.left - 0.8 && right < bounds.right + 0.8 && up > bounds.bottom - 2.5 && up < bounds.top + 0.2) continue
    if (trees.some(tree => Math.hypot(tree.right - right, tree.up - up) < 0.75)) continue
    const at = floorAt(right, up + seen(0, 0.31, 0).up)
    tree(builder, at.x, at.z, size, mixed(look.leaf, mixed(look.leaf, POT, 0.3), warm * 0.7), look)
    trees.push({ x: at.x, z: at.z, right, up, size })
  }
  return trees
}

function tree(builder: Builder, x: number, z: number, size: number, tint: Rgb, look: Look): void {
  const ground = -0.31
  builder.turned(x, ground, z, [[0.12 * size, 0], [0.08 * size, 0.9 * size]], 6, { tint: mixed(POLE, look.wood, 0.3), foot: 0.8 })
  for (const [dx, high, dz, radius] of [[0, 1.25, 0, 0.62], [0.34, 1.62, 0.1, 0.42], [-0.3, 1.7, 0.05, 0.44]] as const) {
    builder.ball(x + dx * size, ground + high * size, z + dz * size, radius * size, { tint, foot: 0.66 }, 9)
  }
}

/** Where rooms and trees throw soft shadows on the ground: the middle, half the size, and how soft. */
export function groundShadows(rooms: readonly Room[], trees: readonly Tree[]): { x: number; z: number; width: number; depth: number; soft: number }[] {
  const ofTrees = trees.map(({ x, z, size }) => ({ x: x + 0.4 * size, z: z + 0.05, width: 0.95 * size, depth: 0.7 * size, soft: 0.68 * size }))
  const ofRooms = rooms.map(room => {
    const { width, depth } = sizeOf(room)
    return { x: room.centre.x + 0.35, z: room.centre.z + 0.3, width: width / 2 + 0.9, depth: depth / 2 + 0.8, soft: 0.9 }
  })
  return [...ofRooms, ...ofTrees]
}
