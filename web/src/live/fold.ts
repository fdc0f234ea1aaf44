// What the event stream says, folded into one record for each session. Pure: no clock, no DOM, no network.

import type { Schemas } from '../api/client.ts'
import type { Annotations } from './overlay.ts'

export type State =
  | 'idle'
  | 'thinking'
  | 'tool_use'
  | 'responding'
  | 'waiting_input'
  | 'waiting_permission'
  | 'failed'
  | 'ended'
  | 'lost'

/** The detail of a session in which only sub-agents run. */
const BACKGROUND = 'in the background'

export interface Activity {
  state: State
  evidence?: string
  since?: string
  tool?: string
  detail?: string
  /** The whole command, the file or the question that waits for a person. */
  asking?: string
}

/** A background job of Claude Code: a session that its own daemon runs. */
export type Job = Schemas['BackgroundJob']

export interface LiveAgent {
  taskId: string
  subagentId?: string
  description: string
  subagentType?: string
  toolName?: string
}

export interface LiveSession {
  id: string
  title: string
  project: string
  /** The directory it works in. */
  path: string
  /** Where its repository is, as far as its row says. */
  repository?: string
  branch?: string
  model?: string
  pid?: number
  contextTokens: number
  /** Whether it has written anything: a session that was just started has not. */
  hasTranscript: boolean
  lastActivity: number
  activity: Activity
  subagents: LiveAgent[]
  job?: Job
}

/** The requests of a worker that are not answered. */
export interface WorkerRequests {
  worker: number
  requests: { request: string; tool: string }[]
}

export interface LiveState {
  sessions: Map<string, LiveSession>
  requests: Map<string, WorkerRequests>
  /** How many events came for each session: a reader that sees it change asks for the session again. */
  eventCounts: Map<string, number>
  /** Annotations that were changed. */
  annotated: Map<string, Annotations>
}

export interface StreamEvent {
  name: string
  // eslint-disable-next-line -- the server's shapes are read field by field below
  data: any
}

export function blank(): LiveState {
  return { sessions: new Map(), requests: new Map(), eventCounts: new Map(), annotated: new Map() }
}

/** Applies events in order; the same object is changed, because a thousand may come in a second. */
export function fold(state: LiveState, events: readonly StreamEvent[]): LiveState {
  for (const event of events) apply(state, event)
  return state
}

function apply(state: LiveState, { name, data }: StreamEvent): void {
  switch (name) {
    case 'sessions-refresh': {
      const before = state.sessions
      const sessions: unknown[] = data?.sessions ?? []
      state.sessions = new Map(sessions.map(one => read(one)).map(one => [one.id, one]))
      // What happened while there was no connection came with no event.
      for (const { id, lastActivity } of state.sessions.values()) if (before.get(id)?.lastActivity !== lastActivity) countEvent(state, id)
      for (const id of state.requests.keys()) if (!isBlocked(state.sessions.get(id))) state.requests.delete(id)
      return
    }
    case 'session-created':
    case 'session-updated': {
      const session = read(data)
      state.sessions.set(session.id, session)
      return countEvent(state, session.id)
    }
    case 'session-removed':
      state.sessions.delete(data.sessionId)
      state.requests.delete(data.sessionId)
      return
    case 'session-activity': {
      const session = state.sessions.get(data.sessionId)
      if (session) session.activity = activity(data)
      if (data.state !== 'waiting_permission' && data.state !== 'waiting_input') state.requests.delete(data.sessionId)
      return countEvent(state, data.sessionId)
    }
    case 'session-event':
      return countEvent(state, data.sessionId)
    case 'subagent-spawned':
    case 'subagent-progress':
    case 'subagent-completed':
      return agent(state, name, data)
    case 'session-annotated':
      // Another map each time, because pages compare it with the one they have shown.
      state.annotated = new Map(state.annotated).set(data.sessionId, data.annotations)
      return
    case 'resync':
      // What was missed may be a change, too.
      state.annotated = new Map()
      return
    case 'worker-asks':
      state.requests.set(data.sessionId, { worker: data.worker, requests: data.requests })
      return countEvent(state, data.sessionId)
  }
}

function countEvent(state: LiveState, id: string): void {
  state.eventCounts.set(id, (state.eventCounts.get(id) ?? 0) + 1)
}

function agent(state: LiveState, name: string, data: LiveAgent & { sessionId: string }): void {
  const session = state.sessions.get(data.sessionId)
  if (!session) return
  const others = session.subagents.filter(one => one.taskId !== data.taskId)
  session.subagents = name === 'subagent-completed' ? others : [...others, data]
}

function isBlocked(session: LiveSession | undefined): boolean {
  return session?.activity.state === 'waiting_permission' || session?.activity.state === 'waiting_input'
}

