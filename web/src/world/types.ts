// The plain records of the world: sessions become actors, actors become agents; the views only read them.

import type { State } from '../live/fold.ts'

/** A session in the world, from the live store or from a replay. */
export interface Actor {
  id: string
  title: string
  /** The name of its repository, and where that is: two may have one name. */
  project: string
  path?: string | undefined
  state: State
  /** What it is doing, in words. */
  detail?: string | undefined
  /** The same as a whole phrase, where state and detail do not make one. */
  words?: string | undefined
  /** The id of the background job of Claude Code that it is. */
  job?: string | undefined
  /** When something last happened, in milliseconds since 1970. */
  last: number
  subagents: { id: string; name: string }[]
  /** The record to open it at. */
  uuid?: string | undefined
}

export interface Point {
  x: number
  z: number
}

export interface Room {
  /** What tells it apart: the place of its repository. */
  key: string
  name: string
  /** Its place among the rooms, kept as long as it is there. */
  place: number
  centre: Point
  /** How many more sessions it has than are shown. */
  hidden: number
}

export interface Agent extends Point {
  key: string
  session: string
  /** The agent it belongs to. */
  parent: string | undefined
  /** The key of its room. */
  room: string
  name: string
  state: State
  uuid: string | undefined
  isJob: boolean
  /** Where it goes. */
  goal: Point
  heading: number
  /** How large it is; grows while it arrives. */
  size: number
  fullSize: number
  /** The text of its bubble, and until when that is shown. */
  bubble: string
  bubbleUntil: number
  /** The phase of its animation. */
  phase: number
  /** How fast it moves now. */
  speed: number
  isLeaving: boolean
  /** How many more sub-agents it has than are shown beside it. */
  hidden: number
  /** Which of the desks is its own. */
  desk: number
}

export interface World {
  /** Whether it is laid out for a screen that is higher than wide. */
  isTall: boolean
  rooms: Map<string, Room>
  agents: Map<string, Agent>
  /** How long the world has been running, in seconds. */
  time: number
  /** Counts the changes of rooms and desks. */
  furniture: number
}

export const COLOURS: Record<Look, string> = {
  active: '#4ade80',
  idle: '#fbbf24',
  sleeping: '#9ca3af',
  supervising: '#a78bfa',
  offline: '#6b7280',
  error: '#fb7185',
  waiting: '#ef4444',
}

export type Look = 'active' | 'idle' | 'sleeping' | 'supervising' | 'offline' | 'error' | 'waiting'

/** What an agent looks like by its state; one whose sub-agents work supervises them. */
export function lookOf(state: State, supervises: boolean): Look {
  if (state === 'waiting_permission') return 'waiting'
  if (supervises) return 'supervising'
  if (state === 'thinking' || state === 'tool_use' || state === 'responding') return 'active'
  if (state === 'waiting_input') return 'idle'
  if (state === 'failed' || state === 'lost') return 'error'
  return state === 'ended' ? 'offline' : 'sleeping'
}
