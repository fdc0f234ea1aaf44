// Where rooms, desks and doors are. Pure.

import type { Point } from './types.ts'

export const ROOM = { width: 13, depth: 10, gap: 2.4 }
/** How many agents of a room are shown, and how many sub-agents beside one. */
export const AGENTS_SHOWN = 15
export const SUBAGENTS_SHOWN = 8
/** Desks are taken from the middle outwards, so that a few agents sit together. */
const COLUMNS = [2, 1, 3, 0, 4]
const ROWS = [1, 0, 2]

/** How many rooms a tall screen shows in one column, where they are larger than in two. */
const COLUMN = 4

/** The centre of the room with this number. Rooms fill a growing square, or columns on a tall screen, so that existing rooms never move. */
export function roomCentre(place: number, isTall = false): Point {
  const { column, row } = isTall ? inColumns(place) : inSquare(place)
  return { x: column * (ROOM.width + ROOM.gap), z: row * (ROOM.depth + ROOM.gap) }
}

function inSquare(place: number): { column: number; row: number } {
  const ring = Math.floor(Math.sqrt(place))
  const inRing = place - ring * ring
  const column = inRing <= ring ? inRing : ring
  return { column, row: inRing <= ring ? ring : inRing - ring - 1 }
}

function inColumns(place: number): { column: number; row: number } {
  if (place < 2 * COLUMN) return { column: Math.floor(place / COLUMN), row: place % COLUMN }
  return { column: place % 2, row: Math.floor(place / 2) }
}

/** Where an agent stands at a desk. */
export function deskPlace(centre: Point, desk: number): Point {
  const column = COLUMNS[desk % COLUMNS.length]!
  const row = ROWS[Math.floor(desk / COLUMNS.length) % ROWS.length]!
  return { x: centre.x + (column - 2) * 2.3, z: centre.z - 2.6 + row * 2.7 }
}

/** Where the desk itself is: in front of its agent. */
export function deskTop(centre: Point, desk: number): Point {
  const place = deskPlace(centre, desk)
  return { x: place.x, z: place.z - 0.85 }
}

/** Places on an arc from its middle outwards, so that a few sub-agents are right behind their parent. */
const ARC = [3, 4, 2, 5, 1, 6, 0, 7]

/** Where a sub-agent stands: on an arc behind its parent. */
export function subagentPlace(parent: Point, number: number): Point {
  const angle = Math.PI * (0.04 + (0.92 * (ARC[number % SUBAGENTS_SHOWN]! + 0.5)) / SUBAGENTS_SHOWN)
  return { x: parent.x + Math.cos(angle) * 1.3, z: parent.z + Math.sin(angle) * 1.25 }
}

/** What the camera has to show: a centre, and the corners of a box around it. */
export interface Bounds {
  middle: Point
  corners: [number, number, number][]
}

/** The bounds of these rooms. */
export function boundsOf(centres: readonly Point[]): Bounds {
  const xs = centres.map(centre => centre.x)
  const zs = centres.map(centre => centre.z)
  const [left, right] = [Math.min(...xs) - ROOM.width / 2, Math.max(...xs) + ROOM.width / 2]
  const [back, front] = [Math.min(...zs) - ROOM.depth / 2, Math.max(...zs) + ROOM.depth / 2]
  const corners = [0, 1.6].flatMap(y => [left, right].flatMap(x => [back, front].map((z): [number, number, number] => [x, y, z])))
  return { middle: { x: (left + right) / 2, z: (back + front) / 2 }, corners }
}

/** The share of the screen that the rooms may fill; the rest is for the controls over them. */
const USED = { width: 0.92, height: 0.74 }

/** The distance from which all of it is visible; `towards` is the unit vector from the centre to the camera, `half` half its field of view. */
export function distanceFor(bounds: Bounds, towards: [number, number, number], half: number, aspect: number): number {
  const [dx, dy, dz] = towards
  const flat = Math.hypot(dx, dz) || 1
  const right = [dz / flat, 0, -dx / flat]
  const up = [dy * right[2]! - dz * right[1]!, dz * right[0]! - dx * right[2]!, dx * right[1]! - dy * right[0]!]
  const high = Math.tan(half) * USED.height
  const wide = Math.tan(half) * aspect * USED.width
  return Math.max(
    ...bounds.corners.map(([x, y, z]) => {
      const at = [x - bounds.middle.x, y, z - bounds.middle.z]
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
