// A replayed day: what every session was doing at any moment of it. Pure.

import type { Schemas } from '../api/client.ts'
import { activityInWords, isWorking } from '../live/fold.ts'
import { withOwnNames } from '../live/names.ts'
import type { Actor } from './types.ts'

export type Day = Schemas['DayAnswer']
/** What a repository is named by. */
export type Named = { project?: string | null; path?: string | null }

/** How long a session stays after its last change, in milliseconds. */
const GONE = 30 * 60_000

export class Replay {
  readonly since: number
  readonly until: number
  /** The spans in which a session waited for the person. */
  readonly waits: [number, number][]
  /** How much happened in each part of the time, from 0 to 1. */
  readonly activity: number[]
  private readonly day: Day
  private readonly sessions: Day['sessions']
  private actors: (Actor | undefined)[] = []
  /** How many of the changes have been applied. */
  private applied = 0
  private at: number

  /** `known` are all sessions there are: by them a repository has the same name as everywhere else. */
  constructor(day: Day, known: readonly Named[] = []) {
    this.day = day
    const names = withOwnNames<Named>([...day.sessions, ...known])
    this.sessions = day.sessions.map((session, at) => ({ ...session, project: names[at]!.project ?? null }))
    const first = day.changes[0]?.at ?? Date.parse(day.since)
    const last = day.changes.at(-1)?.at ?? Date.parse(day.until)
    // A minute before the first change, but not on the day before.
    this.since = Math.max(first - 60_000, Date.parse(day.since) || -Infinity)
    this.until = last + 5 * 60_000
    this.at = this.since
    this.waits = spans(day)
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
    const known = this.sessions[change.session]!
    const actor = (this.actors[change.session] ??= {
      id: known.id,
      title: known.title ?? 'Untitled',
      project: known.project ?? '',
      path: known.path ?? undefined,
      state: 'idle',
      last: change.at,
      subagents: [],
    })
    actor.last = change.at
    actor.uuid = change.uuid ?? actor.uuid
    if (change.state) {
      const isWait = waits(change)
      actor.state = isWait ? 'waiting_permission' : change.state
      actor.words = isWait ? wordsOf(change) : undefined
      actor.detail = change.detail ?? change.tool ?? undefined
      actor.tool = change.tool ?? undefined
      actor.since = change.at
    }
    if (change.began) actor.subagents = [...actor.subagents, { id: change.began.task, name: change.began.name, since: change.at }]
    if (change.ended) actor.subagents = actor.subagents.filter(agent => agent.id !== change.ended)
  }
}

/** Into how many parts the time is divided. */
const PARTS = 160

function activity(day: Day, since: number, until: number): number[] {
  const parts = new Array<number>(PARTS).fill(0)
  for (const change of day.changes) parts[Math.min(PARTS - 1, Math.floor(((change.at - since) / (until - since)) * PARTS))]! += 1
  const most = Math.max(1, ...parts)
  // The square root keeps small numbers visible beside large ones.
  return parts.map(part => Math.sqrt(part / most))
}

/** Whether a session waits for the person from this change on: for a permission, a question or a plan, but not at the end of a turn. */
function waits({ state, tool }: Day['changes'][number]): boolean {
  return state === 'waiting_permission' || (state === 'waiting_input' && Boolean(tool))
}

function wordsOf({ state, tool, detail }: Day['changes'][number]): string {
  return activityInWords({ state: state!, ...(tool ? { tool } : {}), ...(detail ? { detail } : {}) })
}

function spans(day: Day): [number, number][] {
  const open = new Map<number, number>()
  const found: [number, number][] = []
  for (const change of day.changes) {
    if (!change.state) continue
    const began = open.get(change.session)
    if (waits(change)) {
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
