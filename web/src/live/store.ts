// The state of everything that is live, as signals; the only place that holds it. Pages read, nothing else writes.

import { computed, signal } from '@preact/signals'
import { checkAccess, get, isSignedOut, type Schemas } from '../api/client.ts'
import { allRows } from '../api/rows.ts'
import { overlay, reconciled, type Annotations } from './overlay.ts'
import { blank, fold, isWorking, needsPerson, type LiveSession, type LiveState, type StreamEvent } from './fold.ts'
import { forkTitles, repositories, withForkTitles, withOwnNames, type Repository } from './names.ts'
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
const named = computed(() => listed.value && withForkTitles(withOwnNames(listed.value), forks.value))
const forks = computed(() => forkTitles(listed.value ?? []))
/** A short row for each session that is not hidden, newest first; undefined until they have come. */
export const rows = computed(() => named.value && overlay(named.value, annotated.value))
/** The rows by their sessions. */
export const rowsById = computed(() => new Map((rows.value ?? []).map(row => [row.id, row])))
/** The same as `rows` of hidden sessions, once somebody asked for them. */
export const hiddenRows = computed(() => listedHidden.value && overlay(listedHidden.value, annotated.value))
export const rowsError = signal<string | undefined>(undefined)
/** The time, as far as ages need it. */
export const now = signal(Date.now())

const repositoryOf = computed(() => repositories(named.value ?? []))
/** Every live session, in its repository. */
export const sessions = computed(() => (version.value, [...state.sessions.values()].map(session => inRepository(session, repositoryOf.value(session)))))
const blockedRows = computed(() => (rows.value ?? []).filter(row => row.background_job?.state === 'blocked'))
/** Background jobs that wait for a person and that no process holds. */
const blocked = computed(() => (version.value, blockedRows.value.filter(row => !state.sessions.has(row.id)).map(fromRow)))
/** Everyone in the world: who is live, and the jobs that wait. */
export const present = computed(() => [...sessions.value, ...blocked.value])
/** Sessions that can do nothing before a person does, longest first. */
export const needing = computed(() =>
  present.value.filter(session => needsPerson(session, state.requests)).sort((one, other) => waitsSince(one) - waitsSince(other)),
)
/** Sessions that work, newest first. */
export const working = computed(() =>
  sessions.value.filter(session => isWorking(session.activity.state)).sort((one, other) => other.lastActivity - one.lastActivity),
)
/** Sessions in whose terminal it is the person's turn. */
export const waiting = computed(() => resting(session => session.activity.state === 'waiting_input' && session.pid !== undefined))
/** Sessions whose last turn failed, or whose process was lost a short while ago. */
export const failing = computed(() =>
  resting(({ activity, pid, lastActivity }) => (activity.state === 'failed' && pid !== undefined) || (activity.state === 'lost' && now.value - lastActivity < LOST_TIME)),
)
/** How long a lost process is news, in milliseconds. */
const LOST_TIME = 3_600_000

/** Those that wait for nothing but the next prompt, newest first. */
function resting(isWanted: (session: LiveSession) => boolean): LiveSession[] {
  return sessions.value.filter(session => isWanted(session) && !needsPerson(session, state.requests)).sort((one, other) => other.lastActivity - one.lastActivity)
}

function inRepository(session: LiveSession, repository: Repository | undefined): LiveSession {
  const title = forks.value.get(session.id)
  if (!repository && !title) return session
  return { ...session, ...(repository && { project: repository.project, repository: repository.path }), ...(title && { title }) }
}

/** A session that is known from the list alone. */
function fromRow(row: Row): LiveSession {
  const path = row.path ?? ''
  return {
    id: row.id,
    title: row.title ?? 'Untitled',
    project: row.project ?? '',
    path,
    repository: path,
    contextTokens: row.context,
    hasTranscript: true,
    lastActivity: row.last ?? 0,
    activity: { state: row.state ?? 'idle' },
    subagents: [],
    job: row.background_job ?? undefined,
  }
}

function waitsSince({ activity, lastActivity }: LiveSession): number {
  return activity.since ? Date.parse(activity.since) : lastActivity
}

export function liveSession(id: string) {
  void version.value
  return state.sessions.get(id)
}

export function requestsOf(id: string) {
  void version.value
  return state.requests.get(id)
}

/** Whether a session has a transcript: one that was just started has none yet. Undefined while nobody has said. */
export function isOnDisk(id: string): boolean | undefined {
  return liveSession(id)?.hasTranscript || rows.value?.some(row => row.id === id)
}

/** How many events have come for a session. */
export function eventCount(id: string): number {
  void version.value
  return state.eventCounts.get(id) ?? 0
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
    const before = state.annotated
    const rows = await allRows()
    if (before.size) {
      state.annotated = reconciled(state.annotated, before, new Set(rows.map(row => row.id)))
      version.value++
    }
    listed.value = rows
    if (listedHidden.peek()) listedHidden.value = await allRows({ hidden: true })
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
export function setAnnotations(id: string, annotations: Annotations): void {
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

/** An event announces each new request of a worker; those that were open before this page was loaded are asked for. */
async function refreshRequests(): Promise<void> {
  const found = await get('/api/v1/workers').catch(() => undefined)
  const events = (found?.workers ?? []).flatMap(worker =>
    worker.status === 'waiting_permission'
      ? [{ name: 'worker-asks', data: { sessionId: worker.session_id, worker: worker.worker, requests: worker.requests.map(({ request, tool }) => ({ request, tool })) } }]
      : [],
  )
  if (!events.length) return
  fold(state, events)
  version.value++
}

const CHANGES_LIST = new Set(['session-annotated', 'session-created', 'session-removed', 'sessions-changed', 'session-updated', 'resync'])

function take(events: StreamEvent[]): void {
  fold(state, events)
  version.value++
  for (const take of listeners) take(events)
  if (events.some(event => CHANGES_LIST.has(event.name))) later()
  if (events.some(event => event.name === 'sessions-refresh')) void refreshRequests()
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

/** Starts listening; done once the list has come, or has failed to. */
export function startLive(): Promise<void> {
  listen(take, next => {
    const wasLive = connection.peek() === 'live'
    const isFirstFailure = next === 'offline' && connection.peek() === 'connecting'
    // While questions are answered it is the events alone that fail.
    if (next !== 'offline' || connection.peek() !== 'polling') connection.value = next
    if (next === 'live') isSignedOut.value = false
    // A server that is away and one that refuses look the same to the stream.
    if (wasLive && next === 'offline') checkAccess()
    if (isFirstFailure) void pollUnlessLive()
  })
  setInterval(() => {
    now.value = Date.now()
    void pollUnlessLive()
  }, POLL)
  return refreshRows()
}
