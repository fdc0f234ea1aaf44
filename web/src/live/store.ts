// The state of everything that is live, as signals; the only place that holds it. Pages read, nothing else writes.

import { computed, signal } from '@preact/signals'
import { get, type Schemas } from '../api/client.ts'
import { overlay, type Annotations } from './overlay.ts'
import { blank, fold, isWorking, needsPerson, type LiveState, type StreamEvent } from './fold.ts'
import { withOwnNames } from './names.ts'
import { poll } from './poll.ts'
import { listen, type Connection } from './stream.ts'

export type Row = Schemas['SessionRow']

const state: LiveState = blank()

/** Counts the frames in which something changed. */
export const version = signal(0)
export const connection = signal<Connection>('connecting')
const listed = signal<Row[] | undefined>(undefined)
const listedHidden = signal<Row[] | undefined>(undefined)
/** What sessions were annotated with since the page was loaded. */
export const annotated = computed(() => (version.value, state.annotated))
/** Repositories that share a name have one of their own. */
const named = computed(() => listed.value && withOwnNames(listed.value))
/** A short row for each session that is not hidden, newest first; undefined until they have come. */
export const rows = computed(() => named.value && overlay(named.value, annotated.value))
/** The same of hidden sessions, once somebody asked for them. */
export const hiddenRows = computed(() => listedHidden.value && overlay(listedHidden.value, annotated.value))
export const rowsError = signal<string | undefined>(undefined)
/** The time, as far as ages need it. */
export const now = signal(Date.now())

/** Every live session. */
export const sessions = computed(() => (version.value, [...state.sessions.values()]))
/** Sessions that can do nothing before a person does, longest first. */
export const needing = computed(() =>
  sessions.value
    .filter(session => needsPerson(session, state.asks))
    .sort((one, other) => (one.activity.since ?? '').localeCompare(other.activity.since ?? '')),
)
/** Sessions that work, newest first. */
export const working = computed(() =>
  sessions.value.filter(session => isWorking(session.activity.state)).sort((one, other) => other.lastActivity - one.lastActivity),
)
/** Sessions in whose terminal it is the person's turn. */
export const waiting = computed(() =>
  sessions.value
    .filter(session => session.activity.state === 'waiting_input' && session.pid !== undefined && !state.asks.has(session.id))
    .sort((one, other) => other.lastActivity - one.lastActivity),
)

export function liveSession(id: string) {
  void version.value
  return state.sessions.get(id)
}

export function asking(id: string) {
  void version.value
  return state.asks.get(id)
}

/** How often something was heard of a session. */
export function heard(id: string): number {
  void version.value
  return state.heard.get(id) ?? 0
}

const listeners = new Set<(events: StreamEvent[]) => void>()

/** Hands over the events of each frame, after they were folded; returns what ends it. */
export function onEvents(take: (events: StreamEvent[]) => void): () => void {
  listeners.add(take)
  return () => listeners.delete(take)
}

let isAsking = false
let isStale = false

/** Asks for the rows again, one request at a time. */
export async function refreshRows(): Promise<void> {
  if (isAsking) {
    isStale = true
    return
  }
  isAsking = true
  try {
    listed.value = (await get('/api/v1/rows')).rows
    if (listedHidden.peek()) listedHidden.value = (await get('/api/v1/rows', { query: { hidden: true } })).rows
    rowsError.value = undefined
  } catch (error) {
    rowsError.value = error instanceof Error ? error.message : String(error)
  } finally {
    isAsking = false
    if (isStale) {
      isStale = false
      later()
    }
  }
}

/** Asks for the hidden sessions, too, from now on. */
export function askForHidden(): void {
  if (listedHidden.peek()) return
  listedHidden.value = []
  void refreshRows()
}

/** A session has these annotations. */
export function hear(id: string, annotations: Annotations): void {
  fold(state, [{ name: 'session-annotated', data: { sessionId: id, annotations } }])
  version.value++
}

let timer: number | undefined

/** The list changes slowly; it is asked for at most every three seconds. */
function later(): void {
  timer ??= window.setTimeout(() => {
    timer = undefined
    void refreshRows()
  }, 3000)
}

/** What workers ask is told when they ask it; who comes later asks for it. */
async function refreshAsks(): Promise<void> {
  const found = await get('/api/v1/workers').catch(() => undefined)
  const asking = (found?.workers ?? []).flatMap(worker =>
    worker.status === 'waiting_permission'
      ? [{ name: 'worker-asks', data: { sessionId: worker.session_id, worker: worker.worker, requests: worker.requests.map(({ request, tool }) => ({ request, tool })) } }]
      : [],
  )
  if (!asking.length) return
  fold(state, asking)
  version.value++
}

const RELISTS = new Set(['session-annotated', 'session-created', 'session-removed', 'sessions-changed', 'session-updated', 'resync'])

function take(events: StreamEvent[]): void {
  fold(state, events)
  version.value++
  for (const take of listeners) take(events)
  if (events.some(event => RELISTS.has(event.name))) later()
  if (events.some(event => event.name === 'sessions-refresh')) void refreshAsks()
}

/** How often it is asked what runs while no events come, in milliseconds. */
const POLL = 15_000

async function pollUnlessLive(): Promise<void> {
  if (connection.peek() === 'live' || document.hidden) return
  const events = await poll()
  if (!events.length || connection.peek() === 'live') return
  connection.value = 'polling'
  take(events)
  void refreshRows()
}

/** Starts listening. */
export function startLive(): void {
  listen(take, next => {
    const isFirstFailure = next === 'offline' && connection.peek() === 'connecting'
    // While questions are answered it is the events alone that fail.
    if (next !== 'offline' || connection.peek() !== 'polling') connection.value = next
    if (isFirstFailure) void pollUnlessLive()
  })
  setInterval(() => {
    now.value = Date.now()
    void pollUnlessLive()
  }, POLL)
  void refreshRows()
}
