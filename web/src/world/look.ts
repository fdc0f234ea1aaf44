// How the world looks by day, at dusk and by night. Pure.

import type { Kind } from './types.ts'

/** Red, green and blue, from 0 to 1. */
export type Rgb = readonly [number, number, number]

export function rgb(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16)
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255]
}

export function mixed(one: Rgb, other: Rgb, part: number): Rgb {
  return [one[0] + (other[0] - one[0]) * part, one[1] + (other[1] - one[1]) * part, one[2] + (other[2] - one[2]) * part]
}

/** A time of the day: its colours are blended with those of the next. */
export interface Look {
  /** Behind the world, from its top to its bottom. */
  skyTop: Rgb
  skyBottom: Rgb
  floor: Rgb
  wall: Rgb
  trim: Rgb
  slab: Rgb
  path: Rgb
  wood: Rgb
  leaf: Rgb
  pane: Rgb
  shade: Rgb
  /** Light from above and from below, and of the sun. */
  above: Rgb
  below: Rgb
  sun: Rgb
  /** What lamps give, and how far panes and screens shine by themselves. */
  lamp: Rgb
  glow: number
  /** How much of a project's own colour its rug has, and how dark shadows are. */
  rug: number
  shadow: number
}

const look = (colours: Record<string, string>, glow: number, rug: number, shadow: number): Look =>
  ({ ...Object.fromEntries(Object.entries(colours).map(([name, hex]) => [name, rgb(hex)])), glow, rug, shadow }) as unknown as Look

export const DAY = look(
  {
    skyTop: '#cfe5ea', skyBottom: '#d3deb9', floor: '#f3ecdd', wall: '#efe3cd', trim: '#f7efdf', slab: '#d9c8a6', path: '#ece2cb', wood: '#d9a66c', leaf: '#7bb36a', pane: '#aed6ea', shade: '#f7e3b4',
    above: '#9aa0a8', below: '#7d7366', sun: '#7c7464', lamp: '#000000',
  },
  0, 0.42, 0.16,
)
export const DUSK = look(
  {
    skyTop: '#8f93bd', skyBottom: '#d9b596', floor: '#ecd9c6', wall: '#dfbfa6', trim: '#eccfb4', slab: '#b98a6c', path: '#d3ab8f', wood: '#c68c58', leaf: '#7d9a58', pane: '#ffdf9a', shade: '#ffe8a8',
    above: '#85809a', below: '#6a5350', sun: '#6e5541', lamp: '#3a2714',
  },
  0.55, 0.42, 0.24,
)
export const NIGHT = look(
  {
    skyTop: '#141a2e', skyBottom: '#1f2740', floor: '#8d8da8', wall: '#7c7e9f', trim: '#9292b4', slab: '#4b4d70', path: '#343a59', wood: '#a87c58', leaf: '#47688a', pane: '#ffd98a', shade: '#ffe4a0',
    above: '#5a6190', below: '#3a3654', sun: '#2c3050', lamp: '#6b4a24',
  },
  1, 0.5, 0.34,
)

/** How light it is at an hour of the day, from 0 to 1. */
export function daylight(hour: number): number {
  if (hour <= 5 || hour >= 22) return 0
  if (hour < 8) return (hour - 5) / 3
  return hour <= 18 ? 1 : (22 - hour) / 4
}

/** The look for so much light: night, dusk in the middle, day. */
export function lookFor(light: number): Look {
  return light >= 0.5 ? blended(DUSK, DAY, light * 2 - 1) : blended(NIGHT, DUSK, light * 2)
}

function blended(one: Look, other: Look, part: number): Look {
  const pairs = Object.entries(one).map(([name, value]) => {
    const to = other[name as keyof Look]
    return [name, typeof value === 'number' ? value + ((to as number) - value) * part : mixed(value as Rgb, to as Rgb, part)]
  })
  return Object.fromEntries(pairs) as unknown as Look
}

/** What a state looks like on pins and screens, and the sign on it; tests hold each pair to a contrast of 3. */
export const STATE_COLOURS: Record<Kind, { fill: string; sign: string }> = {
  needs: { fill: '#e8432a', sign: '#ffffff' },
  failed: { fill: '#c21f6b', sign: '#ffffff' },
  turn: { fill: '#f2a71b', sign: '#2b1d05' },
  working: { fill: '#16835a', sign: '#ffffff' },
  directing: { fill: '#7a5be0', sign: '#ffffff' },
  idle: { fill: '#3a3f49', sign: '#a9aeb8' },
}

/** The bar of the context, by how full it is. */
export const FULLNESS = { plain: '#f6e6c4', warm: '#eda31c', full: '#f04a2e' }
export const COIN = '#ffc94a'
/** The flag of background jobs. */
export const FLAG = '#2f9fb3'

/** The colour of a project: of its rug and its pictures. */
export function projectColour(number: number): string {
  return PROJECTS[number % PROJECTS.length]!
}
const PROJECTS = ['#d9a0a6', '#e3bd86', '#b9cf9a', '#9cc3d6', '#c1aede', '#e0a98a', '#a3d0bd', '#d3b6cf']

/** Bodies have a colour of their own, by what they are. */
const BODIES = ['#7db6e8', '#f0a0b4', '#8fd0a4', '#f2c078', '#b8a4ea', '#79cfc8', '#e79a7d', '#a9c46c', '#d79ad8', '#8fa8f0']

export function bodyColour(number: number): string {
  return BODIES[number % BODIES.length]!
}
