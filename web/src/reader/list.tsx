// The items of a session, one under the other. Not virtual: the browser's own search finds all that is here, and heights are
// real, so that the place one reads at never moves.

import { Component } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { clock, plain } from '../format.ts'
import { go, sessionAddress } from '../router.ts'
import { Icon } from '../ui/icons.tsx'
import { Button } from '../ui/parts.tsx'
import { copy } from '../ui/toast.tsx'
import { quoted } from '../chat/command.ts'
import { forkPlace } from '../chat/fork-place.ts'
import { Agents } from './agents.tsx'
import type { Group } from './groups.ts'
import type { Item } from './items.ts'
import { Markdown } from './markdown.tsx'
import { Picture } from './picture.tsx'
import { ToolCall } from './tool.tsx'

type Shown = Item | Group

interface Props {
  session: string
  items: readonly Shown[]
  isInner?: boolean
}

/** The conversation as a feed: its articles know their place, and how many there are once all are here. */
export function Feed({ session, items, isBusy, isWhole }: Props & { isBusy: boolean; isWhole: boolean }) {
  const feed = useRef<HTMLDivElement>(null)
  // Set beside the articles: those that are here need not be made again because older ones came before them.
  useLayoutEffect(() => {
    const all = feed.current?.children ?? []
    for (let at = 0; at < all.length; at++) {
      all[at]!.setAttribute('aria-posinset', String(at + 1))
      all[at]!.setAttribute('aria-setsize', String(isWhole ? all.length : -1))
    }
  }, [items, isWhole])
  return (
    <div ref={feed} role="feed" aria-label="Conversation" aria-busy={isBusy}>
      <Items session={session} items={items} />
    </div>
  )
}

export function Items({ session, items, isInner = false }: Props) {
  return (
    <>
      {items.map((item, at) => (
        <Entry key={item.key} session={session} item={item} isInner={isInner} isFirstOfAnswer={items[at - 1]?.kind === 'prompt'} />
      ))}
    </>
  )
}

interface EntryProps {
  session: string
  item: Shown
  isInner: boolean
  isFirstOfAnswer: boolean
}

/** One of them, which is made again only where it has changed. */
class Entry extends Component<EntryProps> {
  override shouldComponentUpdate(next: EntryProps) {
    return !isSame(this.props, next)
  }

  override render({ session, item, isInner, isFirstOfAnswer }: EntryProps) {
    if (item.kind === 'agents') {
      return (
        <article class={`item item-tool${isFirstOfAnswer ? ' first' : ''}`} aria-label={labelOf(item)} {...(isInner ? {} : { 'data-key': item.key, tabIndex: -1 })}>
          <Agents group={item}>{() => <Items session={session} items={item.calls} isInner={isInner} />}</Agents>
        </article>
      )
    }
    const place = isInner ? {} : { 'data-uuid': item.uuid, 'data-result': item.kind === 'tool' ? item.resultUuid : undefined, 'data-key': item.key, tabIndex: -1 }
    if (item.kind === 'divider') return <Divider item={item} session={session} place={place} />
    return (
      <article class={`item item-${item.kind}${isFirstOfAnswer ? ' first' : ''}`} aria-label={labelOf(item)} {...place}>
        <Content item={item} session={session} />
        {!isInner && (item.kind === 'prompt' || item.kind === 'text') && <Tools item={item} session={session} />}
      </article>
    )
  }
}

/** A result that arrives changes its call in place of making a new one. */
function isSame(before: EntryProps, after: EntryProps): boolean {
  const [one, other] = [before.item, after.item]
  if (one.key !== other.key || before.session !== after.session || before.isFirstOfAnswer !== after.isFirstOfAnswer) return false
  if (one.kind === 'tool' && other.kind === 'tool') return Boolean(one.result) === Boolean(other.result)
  if (one.kind === 'agents' && other.kind === 'agents') return one.wanted === other.wanted && state(one) === state(other)
  return one.kind === other.kind
}

