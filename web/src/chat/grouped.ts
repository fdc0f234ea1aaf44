// Sessions that ask the same, so that fifteen equal requests are one card. Pure.

import { sessionInWords, type LiveSession } from '../live/fold.ts'

/** A request of a worker as far as it decides whether another is the same. */
export interface Open {
  worker: number
  requests: readonly { request: string; tool: string; input?: unknown }[]
}

export interface Group {
  key: string
  sessions: LiveSession[]
}

/** Requests are the same if everything that would be done is the same; what is answered elsewhere, if it is said in the same words. */
export function groupsOf(sessions: readonly LiveSession[], openOf: (session: LiveSession) => Open | 'unknown' | undefined): Group[] {
  const groups = new Map<string, Group>()
  for (const session of sessions) {
    const key = keyOf(session, openOf(session))
    const group = groups.get(key)
    if (group) group.sessions.push(session)
    else groups.set(key, { key, sessions: [session] })
  }
  return [...groups.values()]
}

function keyOf(session: LiveSession, open: Open | 'unknown' | undefined): string {
  if (open === 'unknown' || session.job) return session.id
  if (!open) return `words ${sessionInWords(session)}`
  const [first, ...more] = open.requests
  // A question and a plan are answered for the session that has them.
  if (!first || more.length || first.tool === 'AskUserQuestion' || first.tool === 'ExitPlanMode') return session.id
  return `${first.tool} ${JSON.stringify(first.input)}`
}
