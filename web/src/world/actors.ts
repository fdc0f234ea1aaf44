// Live sessions as actors of the world.

import { backgroundNames, sessionInWords, titleWith, type LiveSession } from '../live/fold.ts'
import type { Actor } from './types.ts'

/** `needsPerson` tells which sessions are blocked until the person acts; the world shows those as waiting. */
export function actorsOf(sessions: readonly LiveSession[], needsPerson: (session: LiveSession) => boolean): Actor[] {
  return sessions.map(session => ({
    id: session.id,
    title: titleWith(session.title, session.job),
    project: session.project,
    path: session.repository ?? session.path,
    state: needsPerson(session) ? 'waiting_permission' : session.activity.state,
    detail: backgroundNames(session) ?? session.activity.detail ?? session.activity.tool,
    words: sessionInWords(session),
    job: session.job?.id,
    last: session.lastActivity || (session.activity.since ? Date.parse(session.activity.since) : 0),
    subagents: session.subagents.map(agent => ({ id: agent.taskId, name: agent.description || agent.subagentType || 'sub-agent' })),
  }))
}
