// How the world looks by day and by night. Pure.

export interface Look {
  sky: string
  floor: string
  wall: string
  desk: string
  screen: string
  /** The screen of an agent that works. */
  lit: string
  pane: string
  shade: string
  /** Whether the lamps light the floor. */
  isLit: boolean
  cat: string
  /** How much of a project's own colour its rug has, from 0 to 1. */
  rug: number
  plant: string
  ambient: number
  sun: number
  sunColour: string
}

export const DAY: Look = {
  sky: '#e8e6e0', floor: '#e9e3d6', wall: '#cfc6b4', desk: '#c9a77c', screen: '#39424e', lit: '#9fe6bd', pane: '#cfe6f1', shade: '#f6ead0', isLit: false, cat: '#3c3936', rug: 0.34,
  plant: '#6d9b5f', ambient: 1.15, sun: 1.75, sunColour: '#fff4dd',
}
export const NIGHT: Look = {
  sky: '#191b26', floor: '#474b63', wall: '#5d6380', desk: '#80684f', screen: '#2c3144', lit: '#8fe9b6',
  pane: '#ffd78a', shade: '#ffe2a6', isLit: true, cat: '#8b8480', rug: 0.4, plant: '#557f5a', ambient: 1.5, sun: 1.15, sunColour: '#c3ccff',
}

/** How light it is at an hour of the day, from 0 to 1. */
export function daylight(hour: number): number {
  if (hour <= 5 || hour >= 22) return 0
  if (hour < 8) return (hour - 5) / 3
  return hour <= 19 ? 1 : (22 - hour) / 3
}

/** The colour of a project: of its rug and its sofa. */
export function projectColour(number: number): string {
  return PROJECTS[number % PROJECTS.length]!
}
const PROJECTS = ['#5b7fa6', '#a66a7f', '#6f9a6a', '#b08a4f', '#7d6fae', '#4f9a96', '#ae6a52']

/** Bodies have a colour of their own, by what they are. */
const BODIES = ['#7c9cbf', '#b58db6', '#c79a6b', '#7fae93', '#b8807a', '#8c8fc4', '#a3a06f', '#6fa5ab']
export const WAITING_BODY = '#e5503c'
/** What background jobs carry. */
export const PACK = '#2f9fb3'

export function bodyColour(number: number): string {
  return BODIES[number % BODIES.length]!
}
