// The plan that waits for a yes. Newer releases of Claude Code leave it out of the request: then it is in the transcript, in the
// call itself or in the file that the call is about.

import { get, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { eventCount } from '../live/store.ts'
import { Markdown } from '../reader/markdown.tsx'
import { planIn } from './plan-text.ts'

interface Props {
  session: string
  request: Schemas['PermissionRequest']
  /** The plan, where the request holds it. */
  text: string
}

export function Plan({ session, request, text }: Props) {
  return text ? <Shown text={text} /> : <Looked session={session} call={request.tool_use_id ?? undefined} />
}

function Looked({ session, call }: { session: string; call: string | undefined }) {
  const ask = (signal: AbortSignal) => get('/api/v1/sessions/{session}/blocks', { path: { session }, query: { limit: 40, whole: true }, signal })
  const { state } = useResource(ask, [session, call, eventCount(session)])
  const text = planIn(state.value.data?.messages ?? [], call)
  return text ? <Shown text={text} /> : <p class="dim">The plan is at the end of the session.</p>
}

function Shown({ text }: { text: string }) {
  return (
    <div class="ask-text" tabIndex={0} role="group" aria-label="The plan">
      <Markdown text={text} />
    </div>
  )
}
