// A day played again: what every session was doing at any moment of it. Pure.

import type { Schemas } from '../api/client.ts'
import { isWorking } from '../live/fold.ts'
import type { Actor } from './types.ts'

export type Day = Schemas['DayAnswer']

/** A session that has said nothing for so long has left, in milliseconds. */
const GONE = 30 * 60_000

export class Replay {
  readonly since: number
  readonly until: number
  /** When somebody waited, as spans. */
  readonly waits: [number, number][]
  /** How much happened in each part of the time, from 0 to 1. */
  readonly activity: number[]
  private readonly day: Day
  private actors: (Actor | undefined)[] = []
  /** How many of the changes have been applied. */
  private applied = 0
  private at: number

  constructor(day: Day) {
    this.day = day
    const first = day.changes[0]?.at ?? Date.parse(day.since)
    const last = day.changes.at(-1)?.at ?? Date.parse(day.until)
    // A minute before the first change, but not on the day before.
    this.since = Math.max(first - 60_000, Date.parse(day.since) || -Infinity)
    this.until = last + 5 * 60_000
    this.at = this.since
    this.waits = waits(day)
    this.activity = activity(day, this.since, this.until)
  }

  /** What sessions do at a moment; going back begins again. */
  seek(at: number): Actor[] {
    if (at < this.at) {
      this.actors = []
      this.applied = 0
    }
    this.at = at
    for (let change = this.day.changes[this.applied]; change && change.at <= at; change = this.day.changes[++this.applied]) this.apply(change)
    return this.actors.filter((actor): actor is Actor => actor !== undefined && (isWorking(actor.state) || at - actor.last < GONE))
  }

  /** The next moment at which something happens. */
  next(): number | undefined {
    return this.day.changes[this.applied]?.at
  }

  private apply(change: Day['changes'][number]): void {
    const known = this.day.sessions[change.session]!
    const actor = (this.actors[change.session] ??= {
      id: known.id,
      title: known.title ?? 'Untitled',
      project: known.project ?? '',
      state: 'idle',
      last: change.at,
      subagents: [],
    })
    actor.last = change.at
    actor.uuid = change.uuid ?? actor.uuid
    if (change.state) {
      actor.state = change.state
      actor.detail = change.detail ?? change.tool ?? undefined
    }
    if (change.began) actor.subagents = [...actor.subagents, { id: change.began.task, name: change.began.name }]
    if (change.ended) actor.subagents = actor.subagents.filter(agent => agent.id !== change.ended)
  }
}

/** Into how many parts the time is divided. */
const PARTS = 160

function activity(day: Day, since: number, until: number): number[] {
  const parts = new Array<number>(PARTS).fill(0)
  for (const change of day.changes) parts[Math.min(PARTS - 1, Math.floor(((change.at - since) / (until - since)) * PARTS))]! += 1
  const most = Math.max(1, ...parts)
  // The root shows little beside much.
  return parts.map(part => Math.sqrt(part / most))
}

function waits(day: Day): [number, number][] {
  const open = new Map<number, number>()
  const found: [number, number][] = []
  for (const change of day.changes) {
    if (!change.state) continue
    const began = open.get(change.session)
    // A turn that ends waits for nothing in particular; a question and a plan do, and name the tool.
    if (change.state === 'waiting_permission' || (change.state === 'waiting_input' && change.tool)) {
      if (began === undefined) open.set(change.session, change.at)
    } else if (began !== undefined) {
      found.push([began, change.at])
      open.delete(change.session)
    }
  }
  const last = day.changes.at(-1)?.at ?? 0
  for (const began of open.values()) found.push([began, last])
  return found
}