// eslint-disable-next-line -- see StreamEvent
function read(data: any): LiveSession {
  const path: string = data.projectPath ?? ''
  return {
    id: data.sessionId,
    title: data.label ?? data.summary ?? 'Untitled',
    project: data.project_name ?? path.split('/').pop() ?? '',
    path,
    branch: data.gitBranch ?? undefined,
    model: data.model ?? undefined,
    pid: data.pid ?? undefined,
    contextTokens: data.contextTokens ?? 0,
    hasTranscript: data.hasTranscript ?? false,
    lastActivity: data.lastActivity ?? 0,
    activity: activity(data.activity ?? {}),
    subagents: data.subagents ?? [],
    job: data.backgroundJob ?? undefined,
  }
}

// eslint-disable-next-line -- see StreamEvent
function activity(data: any): Activity {
  return { state: data.state ?? 'idle', evidence: data.evidence, since: data.since, tool: data.tool ?? data.toolName, detail: data.detail ?? data.toolInput, asking: data.asking ?? undefined }
}

/** Whether a session works by itself. */
export function isWorking(state: State | undefined): boolean {
  return state === 'thinking' || state === 'tool_use' || state === 'responding'
}

/** Whether a session can do nothing before a person does. */
export function needsPerson(session: LiveSession, requests: ReadonlyMap<string, WorkerRequests>): boolean {
  return waitsForAnswer(session.activity) || session.job?.state === 'blocked' || requests.has(session.id)
}

/** A question of the model in words; its detail is `question`, or `question: ` and the text where that is known. */
function questionInWords(detail: string): string {
  const [, text] = /^question(?:: *(.+))?$/s.exec(detail) ?? [undefined, detail]
  return text ? `Asks: ${text}` : 'Asks a question'
}

/** Whether it is blocked by a permission or a question; the end of a turn blocks nothing. */
export function waitsForAnswer({ state, detail }: Activity): boolean {
  return state === 'waiting_permission' || (state === 'waiting_input' && /^question(:|$)/.test(detail ?? ''))
}

/** The state that is shown: all sessions that need the person look the same. */
export function shownState(activity: Activity | undefined, job: Job | null | undefined): State | undefined {
  return job?.state === 'blocked' || (activity && waitsForAnswer(activity)) ? 'waiting_permission' : activity?.state
}

/** What a session does, in a few words; the outcome of a background job that is not working. */
export function sessionInWords(session: Described): string {
  const { activity, job } = session
  const rests = job?.state === 'working' && (activity.state === 'waiting_input' || activity.state === 'waiting_permission' || activity.state === 'failed')
  if (job && !rests && !isWorking(activity.state)) return jobInWords(job)
  const names = backgroundNames(session)
  return names ? `In the background: ${names}` : activityInWords(activity)
}

type Described = { activity: Activity; job?: Job | undefined; subagents?: readonly LiveAgent[] }

/** The names of sub-agents that run in the background, where a session does nothing else. */
export function backgroundNames({ activity, subagents = [] }: Described): string | undefined {
  if (activity.state !== 'tool_use' || activity.detail !== BACKGROUND) return undefined
  return subagents.map(agent => agent.description || agent.subagentType || '').filter(Boolean).join(', ') || undefined
}

/** A session's title, after the name of the background job that it is. */
export function titleWith(title: string, job: Job | null | undefined): string {
  return job?.name && !title.startsWith(job.name) ? `${job.name} · ${title}` : title
}

/** The state of a background job in words. */
export function jobInWords({ state, needs, detail }: Job): string {
  const more = state === 'blocked' ? needs : detail
  return `Job ${state}${more ? `: ${more}` : ''}`
}

/** An activity in a few words; a request is given whole, on one line. */
export function activityInWords(activity: Activity): string {
  const request = activity.asking?.replace(/\s+/g, ' ').trim() || activity.detail
  const detail = activity.detail ? `: ${activity.detail}` : ''
  switch (activity.state) {
    case 'thinking':
      return 'Thinking'
    case 'responding':
      return 'Writing'
    case 'tool_use':
      return `${activity.tool ?? 'Tool'}${detail}`
    case 'waiting_permission':
      if (activity.tool === 'ExitPlanMode') return 'Wants its plan approved'
      if (activity.tool === 'AskUserQuestion') return questionInWords(request ?? 'question')
      return `Needs permission${activity.tool ? ` for ${activity.tool}` : ''}${request ? `: ${request}` : ''}`
    case 'waiting_input':
      if (activity.tool === 'ExitPlanMode') return 'Wants its plan approved'
      if (activity.tool === 'AskUserQuestion') return questionInWords(request ?? 'question')
      return activity.detail ? questionInWords(request!) : 'Your turn'
    case 'failed':
      return `Failed${detail}`
    case 'ended':
      return 'Ended'
    case 'lost':
      return 'Process lost'
    default:
      return 'Idle'
  }
}

/** What every request for a permission begins with: where there is little room the command says enough. */
const PERMISSION = /^Needs permission(?: for [^:]*)?: /

export function requestInShort(words: string): string {
  return words.replace(PERMISSION, '')
}
