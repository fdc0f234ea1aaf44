// The head of a session: what it is, what it does now, and what can be done with it.

import type { Signal } from '@preact/signals'
import { useSignal } from '@preact/signals'
import type { Schemas } from '../api/client.ts'
import { resumeCommand } from '../chat/command.ts'
import { about, count, dayName } from '../format.ts'
import { inWords, type LiveSession } from '../live/fold.ts'
import { edited, setHidden, togglePin } from '../live/annotations.ts'
import { annotated, now } from '../live/store.ts'
import { Age, Button, StateDot } from '../ui/parts.tsx'
import { attempt, copy } from '../ui/toast.tsx'
import { items, markdown, type Layout } from './items.ts'
import { everything } from './load.ts'

type Session = Schemas['Session']

interface Props {
  id: string
  session: Session | undefined
  live: LiveSession | undefined
  layout: Signal<Layout>
  side: Signal<boolean>
  find: () => void
}

export function SessionHead({ id, session, live, layout, side, find }: Props) {
  const activity = live?.activity ?? session?.activity ?? undefined
  const title = session?.title ?? live?.title ?? 'Session'
  const annotations = annotated.value.get(id) ?? session?.annotations
  const isPinned = annotations?.pinned === true
  return (
    <header class="session-head">
      <div class="session-title">
        <StateDot state={activity?.state} title={activity ? `known from ${activity.evidence ?? 'its transcript'}` : undefined} />
        <h1 title={title}>{title}</h1>
      </div>
      <p class="session-facts">
        {session?.project && <span title={session.cwd ?? undefined}>{session.project}</span>}
        {session?.branch && <span class="tag">{session.branch}</span>}
        {activity && activity.state !== 'idle' && activity.state !== 'ended' && <span>{inWords(activity as LiveSession['activity'])}</span>}
        {session?.cost_usd ? <span title="estimated by list prices">{about(session.cost_usd)}</span> : null}
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
        <More id={id} session={session} title={title} isHidden={annotations?.hidden === true} />
        <Button kind="quiet" icon="side" label="Side column" keys="i" pressed={side.value} onClick={() => (side.value = !side.value)} />
      </div>
    </header>
  )
}

function More({ id, session, title, isHidden }: { id: string; session: Session | undefined; title: string; isHidden: boolean }) {
  const isOpen = useSignal(false)
  const does = (act: () => void) => () => {
    isOpen.value = false
    act()
  }
  const entries: [string, () => void][] = [
    ['Name, tags and note…', () => (edited.value = { id, field: 'name' })],
    [isHidden ? 'Show in lists again' : 'Hide from lists', () => void setHidden(id, !isHidden)],
    ['Copy the command that resumes it', () => void copy(resumeCommand(session?.cwd, id), 'the command')],
    ['Copy the command that forks it', () => void copy(`backstory fork ${id}`, 'the command')],
    ['Copy a link', () => void copy(`${location.origin}/s/${id}`, 'the link')],
    ['Copy the id', () => void copy(id, 'the id')],
    ['Copy as Markdown', () => void attempt(async () => navigator.clipboard.writeText(await asMarkdown(id, title)), 'Copied the conversation')],
    ['Save as Markdown', () => void attempt(async () => save(await asMarkdown(id, title), `${id.slice(0, 8)}.md`))],
    ['Play it in the world', () => location.assign(`/world?replay=${session?.created ?? ''}&session=${id}`)],
  ]
  return (
    <div class="menu" onKeyDown={event => event.key === 'Escape' && isOpen.value && (event.stopPropagation(), (isOpen.value = false))}>
      <button type="button" class="button quiet bare" aria-haspopup="menu" aria-expanded={isOpen.value} aria-label="More" onClick={() => (isOpen.value = !isOpen.value)}>
        ⋯
      </button>
      {isOpen.value && (
        <ul role="menu" class="menu-list">
          {entries.map(([label, act], at) => (
            <li key={label} role="none">
              <button type="button" role="menuitem" autofocus={at === 0} onClick={does(act)}>
                {label}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

async function asMarkdown(id: string, title: string): Promise<string> {
  const places = { left: new Map<string, string>(), dayName: (at: number) => dayName(at, now.peek()) }
  return markdown(title, items(await everything(id), 'normal', places))
}

function save(text: string, name: string): Promise<void> {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/markdown' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  return Promise.resolve()
}
