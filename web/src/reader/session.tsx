// A session: read from its end, its place kept while it grows, and gone on with.

import { signal, useComputed, useSignal } from '@preact/signals'
import { lazy, Suspense } from 'preact/compat'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { get } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { Composer } from '../chat/composer.tsx'
import { Requests } from '../chat/need.tsx'
import { isOver, useWorker, type Worker } from '../chat/worker.ts'
import { dayName, shortPath } from '../format.ts'
import { bind } from '../keys.ts'
import { isWorking } from '../live/fold.ts'
import { edited, togglePin } from '../live/annotations.ts'
import { kept, markRead, readUntil } from '../live/kept.ts'
import { annotated, asking, heard, liveSession, now, rows } from '../live/store.ts'
import { go, list, parts, place } from '../router.ts'
import { Button, ErrorLine, Loading } from '../ui/parts.tsx'
import { SessionHead } from './head.tsx'
import { items, type Layout } from './items.ts'
import { Feed } from './list.tsx'
import { Loader } from './load.ts'
import { Directory } from './path.tsx'
import { Markdown } from './markdown.tsx'
import { anchorOf, isAtEnd, neighbour, restore, showRecord, type Anchor } from './scroll.ts'
import { useOutline } from './outline.ts'
import '../style/reader.css'

const FindBar = lazy(async () => ({ default: (await import('./find.tsx')).FindBar }))
const Side = lazy(async () => ({ default: (await import('./side.tsx')).Side }))
const layout = kept<Layout>('layout', 'normal')
const hasSide = kept('side', true)
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
  const mark = heard(id)
  const session = useResource(signal => get('/api/v1/sessions/{session}', { path: { session: id }, signal }), [id, Math.floor(mark / 8), !loader.window.value, annotated.value.get(id)])
  const outline = useOutline(id, Math.floor(mark / 8) + (loader.window.value ? 1 : 0))
  const finding = useSignal(false)
  const follows = useSignal(true)
  const hasMore = useSignal(false)
  const scroller = useRef<HTMLDivElement>(null)
  const anchor = useRef<Anchor | undefined>(undefined)
  const wanted = useRef<string | undefined>(undefined)
  const readBefore = useMemo(() => readUntil.peek()[id]?.uuid, [id])
  const worker = useWorker(id, mark, text => isWritten(loader, text))

  const shown = useComputed(() => {
    const left = new Map((outline.state.value.data?.prompts ?? []).filter(one => one.left_for && one.uuid).map(one => [one.uuid!, one.left_for!]))
    const origin = session.state.value.data?.forked_from
    const fork = origin && { session: origin.session_id, uuid: origin.message_uuid ?? undefined, title: titleOf(origin.session_id) }
    const places = { left, readUntil: readBefore, fork: fork ?? undefined, dayName: (at: number) => dayName(at, now.peek()) }
    return items(loader.window.value?.messages ?? [], layout.value, places)
  })

  useEffect(() => () => (loader.close(), void (drawer.value = false)), [loader])
  // The address says which record is wanted; without one it is the end.
  const hash = place.value.hash
  useEffect(() => {
    wanted.current = hash || undefined
    follows.value = !hash
    if (hash && scroller.current && showRecord(scroller.current, hash)) return
    if (hash || !loader.window.peek()) void loader.open(hash || undefined)
  }, [hash])
  // What is written while one reads is fetched; the page stays where it is unless it follows.
  useEffect(() => {
    const now = loader.window.peek()
    if (!mark || now?.isLast === false) return
    // A session that has just been started is not written yet.
    const timer = setTimeout(() => void (now ? loader.newer() : loader.open()), 200)
    return () => clearTimeout(timer)
  }, [mark])

  // What is coloured, opened or drawn later changes heights: the place is kept then, too.
  useEffect(() => {
    const at = scroller.current
    if (!at) return
    const watcher = new ResizeObserver(() => {
      if (follows.peek()) at.scrollTop = at.scrollHeight
      else if (anchor.current) restore(at, anchor.current)
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
    hasMore.value = !follows.peek() && loader.window.value.isLast && !isAtEnd(at)
    const last = loader.window.value.messages.at(-1)
    if (loader.window.value.isLast && last) markRead(id, Math.max(Date.now(), Date.parse(last.at ?? '') || 0), last.uuid ?? undefined)
  }, [shown.value, worker.draft.value])

  const onScroll = () => {
    const at = scroller.current
    if (!at) return
    const isEnd = isAtEnd(at)
    const current = loader.window.peek()
    follows.value = isEnd && Boolean(current?.isLast) && !wanted.current
    anchor.current = anchorOf(at)
    if (isEnd) hasMore.value = false
    if (at.scrollTop < 1200) void loader.older()
    if (at.scrollHeight - at.scrollTop - at.clientHeight < 1200 && current && !current.isLast) void loader.newer()
  }

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
    else void loader.open()
  }
  useEffect(
    () =>
      bind('A session', [
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
    [],
  )
  useEffect(() => void (list.row = id), [id])
  const live = liveSession(id)
  const asks = asking(id)
  const ours = worker.worker.value
  const isElsewhere = live?.pid !== undefined && isOver(ours) && live.activity.state !== 'ended'
  const info = session.state.value
  const failed = loader.error.value
  const isUnwritten = failed?.status === 404 && !isOver(ours)
  return (
    <div class={side().value && info.data ? 'reader with-side' : 'reader'}>
      <div class="reader-main">
        <SessionHead id={id} session={info.data} live={live} task={isOver(ours) ? undefined : ours!.task} layout={layout} side={side()} find={() => (finding.value = true)} />
        {finding.value && (
          <Suspense fallback={null}>
            <FindBar
              session={id}
              start=""
              goTo={found => {
                follows.value = false
                if (found.uuid) go(`/s/${id}#${found.uuid}`, { replace: true })
                else void loader.openAt(found.offset)
              }}
              close={() => (finding.value = false)}
            />
          </Suspense>
        )}
        <div ref={scroller} class="reader-scroll" onScroll={onScroll} role="region" aria-label="Messages" tabIndex={0}>
          {failed && !isUnwritten && <ErrorLine error={failed} retry={() => void loader.open(hash || undefined)} />}
          {!loader.window.value && !failed && <Loading lines={9} />}
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
            {asks && (
              <div class="reader-asks">
                <Requests worker={asks.worker} mark={asks.requests.map(one => one.request).join()} />
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
      {side().value && info.data && (
        <Suspense fallback={<aside class="side" />}>
          <Side session={info.data} outline={outline.state.value.data} close={isWide.value ? undefined : () => (drawer.value = false)} />
        </Suspense>
      )}
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

/** A task that is not in a transcript yet, and what it waits for. */
function Unwritten({ worker }: { worker: Worker }) {
  const isQueued = worker.status === 'queued'
  return (
    <>
      <article class="item item-prompt" aria-label="You">
        <div class="prompt-text">{worker.task}</div>
      </article>
      <p class="doing" role="status">
        <i class={isQueued ? 'dot' : 'dot dot-thinking'} /> {isQueued ? `Waits until the session before it has ended: one at a time works in ${shortPath(worker.directory)}` : 'Starting…'}
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
