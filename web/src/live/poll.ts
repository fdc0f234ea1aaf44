// What runs, asked for where no events come: a proxy, or an extension, may hold them back while it lets questions through.

import { get, type Schemas } from '../api/client.ts'
import type { StreamEvent } from './fold.ts'

/** All sessions that run, as the event that the stream would begin with; none where the server does not answer. */
export async function poll(): Promise<StreamEvent[]> {
  const found = await get('/api/v1/sessions', { query: { running: true, limit: 500 } }).catch(() => undefined)
  return found ? [{ name: 'sessions-refresh', data: { sessions: found.sessions.map(live) } }] : []
}

function live(session: Schemas['Session']): object {
  const at = (time: string | null | undefined) => (time ? Date.parse(time) : 0)
  return {
    sessionId: session.session_id,
    label: session.title,
    project_name: session.project,
    projectPath: session.cwd,
    gitBranch: session.branch,
    contextTokens: session.context_tokens,
    hasTranscript: Boolean(session.created),
    lastActivity: at(session.last_modified),
    activity: session.activity,
    backgroundJob: session.background_job,
  }
}
