// The head of a session: what it is, what it does now, and what can be done with it.

import type { Signal } from '@preact/signals'
import type { Schemas } from '../api/client.ts'
import { count, money } from '../format.ts'
import { activityInWords, jobInWords, shownState, type LiveSession } from '../live/fold.ts'
import { togglePin } from '../live/annotations.ts'
import { annotated, rowsById } from '../live/store.ts'
import { loaded } from '../ui/loaded.tsx'
import { Age, Button } from '../ui/parts.tsx'
import { Gauge, StateSign } from '../ui/sign.tsx'
import { Schedules } from '../ui/schedules.tsx'
import type { Layout } from './items.ts'

const MoreMenu = loaded(() => import('./more-menu.tsx'), 'MoreMenu', {
  waiting: () => <span class="menu-place" />,
  failed: ({ again }) => (
    <Button kind="quiet" label="The menu could not be loaded: try again" onClick={again}>
      ↻
    </Button>
  ),
})

type Session = Schemas['Session']

interface Props {
  id: string
  session: Session | undefined
  live: LiveSession | undefined
  /** What its worker is to do, while nothing is written yet. */
  task: string | undefined
  /** Whether a text comes just now, which the transcript does not know yet. */
  isWriting: boolean
  schedules: readonly Schemas['DirectorySchedule'][]
  layout: Signal<Layout>
  side: Signal<boolean>
  find: () => void
}

export function SessionHead({ id, session, live, task, isWriting, schedules, layout, side, find }: Props) {
  const activity = live?.activity ?? session?.activity ?? undefined
  const job = live?.job ?? session?.background_job
  const known = rowsById.value.get(id)
  // A fork is told apart by its number.
  const title = (known?.fork_of ? known.title : session?.title) ?? task?.split('\n')[0] ?? live?.title ?? 'Session'
  const annotations = annotated.value.get(id) ?? session?.annotations
  const isPinned = annotations?.pinned === true
  return (
    <header class="session-head">
      <div class="session-title">
        <StateSign state={shownState(activity as LiveSession['activity'] | undefined, job)} tool={activity?.tool ?? undefined} directs={(live?.subagents.length ?? 0) > 0} title={activity ? `known from ${activity.evidence ?? 'its transcript'}` : undefined} />
        <h1 title={title} dir="auto">{title}</h1>
      </div>
      <p class="session-facts">
        {session?.project && <span title={session.cwd ?? undefined}>{rowsById.value.get(id)?.project ?? session.project}</span>}
        {session?.branch && <span class="tag">{session.branch}</span>}
        {activity && activity.state !== 'idle' && activity.state !== 'ended' && <span>{isWriting ? 'Writing' : activityInWords(activity as LiveSession['activity'])}</span>}
        {job && <span title={job.name ?? undefined}>{jobInWords(job)}</span>}
        {session?.cost_usd ? <span class="fact" title="estimated">{money(session.cost_usd)}</span> : null}
        {session && session.context_tokens > 0 && <span class="fact context-fact" title={`${session.context_tokens} tokens before the model`}><Gauge tokens={session.context_tokens} /> {count(session.context_tokens)} context</span>}
        {session?.last_modified && <Age at={Date.parse(session.last_modified)} />}
        {(annotations?.tags ?? []).map(tag => (
          <span key={tag} class="tag own">
            {tag}
          </span>
        ))}
        {annotations?.hidden && <span class="tag">hidden</span>}
        {session?.archived && (
          <span class="tag" title="Claude Code’s transcript was deleted; this is Backstory’s copy of it">
            transcript gone
          </span>
        )}
        {session && !session.file && <span class="tag">transcript gone</span>}
      </p>
      <Schedules schedules={schedules} />
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
        <MoreMenu id={id} session={session} title={title} isHidden={annotations?.hidden === true} />
        <Button kind="quiet" icon="side" label="Side column" keys="i" pressed={side.value} onClick={() => (side.value = !side.value)} />
      </div>
    </header>
  )
}
