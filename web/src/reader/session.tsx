// A session: read from its end, its place kept while it grows, and gone on with.

import { signal, useComputed, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { get, type Failure } from '../api/client.ts'
import { notYet, useResource } from '../api/resource.ts'
import { Composer } from '../chat/composer.tsx'
import { Requests } from '../chat/need.tsx'
import { isOver, useWorker, type Worker } from '../chat/worker.ts'
import { dayName, shortPath } from '../format.ts'
import { bind } from '../keys.ts'
import { isWorking } from '../live/fold.ts'
import { edited, togglePin } from '../live/annotations.ts'
import { persisted, markRead, readUntil } from '../live/persisted.ts'
import { annotated, requestsOf, eventCount, isOnDisk, liveSession, now, rows } from '../live/store.ts'
import { go, list, parts, place } from '../router.ts'
import { Broken, loaded } from '../ui/loaded.tsx'
import { Button, ErrorLine, Head, Loading } from '../ui/parts.tsx'
import { SessionHead } from './head.tsx'
import { groupAgents } from './groups.ts'
import { items, type Layout } from './items.ts'
import { Feed } from './list.tsx'
import { Loader } from './load.ts'
import { Directory } from './path.tsx'
import { Markdown } from './markdown.tsx'
import { mark as markWords } from './marks.ts'
import { anchorOf, isAtEnd, isFarFromEnd, neighbour, restore, showRecord, type Anchor } from './scroll.ts'
import { useOutline } from './outline.ts'
import '../style/reader.css'

const FindBar = loaded(() => import('./find.tsx'), 'FindBar', { waiting: () => null })
const Side = loaded(() => import('./side.tsx'), 'Side', {
  waiting: () => <aside class="side" />,
  failed: ({ again, close }) => (
    <aside class="side">
      <Broken again={again} />
      {close && <Button onClick={close}>Close</Button>}
    </aside>
  ),
})
const layout = persisted<Layout>('layout', 'normal')
const hasSide = persisted('side', true)
/** Whether the column is open where it lies over the messages: never before it is asked for. */
const drawer = signal(false)
const wide = matchMedia('(min-width: 1081px)')
const isWide = signal(wide.matches)
wide.addEventListener('change', () => (isWide.value = wide.matches))
const side = () => (isWide.value ? hasSide : drawer)

export function SessionPage() {
  const id = parts.value[1] ?? ''
  return id ? <Reader key={id} id={id} /> : null
}

function Reader({ id }: { id: string }) {
  const loader = useMemo(() => new Loader(id), [id])
  const mark = eventCount(id)
  const worker = useWorker(id, mark, async text => isThere.peek() && isWritten(loader, text))
  const ours = worker.worker.value
  // Where a worker has only begun there is no transcript to ask for.
  const isThere = useSignal(isOnDisk(id) === true)
  if (!isThere.peek() && (isOnDisk(id) || (worker.isAsked.value && isOver(ours)))) isThere.value = true
  const session = useResource(
    signal => (isThere.peek() ? get('/api/v1/sessions/{session}', { path: { session: id }, signal }) : notYet),
    [id, Math.floor(mark / 8), !loader.window.value, annotated.value.get(id), isThere.value],
  )
  const outline = useOutline(id, Math.floor(mark / 8) + (loader.window.value ? 1 : 0), isThere.value)
  const finding = useSignal(false)
  const query = useSignal('')
  const follows = useSignal(true)
  /** Whether there is more below than one sees. */
  const hasMore = useSignal(false)
  const scroller = useRef<HTMLDivElement>(null)
  const anchor = useRef<Anchor | undefined>(undefined)
  const wanted = useRef<string | undefined>(undefined)
  /** Whether the end was asked for and is still on its way. */
  const goesToEnd = useRef(false)
  const readBefore = useMemo(() => readUntil.peek()[id]?.uuid, [id])

  const shown = useComputed(() => {
    const origin = session.state.value.data?.forked_from
    const fork = origin && { session: origin.session_id, uuid: origin.message_uuid ?? undefined, title: titleOf(origin.session_id) }
    const places = { wanted: place.value.hash, branches: outline.state.value.data?.branches ?? [], readUntil: readBefore, fork: fork ?? undefined, dayName: (at: number) => dayName(at, now.peek()) }
    return groupAgents(items(loader.window.value?.messages ?? [], layout.value, places), place.value.hash)
  })

  useEffect(() => () => (loader.close(), void (drawer.value = false)), [loader])
  // The address says which record is wanted; without one it is the end.
  const hash = place.value.hash
  useEffect(() => {
    wanted.current = hash || undefined
    follows.value = !hash
    if (hash && scroller.current && showRecord(scroller.current, hash)) return
    if (isThere.peek() && (hash || !loader.window.peek())) void loader.open(hash || undefined)
  }, [hash, isThere.value])
  // What is written while one reads is fetched; the page stays where it is unless it follows.
  useEffect(() => {
    if (!mark || !isThere.peek()) return
    const timer = setTimeout(() => void loader.update(), 200)
    return () => clearTimeout(timer)
  }, [mark])

  const words = place.value.query.getAll('mark')
  const markAll = () => markWords(query.value ? scroller.current : scroller.current?.querySelector('.found'), query.value ? [query.value] : words)
  const marking = useRef(markAll)
  marking.current = markAll
  useEffect(markAll, [shown.value, query.value, words.join(), hash])
  useEffect(() => () => markWords(undefined, []), [])
  // What is coloured, opened or drawn later changes heights: the place is kept then, too.
  useEffect(() => {
    const at = scroller.current
    if (!at) return
    const watcher = new ResizeObserver(() => {
      if (follows.peek()) at.scrollTop = at.scrollHeight
      else if (anchor.current) restore(at, anchor.current)
      marking.current()
    })
    watcher.observe(at)
    for (const child of at.children) watcher.observe(child)
    return () => watcher.disconnect()
  }, [loader.window.value === undefined])
  useLayoutEffect(() => {
    const at = scroller.current
    if (!at || !loader.window.value) return
    if (wanted.current && showRecord(at, wanted.current)) wanted.current = undefined
    else if (follows.peek()) at.scrollTop = at.scrollHeight
    else if (anchor.current) restore(at, anchor.current)
    if (loader.window.value.isLast) goesToEnd.current = false
    hasMore.value = !follows.peek() && (!loader.window.value.isLast || !isAtEnd(at))
    const last = loader.window.value.messages.at(-1)
    if (loader.window.value.isLast && last) markRead(id, Math.max(Date.now(), Date.parse(last.at ?? '') || 0), last.uuid ?? undefined)
  }, [shown.value, worker.draft.value])

  const onScroll = () => {
    const at = scroller.current
    if (!at) return
    const isEnd = isAtEnd(at)
    const current = loader.window.peek()
    follows.value = goesToEnd.current || (isEnd && Boolean(current?.isLast) && !wanted.current)
    anchor.current = anchorOf(at)
    if (isEnd && current?.isLast) hasMore.value = false
    else if (current && (!current.isLast || isFarFromEnd(at))) hasMore.value = true
    lookAround(at)
  }
  /** Asks for what is nearly in sight. */
  const lookAround = (at: HTMLElement) => {
    const current = loader.window.peek()
    if (at.scrollTop < 1200) void loader.older()
    if (at.scrollHeight - at.scrollTop - at.clientHeight < 1200 && current && !current.isLast) void loader.newer()
  }
  // One end is not asked for while the other is: it may still be in sight afterwards.
  useEffect(() => {
    if (scroller.current && loader.busy.value === undefined && !loader.error.peek()) lookAround(scroller.current)
  }, [loader.busy.value])

  const info = session.state.value
  const failed = loader.error.value
  const isUnwritten = !isOver(ours) && (isThere.value ? failed?.status === 404 : isOnDisk(id) === false)
  const isUnknown = failed?.status === 404 && !isUnwritten && !info.loading && !info.data

  const step = (selector: string, by: number) => {
    const at = scroller.current
    if (!at) return
    const next = neighbour(at, selector, by)
    if (!next) return void (at.scrollTop = by > 0 ? at.scrollHeight : 0)
    // The focus goes along: what can be done with a message is next to it, and a screen reader reads it.
    next.focus({ preventScroll: true })
    at.scrollTop += next.getBoundingClientRect().top - at.getBoundingClientRect().top - 24
  }
  const toEnd = () => {
    follows.value = true
    if (place.peek().hash) go(place.peek().path, { replace: true })
    if (loader.window.peek()?.isLast) scroller.current!.scrollTop = scroller.current!.scrollHeight
    else {
      goesToEnd.current = true
      void loader.open()
    }
  }
  useEffect(
    () =>
      isUnknown ? undefined : bind('A session', [
        { keys: 'j', what: 'Next message', run: () => step('.item', 1) },
        { keys: 'k', what: 'Previous message', run: () => step('.item', -1) },
        { keys: 'shift+j', what: 'Next prompt', run: () => step('.item-prompt', 1) },
        { keys: 'shift+k', what: 'Previous prompt', run: () => step('.item-prompt', -1) },
        { keys: 'shift+g, end', what: 'To the end, and follow', run: toEnd },
        { keys: 'f', what: 'Find in the whole session', opensField: true, run: () => (finding.value = true) },
        { keys: 'l', what: 'All, conversation, or prompts only', run: nextLayout },
        { keys: 'i', what: 'Show or hide the side', run: () => (side().value = !side().peek()) },
        { keys: 'p', what: 'Pin or unpin', run: () => togglePin(id) },
        { keys: 't', what: 'Tags', opensField: true, run: () => (edited.value = { id, field: 'tags' }) },
        { keys: 'r', what: 'Name', opensField: true, run: () => (edited.value = { id, field: 'name' }) },
        { keys: 'e', what: 'Note', opensField: true, run: () => (edited.value = { id, field: 'note' }) },
        { keys: 'c', what: 'Write to the session', opensField: true, run: () => document.querySelector<HTMLElement>('.composer-text')?.focus() },
        { keys: 'escape', what: 'Close, or go back to the list', run: () => (drawer.value ? (drawer.value = false) : finding.value ? (finding.value = false) : go(`/sessions${list.query}`)) },
      ]),
    [isUnknown],
  )
  useEffect(() => void (list.row = id), [id])
  const live = liveSession(id)
  const open = requestsOf(id)
  const isElsewhere = live?.pid !== undefined && isOver(ours) && live.activity.state !== 'ended'
  if (isUnknown) return <Unknown failure={failed!} worker={ours} again={() => void loader.open(hash || undefined)} />
  return (
    <div class={side().value && info.data ? 'reader with-side' : 'reader'}>
      <div class="reader-main">
        <SessionHead id={id} session={info.data} live={live} task={isOver(ours) ? undefined : ours!.task} isWriting={Boolean(worker.draft.value)} schedules={outline.state.value.data?.schedules ?? []} layout={layout} side={side()} find={() => (finding.value = true)} />
        {finding.value && (
          <FindBar
            session={id}
            onQuery={text => (query.value = text)}
            goTo={found => {
              follows.value = false
              if (found.uuid) go(`/s/${id}#${found.uuid}`, { replace: true })
              else void loader.openAt(found.offset)
            }}
            close={() => (finding.value = false)}
          />
        )}
        <div ref={scroller} class="reader-scroll" onScroll={onScroll} role="region" aria-label="Messages" tabIndex={0}>
          {failed && !isUnwritten && <ErrorLine error={failed} retry={() => void loader.open(hash || undefined)} />}
          {loader.isMissing.value && <p class="note-error" role="status">The message that the address names is not in this session. This is its end.</p>}
          {!loader.window.value && !failed && !isUnwritten && <Loading lines={9} />}
          <div class="items">
            {loader.window.value?.older && <p class="edge dim">{loader.busy.value === 'older' ? 'Loading older messages…' : ' '}</p>}
            {isUnwritten && <Unwritten worker={ours!} />}
            <Directory.Provider value={info.data?.cwd ?? undefined}>
              <Feed session={id} items={shown.value} isBusy={loader.busy.value !== undefined} isWhole={loader.window.value?.isLast === true && !loader.window.value.older} />
            </Directory.Provider>
            {worker.draft.value && (
              <article class="item item-text draft" aria-label="Claude is writing">
                <Markdown text={worker.draft.value} />
              </article>
            )}
            {loader.window.value?.isLast && isWorking(live?.activity.state) && !worker.draft.value && <Doing id={id} />}
            {open && (
              <div class="reader-requests">
                <Requests session={id} worker={open.worker} mark={open.requests.map(one => one.request).join()} />
              </div>
            )}
          </div>
        </div>
        {hasMore.value && (
          <div class="new-below">
            <Button kind="main" onClick={toEnd}>
              ↓ To the end
            </Button>
          </div>
        )}
        <Composer
          session={id}
          worker={ours}
          isBusy={isWorking(live?.activity.state)}
          obstacle={ours?.status === 'queued' ? 'Write when it has begun' : isElsewhere ? `Open in a terminal (process ${live!.pid}); write there, or continue in a fork` : undefined}
          onSent={() => {
            follows.value = true
            setTimeout(() => void loader.newer(), 400)
          }}
        />
      </div>
      {side().value && info.data && <Side session={info.data} outline={outline.state.value.data} close={isWide.value ? undefined : () => (drawer.value = false)} />}
    </div>
  )
}

/** Whether a text is among the last messages of the transcript, after those that are new are fetched. Who reads elsewhere in the
 *  session is left there. */
async function isWritten(loader: Loader, text: string | undefined): Promise<boolean> {
  const before = loader.window.peek()
  if (before?.isLast === false) return true
  await (before ? loader.newer() : loader.open())
  const last = loader.window.peek()?.messages.slice(-20) ?? []
  return text === undefined || last.some(message => message.role === 'assistant' && message.blocks.some(block => block.type === 'text' && block.text.trim() === text.trim()))
}

/** In place of a session that is not there, with nothing that would need it. */
function Unknown({ failure, worker, again }: { failure: Failure; worker: Worker | undefined; again: () => void }) {
  return (
    <>
      <Head title={worker ? 'Nothing was written in this session' : 'There is no such session'} />
      <div class="content narrow">
        {worker ? (
          <p class="error" role="alert">
            {worker.status === 'failed' ? worker.message : 'Its worker ended before Claude Code wrote anything.'}
          </p>
        ) : (
          <ErrorLine error={failure} retry={again} />
        )}
        {worker && <p>The task was: {worker.task}</p>}
        <p>
          <a href="/sessions">All sessions</a> · <a href="/search">Search</a>
        </p>
      </div>
    </>
  )
}

/** A task that is not in a transcript yet, and what it waits for. */
function Unwritten({ worker }: { worker: Worker }) {
  const isQueued = worker.status === 'queued'
  return (
    <>
      <article class="item item-prompt" aria-label="You">
        <div class="prompt-text">{worker.task}</div>
      </article>
      <p class="doing" role="status">
        <i class={isQueued ? 'dot' : 'dot dot-thinking'} /> {isQueued ? `Waiting for the session before it to end: only one at a time works in ${shortPath(worker.directory)}` : 'Starting…'}
      </p>
    </>
  )
}

function titleOf(id: string): string {
  return rows.value?.find(row => row.id === id)?.title ?? id.slice(0, 8)
}

function Doing({ id }: { id: string }) {
  const live = liveSession(id)
  if (!live) return null
  const { state, tool, detail } = live.activity
  return (
    <p class="doing" role="status">
      <i class="dot dot-thinking" /> {state === 'tool_use' ? `${tool ?? 'Tool'}${detail ? `: ${detail}` : ''}` : state === 'responding' ? 'Writing…' : 'Thinking…'}
      {live.subagents.map(agent => (
        <span key={agent.taskId} class="tag">
          {agent.description || agent.subagentType}
        </span>
      ))}
    </p>
  )
}

const LAYOUTS: Layout[] = ['normal', 'conversation', 'prompts']

function nextLayout(): void {
  layout.value = LAYOUTS[(LAYOUTS.indexOf(layout.peek()) + 1) % LAYOUTS.length]!
}
