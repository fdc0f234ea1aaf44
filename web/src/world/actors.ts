// Live sessions as actors of the world.

import { backgroundNames, sessionInWords, titleWith, type LiveSession } from '../live/fold.ts'
import type { Actor } from './types.ts'

/** What the list of sessions knows beside what is live. */
export interface Known {
  cost?: number | null
  context?: number
}

/** `needsPerson` tells which sessions are blocked until the person acts; the world shows those as waiting. `began` tells when a
 *  sub-agent was first seen. */
export function actorsOf(
  sessions: readonly LiveSession[],
  needsPerson: (session: LiveSession) => boolean,
  known: (id: string) => Known | undefined = () => undefined,
  began: (session: string, task: string) => number | undefined = () => undefined,
): Actor[] {
  return sessions.map(session => {
    const { activity } = session
    const row = known(session.id)
    return {
      id: session.id,
      title: titleWith(session.title, session.job),
      project: session.project,
      path: session.repository ?? session.path,
      branch: session.branch,
      state: needsPerson(session) ? 'waiting_permission' : activity.state,
      tool: activity.tool,
      detail: backgroundNames(session) ?? activity.detail ?? activity.tool,
      words: sessionInWords(session),
      job: session.job?.id,
      last: session.lastActivity || (activity.since ? Date.parse(activity.since) : 0),
      since: activity.since ? Date.parse(activity.since) : session.lastActivity || undefined,
      context: session.contextTokens || row?.context || 0,
      cost: row?.cost ?? 0,
      subagents: session.subagents.map(agent => ({
        id: agent.taskId,
        name: agent.description || agent.subagentType || 'sub-agent',
        tool: agent.toolName,
        since: began(session.id, agent.taskId),
      })),
    }
  })
}

/** Remembers when each sub-agent was first seen: no event says when it began. */
export class FirstSeen {
  private readonly times = new Map<string, number>()

  of(session: string, task: string, now: number): number {
    const key = `${session}/${task}`
    const known = this.times.get(key)
    if (known !== undefined) return known
    this.times.set(key, now)
    return now
  }
}
