// The head of a session: what it is, what it does now, and what can be done with it.

import type { Signal } from '@preact/signals'
import { lazy, Suspense } from 'preact/compat'
import type { Schemas } from '../api/client.ts'
import { about, count } from '../format.ts'
import { inWords, type LiveSession } from '../live/fold.ts'
import { togglePin } from '../live/annotations.ts'
import { annotated, rows } from '../live/store.ts'
import { Age, Button, StateDot } from '../ui/parts.tsx'
import type { Layout } from './items.ts'

const Others = lazy(async () => ({ default: (await import('./others.tsx')).Others }))

type Session = Schemas['Session']

interface Props {
  id: string
  session: Session | undefined
  live: LiveSession | undefined
  /** What its worker is to do, while nothing is written yet. */
  task: string | undefined
  layout: Signal<Layout>
  side: Signal<boolean>
  find: () => void
}

export function SessionHead({ id, session, live, task, layout, side, find }: Props) {
  const activity = live?.activity ?? session?.activity ?? undefined
  const title = session?.title ?? task?.split('\n')[0] ?? live?.title ?? 'Session'
  const annotations = annotated.value.get(id) ?? session?.annotations
  const isPinned = annotations?.pinned === true
  return (
    <header class="session-head">
      <div class="session-title">
        <StateDot state={activity?.state} title={activity ? `known from ${activity.evidence ?? 'its transcript'}` : undefined} />
        <h1 title={title}>{title}</h1>
      </div>
      <p class="session-facts">
        {session?.project && <span title={session.cwd ?? undefined}>{rows.value?.find(row => row.id === id)?.project ?? session.project}</span>}
        {session?.branch && <span class="tag">{session.branch}</span>}
        {activity && activity.state !== 'idle' && activity.state !== 'ended' && <span>{inWords(activity as LiveSession['activity'])}</span>}
        {session?.cost_usd ? <span title="estimated">{about(session.cost_usd)}</span> : null}
        {session && session.context_tokens > 0 && <span title={`${session.context_tokens} tokens before the model`}>{count(session.context_tokens)} context</span>}
        {session?.last_modified && <Age at={Date.parse(session.last_modified)} />}
        {(annotations?.tags ?? []).map(tag => (
          <span key={tag} class="tag own">
            {tag}
          </span>
        ))}
        {annotations?.hidden && <span class="tag">hidden</span>}
        {!session?.file && session && <span class="tag">transcript gone</span>}
      </p>
      {annotations?.note && <p class="session-note">{annotations.note}</p>}
      <div class="session-tools">
        <div class="segments" role="group" aria-label="What to show">
          {(['normal', 'conversation', 'prompts'] as const).map(name => (
            <button key={name} type="button" aria-pressed={layout.value === name} onClick={() => (layout.value = name)}>
              {name === 'normal' ? 'All' : name === 'conversation' ? 'Talk' : 'Prompts'}
            </button>
          ))}
        </div>
        <Button kind="quiet" icon="search" label="Find in the whole session" keys="f" onClick={find} />
        <Button kind="quiet" icon="pin" label={isPinned ? 'Unpin' : 'Pin'} pressed={isPinned} onClick={() => togglePin(id)} />
        <Suspense fallback={<span class="menu-place" />}>
          <Others id={id} session={session} title={title} isHidden={annotations?.hidden === true} />
        </Suspense>
        <Button kind="quiet" icon="side" label="Side column" keys="i" pressed={side.value} onClick={() => (side.value = !side.value)} />
      </div>
    </header>
  )
}
