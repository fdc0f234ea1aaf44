// How the world looks by day and by night. Pure.

export interface Look {
  sky: string
  ground: string
  floor: string
  wall: string
  desk: string
  screen: string
  plant: string
  ambient: number
  sun: number
  sunColour: string
}

export const DAY: Look = {
  sky: '#e8e6e0', ground: '#d9d6ce', floor: '#e9e3d6', wall: '#cfc6b4', desk: '#c9a77c', screen: '#39424e',
  plant: '#6d9b5f', ambient: 1.15, sun: 1.75, sunColour: '#fff4dd',
}
export const NIGHT: Look = {
  sky: '#12131a', ground: '#15161e', floor: '#2b2e3d', wall: '#3b3f52', desk: '#594a3d', screen: '#8fb7ff',
  plant: '#3d5a42', ambient: 1.35, sun: 1.1, sunColour: '#aab8ff',
}

/** How light it is at an hour of the day, from 0 to 1. */
export function daylight(hour: number): number {
  if (hour <= 5 || hour >= 22) return 0
  if (hour < 8) return (hour - 5) / 3
  return hour <= 19 ? 1 : (22 - hour) / 3
}

/** Bodies have a colour of their own, by what they are. */
const BODIES = ['#7c9cbf', '#b58db6', '#c79a6b', '#7fae93', '#b8807a', '#8c8fc4', '#a3a06f', '#6fa5ab']
export const WAITING_BODY = '#e5503c'

export function bodyColour(number: number): string {
  return BODIES[number % BODIES.length]!
}
