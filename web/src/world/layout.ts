// Where rooms and desks are, and how large they are on the screen. Pure.

import type { Point, Room } from './types.ts'

/** From where the world is seen: by how much from the side, and from above. */
export const YAW = (17 * Math.PI) / 180
export const PITCH = (37 * Math.PI) / 180
const [SIN, COS, TILT, RISE] = [Math.sin(YAW), Math.cos(YAW), Math.sin(PITCH), Math.cos(PITCH)]

/** How many agents of a room are shown, and how many sub-agents before one. */
export const AGENTS_SHOWN = 15
export const SUBAGENTS_SHOWN = 4
const CELL = { width: 2.25, depth: 2.75, extra: 0.95 }
const PADDING = { side: 0.55, back: 0.75, front: 0.45 }
const NARROWEST = 3.3
const MOST_COLUMNS = 5
/** The gaps between rooms, in which the paths are; where all is small, names need more of them. */
export const GAP = { x: 0.95, z: 2, wide: 3.1 }
const SMALL = 18
export const WALL = 1.25
/** What stands over the walls: heads with a pin, and the names of the rooms. */
const ABOVE = 0.95
/** How far a desk is before the one who sits at it, and sub-agents before the desk. */
export const DESK = { before: 0.78, width: 1.6, depth: 0.76 }
const SUBS = { before: 1.12, apart: 0.52 }
/** How many widths of a shelf are tried. */
const TRIES = 150
/** No room is larger on the screen, in pixels for a unit. */
export const NEAREST = 84

export function columnsFor(agents: number): number {
  return agents <= 2 ? Math.max(1, agents) : Math.min(MOST_COLUMNS, Math.ceil(Math.sqrt(1.5 * agents)))
}

export function rowsFor(agents: number): number {
  return Math.max(1, Math.ceil(agents / columnsFor(agents)))
}

export type Furnished = Pick<Room, 'columns' | 'extras'>

/** Where nobody is: a room with one desk, for the next project. */
export const EMPTY_ROOM: Room = { key: 'next', name: 'your next project', place: 0, columns: 1, extras: [false], centre: { x: 0, z: 0 }, goal: { x: 0, z: 0 }, hidden: 0 }

export function sizeOf({ columns, extras }: Furnished): { width: number; depth: number } {
  const depth = extras.reduce((sum, extra) => sum + CELL.depth + (extra ? CELL.extra : 0), PADDING.back + PADDING.front)
  return { width: Math.max(NARROWEST, columns * CELL.width + 2 * PADDING.side), depth }
}

/** Where an agent sits, from the middle of its room. */
export function seatPlace(room: Furnished, desk: number): Point {
  const row = Math.floor(desk / room.columns)
  const before = room.extras.slice(0, row).reduce((sum, extra) => sum + CELL.depth + (extra ? CELL.extra : 0), 0)
  return { x: ((desk % room.columns) - (room.columns - 1) / 2) * CELL.width, z: PADDING.back + before + 0.6 - sizeOf(room).depth / 2 }
}

/** Where one of so many sub-agents stands: before the desk of its parent. */
export function subagentPlace(seat: Point, number: number, count: number): Point {
  return { x: seat.x + (number - (Math.min(count, SUBAGENTS_SHOWN) - 1) / 2) * SUBS.apart, z: seat.z + DESK.before + SUBS.before }
}

/** Where one comes in: on the path before the room, in line with the way to its desk. */
export function entrance(room: Furnished, seat: Point): Point {
  return { x: aisle(seat), z: sizeOf(room).depth / 2 + 0.75 }
}

/** The way to a seat, which goes between the desks. */
export function wayTo(room: Furnished, seat: Point): Point[] {
  const start = entrance(room, seat)
  return [start, { x: start.x, z: seat.z }, seat]
}

function aisle(seat: Point): number {
  return seat.x + CELL.width / 2
}

/** A point as it is on the screen, in units to the right and up. */
export function seen(x: number, y: number, z: number): { right: number; up: number } {
  return { right: x * COS - z * SIN, up: y * RISE - (x * SIN + z * COS) * TILT }
}

