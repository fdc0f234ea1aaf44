// A session that can do nothing before a person does: what it asks, with the buttons that answer.

import { useState } from 'preact/hooks'
import { get } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { inWords, type LiveSession } from '../live/fold.ts'
import { asking } from '../live/store.ts'
import { Age, StateDot } from '../ui/parts.tsx'
import { Ask } from './ask.tsx'
import { copy } from '../ui/toast.tsx'
import { Button } from '../ui/parts.tsx'
import { resumeCommand } from './command.ts'

export function NeedCard({ session }: { session: LiveSession }) {
  const asks = asking(session.id)
  const { activity } = session
  return (
    <article class="need" aria-label={session.title}>
      <header>
        <StateDot state="waiting_permission" title={`known from ${activity.evidence ?? 'its transcript'}`} />
        <a class="need-title" href={`/s/${session.id}`}>
          {session.title}
        </a>
        <span class="dim">{session.project}</span>
        <Age at={activity.since ? new Date(activity.since).getTime() : undefined} />
      </header>
      {asks ? <Requests worker={asks.worker} mark={asks.requests.map(one => one.request).join()} /> : <Elsewhere session={session} />}
    </article>
  )
}

/** What a worker of ours asks. */
export function Requests({ worker, mark }: { worker: number; mark: string }) {
  const { state } = useResource(signal => get('/api/v1/workers/{worker}', { path: { worker }, signal }), [worker, mark])
  const [answered, setAnswered] = useState<string[]>([])
  const info = state.value.data
  if (!info) return null
  const requests = info.status === 'waiting_permission' ? info.requests : []
  return (
    <>
      {requests
        .filter(request => !answered.includes(request.request))
        .map(request => (
          <Ask key={request.request} worker={worker} session={info.session_id} request={request} onDone={() => setAnswered([...answered, request.request])} />
        ))}
    </>
  )
}

/** A session in somebody's terminal: it can be answered there alone. */
function Elsewhere({ session }: { session: LiveSession }) {
  return (
    <div class="ask">
      <p class="ask-what">{inWords(session.activity)}</p>
      <p class="dim">It runs in a terminal{session.pid ? ` (process ${session.pid})` : ''}; answer it there.</p>
      <div class="ask-buttons">
        <a class="button" href={`/s/${session.id}`}>
          Read it
        </a>
        <Button onClick={() => void copy(resumeCommand(session.path, session.id), 'the command')}>Copy command</Button>
      </div>
    </div>
  )
}
