// The plain records of the world: sessions become actors, actors become agents; the views only read them.

import type { State } from '../live/fold.ts'
import { kindOf, type Kind } from '../ui/states.ts'

export type { Kind }
export { kindOf }

/** A sub-agent of a session: what it is to do, and what it does. */
export interface SubActor {
  id: string
  name: string
  tool?: string | undefined
  /** When it began, in milliseconds since 1970. */
  since?: number | undefined
}

/** A session in the world, from the live store or from a replay. */
export interface Actor {
  id: string
  title: string
  /** The name of its repository, and where that is: two may have one name. */
  project: string
  path?: string | undefined
  branch?: string | undefined
  state: State
  /** The tool that it uses, or asks to use. */
  tool?: string | undefined
  /** What it is doing, in words. */
  detail?: string | undefined
  /** The same as a whole phrase, where state and detail do not make one. */
  words?: string | undefined
  /** The id of the background job of Claude Code that it is. */
  job?: string | undefined
  /** When something last happened, in milliseconds since 1970. */
  last: number
  /** Since when it is in its state. */
  since?: number | undefined
  /** How many tokens are before the model, and what it has cost in US dollars. */
  context?: number | undefined
  cost?: number | undefined
  subagents: SubActor[]
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
  /** The order in which rooms came, kept as long as it is there. */
  place: number
  /** Its desks: how many in a row, and which rows have sub-agents before them. */
  columns: number
  extras: boolean[]
  /** Its middle, and where that goes. */
  centre: Point
  goal: Point
  /** How many more sessions it has than are shown. */
  hidden: number
}

/** Its place is measured from the middle of its room. */
export interface Agent extends Point {
  key: string
  session: string
  /** The agent it belongs to. */
  parent: string | undefined
  /** The key of its room. */
  room: string
  name: string
  state: State
  kind: Kind
  tool: string | undefined
  since: number | undefined
  context: number
  cost: number
  uuid: string | undefined
  isJob: boolean
  /** Where it goes, and over which points. */
  goal: Point
  way: Point[]
  heading: number
  /** How large it is; grows while it arrives. */
  size: number
  fullSize: number
  /** The text of its bubble, and until when that is shown. */
  bubble: string
  bubbleUntil: number
  /** A number of its own, by which no two move alike. */
  phase: number
  /** How fast it moves now. */
  speed: number
  isLeaving: boolean
  /** How long a sub-agent that is done still stands there, in seconds. */
  done: number
  /** How many more sub-agents it has than are shown before it. */
  hidden: number
  /** Its place among those that need the person, from 1; 0 if it does not. */
  number: number
  /** Which of the desks is its own; of a sub-agent which place before the desk. */
  desk: number
}

export interface World {
  /** The size of the screen that the rooms are arranged for, in pixels. */
  screen: { width: number; height: number }
  rooms: Map<string, Room>
  agents: Map<string, Agent>
  /** How long the world has been running, in seconds. */
  time: number
  /** Counts the changes of rooms and desks. */
  furniture: number
  /** How far the rooms have glided to their new places; 1 if they are there. */
  glide: number
  /** Whether rooms stay where they are, because somebody looks at one. */
  isHeld: boolean
}