/** The point of the floor that is seen there. */
export function floorAt(right: number, up: number): Point {
  const away = -up / TILT
  return { x: right * COS + away * SIN, z: away * COS - right * SIN }
}

export interface Bounds {
  left: number
  right: number
  bottom: number
  top: number
}

type Placed = Furnished & { centre: Point }

/** What of the screen these rooms fill, in units. */
export function boundsOf(rooms: readonly Placed[]): Bounds {
  const found: Bounds = { left: Infinity, right: -Infinity, bottom: Infinity, top: -Infinity }
  for (const room of rooms) {
    const { width, depth } = sizeOf(room)
    for (const [x, y, z] of [[-1, 0, -1], [1, 0, -1], [-1, 0, 1], [1, 0, 1], [-1, 1, -1], [1, 1, -1], [-1, 1, 1]] as const) {
      const high = z < 0 ? WALL + ABOVE : WALL
      const at = seen(room.centre.x + (x * (width + 0.5)) / 2, y * high, room.centre.z + (z * (depth + 0.5)) / 2)
      found.left = Math.min(found.left, at.right)
      found.right = Math.max(found.right, at.right)
      found.bottom = Math.min(found.bottom, at.up)
      found.top = Math.max(found.top, at.up)
    }
  }
  return found
}

/** How large these bounds can be shown, in pixels for a unit. */
export function scaleFor(bounds: Bounds, width: number, height: number): number {
  return Math.min(NEAREST, width / (bounds.right - bounds.left), height / (bounds.top - bounds.bottom))
}

/** The middles of rooms on shelves, in the order of the rooms; of many widths of a shelf the one that shows them largest. */
export function arrange(rooms: readonly Furnished[], screen: { width: number; height: number }): Point[] {
  if (!rooms.length) return []
  const sizes = rooms.map(sizeOf)
  const widest = Math.max(...sizes.map(size => size.width))
  const all = sizes.reduce((sum, size) => sum + size.width + GAP.x, 0)
  // Deep rooms beside deep ones leave the least empty.
  const order = sizes.map((_, at) => at).sort((one, other) => sizes[other]!.depth - sizes[one]!.depth || sizes[other]!.width - sizes[one]!.width || one - other)
  const found = (gap: number) => bestOf(number => shelve(sizes, order, widest + ((all - widest) * number) / (TRIES - 1), gap), rooms, screen)
  const best = found(GAP.z)
  return best.scale < SMALL ? found(GAP.wide).places : best.places
}

/** The places that show the rooms largest. */
function bestOf(placed: (number: number) => Point[], rooms: readonly Furnished[], screen: { width: number; height: number }): { scale: number; places: Point[] } {
  let best: { scale: number; places: Point[] } | undefined
  for (let number = 0; number < TRIES; number++) {
    const places = placed(number)
    const scale = scaleFor(boundsOf(rooms.map((room, at) => ({ ...room, centre: places[at]! }))), screen.width, screen.height)
    if (!best || scale > best.scale * 1.0001) best = { scale, places }
  }
  return best!
}

function shelve(sizes: readonly { width: number; depth: number }[], order: readonly number[], most: number, gap: number): Point[] {
  const places: Point[] = new Array(sizes.length)
  let z = 0
  for (let from = 0; from < order.length; ) {
    let to = from
    let width = 0
    while (to < order.length && (to === from || width + sizes[order[to]!]!.width <= most)) width += sizes[order[to++]!]!.width + GAP.x
    width -= GAP.x
    const depth = sizes[order[from]!]!.depth
    // Shelves stand straight under each other on the screen, though they are seen from the side.
    let x = (z + depth / 2) * Math.tan(YAW) - width / 2
    for (const at of order.slice(from, to)) {
      const size = sizes[at]!
      places[at] = { x: x + size.width / 2, z: z + depth - size.depth / 2 }
      x += size.width + GAP.x
    }
    z += depth + gap
    from = to
  }
  return places
}

/** The first free desk. */
export function freeDesk(taken: ReadonlySet<number>): number {
  let desk = 0
  while (taken.has(desk)) desk++
  return desk
}
