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

/** Beside a parent, in an arc behind it. */
export function besidePlace(parent: Point, number: number): Point {
  const angle = Math.PI * (0.12 + (0.76 * (number + 0.5)) / BESIDE)
  return { x: parent.x + Math.cos(angle) * 1.05, z: parent.z + Math.sin(angle) * 0.95 }
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
