// What the event stream says, folded into one record for each session. Pure: no clock, no DOM, no network.

import type { Annotations } from './overlay.ts'

export type State =
  | 'idle'
  | 'thinking'
  | 'tool_use'
  | 'responding'
  | 'waiting_input'
  | 'waiting_permission'
  | 'ended'
  | 'lost'

export interface Activity {
  state: State
  evidence?: string
  since?: string
  tool?: string
  detail?: string
}

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
  path: string
  branch?: string
  model?: string
  pid?: number
  contextTokens: number
  createdAt: number
  lastActivity: number
  activity: Activity
  subagents: LiveAgent[]
}

/** What a worker asks. */
export interface Asking {
  worker: number
  requests: { request: string; tool: string }[]
}

export interface LiveState {
  sessions: Map<string, LiveSession>
  asks: Map<string, Asking>
  /** Counts what was heard of each session, so that a reader knows when to look again. */
  heard: Map<string, number>
  /** Annotations that were changed. */
  annotated: Map<string, Annotations>
}

export interface StreamEvent {
  name: string
  // eslint-disable-next-line -- the server's shapes are read field by field below
  data: any
}

export function blank(): LiveState {
  return { sessions: new Map(), asks: new Map(), heard: new Map(), annotated: new Map() }
}

/** Applies events in order; the same object is changed, because a thousand may come in a second. */
export function fold(state: LiveState, events: readonly StreamEvent[]): LiveState {
  for (const event of events) apply(state, event)
  return state
}

function apply(state: LiveState, { name, data }: StreamEvent): void {
  switch (name) {
    case 'sessions-refresh': {
      const sessions: unknown[] = data?.sessions ?? []
      state.sessions = new Map(sessions.map(one => read(one)).map(one => [one.id, one]))
      for (const id of state.asks.keys()) if (!isBlocked(state.sessions.get(id))) state.asks.delete(id)
      return
    }
    case 'session-created':
    case 'session-updated': {
      const session = read(data)
      state.sessions.set(session.id, session)
      return hear(state, session.id)
    }
    case 'session-removed':
      state.sessions.delete(data.sessionId)
      state.asks.delete(data.sessionId)
      return
    case 'session-activity': {
      const session = state.sessions.get(data.sessionId)
      if (session) session.activity = activity(data)
      if (data.state !== 'waiting_permission' && data.state !== 'waiting_input') state.asks.delete(data.sessionId)
      return hear(state, data.sessionId)
    }
    case 'session-event':
      return hear(state, data.sessionId)
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
      state.asks.set(data.sessionId, { worker: data.worker, requests: data.requests })
      return hear(state, data.sessionId)
  }
}

function hear(state: LiveState, id: string): void {
  state.heard.set(id, (state.heard.get(id) ?? 0) + 1)
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
    createdAt: data.createdAt ?? 0,
    lastActivity: data.lastActivity ?? 0,
    activity: activity(data.activity ?? {}),
    subagents: data.subagents ?? [],
  }
}

// eslint-disable-next-line -- see StreamEvent
function activity(data: any): Activity {
  return { state: data.state ?? 'idle', evidence: data.evidence, since: data.since, tool: data.tool ?? data.toolName, detail: data.detail ?? data.toolInput }
}

/** Whether a session works by itself. */
export function isWorking(state: State | undefined): boolean {
  return state === 'thinking' || state === 'tool_use' || state === 'responding'
}

/** Whether a session can do nothing before a person does. */
export function needsPerson(session: LiveSession, asks: ReadonlyMap<string, Asking>): boolean {
  return session.activity.state === 'waiting_permission' || asks.has(session.id)
}

/** What a session does, in a few words. */
export function inWords(activity: Activity): string {
  const detail = activity.detail ? `: ${activity.detail}` : ''
  switch (activity.state) {
    case 'thinking':
      return 'Thinking'
    case 'responding':
      return 'Writing'
    case 'tool_use':
      return `${activity.tool ?? 'Tool'}${detail}`
    case 'waiting_permission':
      return `Needs permission${activity.tool ? ` for ${activity.tool}` : ''}${detail}`
    case 'waiting_input':
      return activity.detail ? `Asks${detail}` : 'Your turn'
    case 'ended':
      return 'Ended'
    case 'lost':
      return 'Process lost'
    default:
      return 'Idle'
  }
}
