// The live sessions as the world takes them.

import type { LiveSession } from '../live/fold.ts'
import type { Actor } from './types.ts'

export function actorsOf(sessions: readonly LiveSession[]): Actor[] {
  return sessions.map(session => ({
    id: session.id,
    title: session.title,
    project: session.project,
    state: session.activity.state,
    detail: session.activity.detail ?? session.activity.tool,
    last: session.lastActivity || (session.activity.since ? Date.parse(session.activity.since) : 0),
    subagents: session.subagents.map(agent => ({ id: agent.taskId, name: agent.description || agent.subagentType || 'sub-agent' })),
  }))
}
