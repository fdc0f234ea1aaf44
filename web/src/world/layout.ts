// Where rooms, desks and doors are. Pure.

import type { Point } from './types.ts'

export const ROOM = { width: 13, depth: 10, gap: 2.4 }
/** How many agents of a room are shown, and how many sub-agents beside one. */
export const SHOWN = 15
export const BESIDE = 8
/** Desks are taken from the middle on, so that a small company sits together. */
const COLUMNS = [2, 1, 3, 0, 4]
const ROWS = [1, 0, 2]

/** The middle of a room by its place: rooms fill squares, so that earlier ones never move. */
export function roomCentre(place: number): Point {
  const ring = Math.floor(Math.sqrt(place))
  const inRing = place - ring * ring
  const column = inRing <= ring ? inRing : ring
  const row = inRing <= ring ? ring : inRing - ring - 1
  return { x: column * (ROOM.width + ROOM.gap), z: row * (ROOM.depth + ROOM.gap) }
}

/** Where one stands at a desk. */
export function deskPlace(centre: Point, desk: number): Point {
  const column = COLUMNS[desk % COLUMNS.length]!
  const row = ROWS[Math.floor(desk / COLUMNS.length) % ROWS.length]!
  return { x: centre.x + (column - 2) * 2.3, z: centre.z - 2.6 + row * 2.7 }
}

/** Where the desk itself is: before the one who stands at it. */
export function deskTop(centre: Point, desk: number): Point {
  const place = deskPlace(centre, desk)
  return { x: place.x, z: place.z - 0.85 }
}

/** Places of an arc from the middle on, so that a few are right behind their parent. */
const ARC = [3, 4, 2, 5, 1, 6, 0, 7]

/** Beside a parent, in an arc behind it. */
export function besidePlace(parent: Point, number: number): Point {
  const angle = Math.PI * (0.04 + (0.92 * (ARC[number % BESIDE]! + 0.5)) / BESIDE)
  return { x: parent.x + Math.cos(angle) * 1.3, z: parent.z + Math.sin(angle) * 1.25 }
}

/** What is to be seen: a middle, and points around it. */
export interface Sight {
  middle: Point
  corners: [number, number, number][]
}

/** All of these rooms. */
export function sightOf(centres: readonly Point[]): Sight {
  const xs = centres.map(centre => centre.x)
  const zs = centres.map(centre => centre.z)
  const [left, right] = [Math.min(...xs) - ROOM.width / 2, Math.max(...xs) + ROOM.width / 2]
  const [back, front] = [Math.min(...zs) - ROOM.depth / 2, Math.max(...zs) + ROOM.depth / 2]
  const corners = [0, 1.6].flatMap(y => [left, right].flatMap(x => [back, front].map((z): [number, number, number] => [x, y, z])))
  return { middle: { x: (left + right) / 2, z: (back + front) / 2 }, corners }
}

/** How much of the screen's width and height is used; the rest is for what lies over it. */
const USED = { width: 0.92, height: 0.74 }

/** From how far one sees all of it: `towards` leads from the middle to the eye and is 1 long, `half` is half the angle of sight. */
export function distanceFor(sight: Sight, towards: [number, number, number], half: number, aspect: number): number {
  const [dx, dy, dz] = towards
  const flat = Math.hypot(dx, dz) || 1
  const right = [dz / flat, 0, -dx / flat]
  const up = [dy * right[2]! - dz * right[1]!, dz * right[0]! - dx * right[2]!, dx * right[1]! - dy * right[0]!]
  const high = Math.tan(half) * USED.height
  const wide = Math.tan(half) * aspect * USED.width
  return Math.max(
    ...sight.corners.map(([x, y, z]) => {
      const at = [x - sight.middle.x, y, z - sight.middle.z]
      const along = (axis: readonly number[]) => axis[0]! * at[0]! + axis[1]! * at[1]! + axis[2]! * at[2]!
      return along(towards) + Math.max(Math.abs(along(right)) / wide, Math.abs(along(up)) / high)
    }),
  )
}

export function door(centre: Point): Point {
  return { x: centre.x, z: centre.z + ROOM.depth / 2 }
}

/** The first free desk. */
export function freeDesk(taken: ReadonlySet<number>): number {
  let desk = 0
  while (taken.has(desk)) desk++
  return desk
}
