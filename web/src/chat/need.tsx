// A session that can do nothing before a person does: what it asks, with the buttons that answer.

import { useState } from 'preact/hooks'
import { get } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { requestInShort, sessionInWords, titleWith, type LiveSession } from '../live/fold.ts'
import { liveSession, requestsOf } from '../live/store.ts'
import { loaded } from '../ui/loaded.tsx'
import { Age, Button, JobTag } from '../ui/parts.tsx'
import { StateSign } from '../ui/sign.tsx'
import { copy } from '../ui/toast.tsx'
import { CopyAttach } from './attach.tsx'
import { resumeCommand } from './command.ts'
import type { Alike } from './needs.tsx'

const RequestForm = loaded(() => import('./request-form.tsx'), 'RequestForm', { waiting: ({ session }) => <Announced id={session} /> })

/** What is asked, as far as the event said it, until the form that answers it has come. */
function Announced({ id }: { id: string }) {
  const session = liveSession(id)
  return session ? <p class="ask ask-what">{sessionInWords(session)}</p> : null
}

/** How many of those that ask the same are named. */
const NAMED = 5

interface CardProps {
  session: LiveSession
  /** The others that ask the same. */
  others?: readonly LiveSession[]
  isOpen?: boolean
  toggle?: (() => void) | undefined
  /** The answer to the first is the answer to these. */
  alike?: readonly Alike[]
}

/** One session, or several that ask the same: whole, or on one line that opens it. */
export function NeedCard({ session, others = [], isOpen = true, toggle, alike }: CardProps) {
  const open = requestsOf(session.id)
  const { activity } = session
  return (
    <article class={isOpen ? 'need' : 'need closed'} aria-label={session.title}>
      <header>
        <StateSign state="waiting_permission" title={`known from ${activity.evidence ?? 'its transcript'}`} />
        <a class="need-title" dir="auto" href={`/s/${session.id}`} title={session.title}>
          {titleWith(session.title, session.job)}
        </a>
        {session.job && <JobTag />}
        {others.length > 0 && <span class="tag same">and {others.length} more</span>}
        {!isOpen && <span class="need-what">{requestInShort(sessionInWords(session))}</span>}
        <span class="dim need-project">{session.project}</span>
        <Age at={activity.since ? new Date(activity.since).getTime() : undefined} />
        {toggle && (
          <Button kind={isOpen ? 'quiet' : 'plain'} expanded={isOpen} label={`${isOpen ? 'Fold' : 'Show'} what ${session.title} asks`} onClick={toggle}>
            {isOpen ? 'Fold' : 'Show'}
          </Button>
        )}
      </header>
      {isOpen && others.length > 0 && (
        <p class="need-others dim">
          The same in{' '}
          {others.slice(0, NAMED).map((other, at) => (
            <span key={other.id}>
              {at > 0 && ', '}
              <a href={`/s/${other.id}`}>{other.title}</a> ({other.project})
            </span>
          ))}
          {others.length > NAMED && ` and ${others.length - NAMED} more`}
        </p>
      )}
      {isOpen && (open ? <Requests session={session.id} worker={open.worker} mark={open.requests.map(one => one.request).join()} alike={alike} /> : <Elsewhere session={session} />)}
    </article>
  )
}

/** The requests of a worker that Backstory started. */
export function Requests({ session, worker, mark, alike }: { session: string; worker: number; mark: string; alike?: readonly Alike[] | undefined }) {
  const { state } = useResource(signal => get('/api/v1/workers/{worker}', { path: { worker }, signal }), [worker, mark])
  const [answered, setAnswered] = useState<string[]>([])
  const info = state.value.data
  if (!info) return <Announced id={session} />
  const requests = info.status === 'waiting_permission' ? info.requests : []
  return (
    <>
      {requests
        .filter(request => !answered.includes(request.request))
        .map(request => (
          <RequestForm key={request.request} worker={worker} session={info.session_id} request={request} alike={alike} onSend={() => {
            const moveOn = focusAfter()
            return () => (moveOn(), setAnswered(answered => [...answered, request.request]))
          }} />
        ))}
    </>
  )
}

/** The focus goes on when the buttons that have it are taken away: to the next card, or to the heading; in a session to what was
 *  said. Where that is, is found before: a card may be gone sooner than the server says that it took the answer. */
function focusAfter(): () => void {
  const button = document.activeElement
  const card = button?.closest('.need')
  const all = [...(card?.parentElement?.children ?? [])]
  const place = all.indexOf(card!)
  const others = [...all.slice(place + 1), ...all.slice(0, Math.max(0, place))]
  // One that several share stays for the rest of them.
  if (card?.querySelector('.need-others')) others.unshift(card)
  return () => {
    // Who went elsewhere meanwhile stays there.
    const now = document.activeElement
    if (now && now !== document.body && now !== button && !card?.contains(now)) return
    const next = others.find(one => one.isConnected)
    const to = next ? next.querySelector<HTMLElement>('.need-title') : document.querySelector<HTMLElement>(card ? '#needs' : '.reader-scroll')
    to?.focus({ preventScroll: !card })
  }
}

/** A session in somebody's terminal, or a background job: it can be answered there alone. */
export function Elsewhere({ session, isShort = false }: { session: LiveSession; isShort?: boolean }) {
  const { job } = session
  return (
    <div class="ask">
      {!isShort && <p class="ask-what">{sessionInWords(session)}</p>}
      <p class="dim">{job ? `Claude Code runs it in the background as “${job.name ?? job.id}”; open it in a terminal to answer.` : `It runs in a terminal${session.pid ? ` (process ${session.pid})` : ''}; answer it there.`}</p>
      <div class="ask-buttons">
        {!isShort && (
          <a class="button" href={`/s/${session.id}`}>
            Read it
          </a>
        )}
        {job ? <CopyAttach job={job.id} /> : <Button onClick={() => void copy(resumeCommand(session.path, session.id), 'the command')}>Copy command</Button>}
      </div>
    </div>
  )
}