/** Which of its calls have a result. */
function state({ calls }: Group): string {
  return calls.map(call => (call.result ? '+' : '-')).join('')
}

function labelOf(item: Shown): string {
  if (item.kind === 'agents') return `${item.calls.length} sub-agents`
  const names = { prompt: 'You', text: 'Claude', thinking: 'Thinking', tool: 'Tool', note: 'Note', divider: '' }
  return item.kind === 'tool' ? item.name : names[item.kind]
}

function Content({ item, session }: { item: Exclude<Item, { kind: 'divider' }>; session: string }) {
  switch (item.kind) {
    case 'prompt':
      return (
        <>
          <Prompt text={item.text} />
          {item.how && <small class="dim">{item.how}</small>}
          {item.pictures.map(number => (
            <Picture key={number} session={session} offset={item.offset} number={number} />
          ))}
        </>
      )
    case 'text':
      return <Markdown text={item.text} />
    case 'thinking':
      return <Thinking text={item.text} />
    case 'tool':
      return <ToolCall item={item} session={session} />
    case 'note':
      if (item.note === 'summary') return <Summary text={item.text} />
      return <p class={item.note === 'scheduled' || item.note === 'agent' ? 'note-scheduled' : 'note-error'}>{item.text}</p>
  }
}

/** The longest prompt that is shown whole, in characters. */
const LONG = 1800

function Prompt({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(text.length <= LONG)
  return (
    <>
      <div class="prompt-text">{isOpen ? text : `${text.slice(0, LONG)}…`}</div>
      {!isOpen && (
        <Button kind="quiet" onClick={() => setOpen(true)}>
          Show the whole prompt
        </Button>
      )}
    </>
  )
}

function Thinking({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(false)
  const first = plain(text.trim().split('\n')[0] ?? '')
  return (
    <>
      <button type="button" class="thinking-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? 'down' : 'right'} />
        <span>Thought</span> {!isOpen && <i>{first}</i>}
      </button>
      {isOpen && <div class="thinking-text">{text}</div>}
    </>
  )
}

function Summary({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div class="summary">
      <Button kind="quiet" icon={isOpen ? 'down' : 'right'} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Hide the summary' : 'The summary that the model went on with'}
      </Button>
      {isOpen && <Markdown text={text} />}
    </div>
  )
}

function Divider({ item, session, place }: { item: Item & { kind: 'divider' }; session: string; place: object }) {
  return (
    <article class={`divider divider-${item.what}`} aria-label={item.text} {...place}>
      {item.target || item.from ? (
        <button type="button" onClick={() => go(sessionAddress(item.from ?? session, item.target))}>
          {item.text} · open it
        </button>
      ) : (
        <span>{item.text}</span>
      )}
    </article>
  )
}

function Tools({ item, session }: { item: Item & { kind: 'prompt' | 'text' }; session: string }) {
  const link = () => new URL(sessionAddress(session, item.uuid), location.href).href
  return (
    <div class="item-tools">
      {item.at && <time dateTime={new Date(item.at).toISOString()}>{clock(item.at)}</time>}
      <Button kind="quiet" icon="copy" label="Copy as Markdown" onClick={() => void copy(item.text, 'the text')} />
      {item.uuid && <Button kind="quiet" icon="link" label="Copy a link to this" onClick={() => void copy(link(), 'the link')} />}
      {item.uuid && (
        <Button
          kind="quiet"
          icon="fork"
          label="Fork here"
          onClick={() => (forkPlace.value = { session, uuid: item.uuid!, text: item.text })}
        />
      )}
      {item.uuid && (
        <Button
          kind="quiet"
          icon="document"
          label="Copy the command that forks here"
          onClick={() => void copy(`backstory fork ${session} --at ${quoted(item.uuid!)}`, 'the command')}
        />
      )}
    </div>
  )
}
