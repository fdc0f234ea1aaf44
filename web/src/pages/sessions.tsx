// All sessions: filtered by the address, in groups that fold, one line each, however many there are.

import { computed, useComputed, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { VList, type VListHandle } from 'virtua'
import { baseName, dayName, grouped, plural } from '../format.ts'
import { bind } from '../keys.ts'
import { annotationsNow, edited, setHidden, togglePin } from '../live/annotations.ts'
import { isUnread, markRead } from '../live/persisted.ts'
import { askForHidden, hiddenRows, liveSession, needing, now, refreshRows, rows, rowsError, type Row } from '../live/store.ts'
import { attachCommand } from '../chat/command.ts'
import { requestInShort, sessionInWords, shownState, titleWith, type State } from '../live/fold.ts'
import { go, list as last, place, setQuery } from '../router.ts'
import { Icon } from '../ui/icons.tsx'
import { Chip, Empty, ErrorLine, Head, JobTag, Loading, NoSessions } from '../ui/parts.tsx'
import { LineHeads, SessionLine } from '../ui/session-line.tsx'
import { StateSign } from '../ui/sign.tsx'
import { copy } from '../ui/toast.tsx'
import { follow, lines, readFilter, select, type Cursor, type Filter, type Known, type Line } from './filter.ts'
import '../style/sessions.css'

const SHOWS: [Filter['show'], string][] = [
  ['all', 'All'],
  ['unread', 'Unread'],
  ['running', 'Running'],
  ['waiting', 'Waiting'],
  ['pinned', 'Pinned'],
  ['archived', 'Archived'],
  ['gone', 'Transcript gone'],
  ['hidden', 'Hidden'],
]

const filter = computed(() => readFilter(place.value.query))
const known = computed(
  (): Known => ({
    isUnread: row => isUnread(row.id, row.last),
    state: stateOf,
    groupOfDay: at => dayName(at, now.value),
  }),
)
const needed = computed(() => new Set(needing.value.map(session => session.id)))
const listed = computed(() => (filter.value.show === 'hidden' ? hiddenRows.value : rows.value))
const chosen = computed(() => select(listed.value ?? [], filter.value, known.value))
const shown = computed(() => lines(chosen.value, filter.value, known.value))

function stateOf(row: Row): State | undefined {
  const live = liveSession(row.id)
  if (needed.value.has(row.id)) return 'waiting_permission'
  return shownState(live?.activity ?? (row.state ? { state: row.state } : undefined), live?.job ?? row.background_job)
}

export function Sessions() {
  const cursor = useSignal<Cursor | undefined>(undefined)
  const view = useRef<VListHandle>(null)
  const field = useRef<HTMLInputElement>(null)
  const selected = useComputed(() => shown.value.find(line => line.key === cursor.value?.key))
  useEffect(() => {
    if (filter.value.show === 'hidden') askForHidden()
  }, [filter.value.show])
  // The list changes under it: what a key does is done to the session that is marked, not to whatever came in its place.
  useSignalEffect(() => {
    const all = shown.value
    const before = cursor.peek()
    if (before) cursor.value = follow(all, before)
  })
  useEffect(() => void (last.query = location.search), [place.value.query.toString()])
  // Who comes back goes on where they were.
  useEffect(() => {
    const at = shown.peek().findIndex(line => line.key === last.row)
    if (at < 0) return
    cursor.value = { key: last.row, at }
    view.current?.scrollToIndex(at, { align: 'center' })
  }, [listed.value === undefined])
  useEffect(() => {
    const move = (by: number) => {
      const all = shown.peek()
      let at = (cursor.peek()?.at ?? -1) + by
      while (all[at]?.kind === 'group') at += by
      const line = all[at]
      if (line) {
        cursor.value = { key: line.key, at }
        view.current?.scrollToIndex(at, { align: 'nearest' })
      }
    }
    const withRow = (act: (row: Row) => void) => () => {
      const line = selected.peek()
      if (line?.kind === 'row') act(line.row)
    }
    return bind('Sessions', [
      { keys: 'j, down', what: 'Next session', run: () => move(1) },
      { keys: 'k, up', what: 'Previous session', run: () => move(-1) },
      { keys: 'enter, o', what: 'Open', run: withRow(row => go(`/s/${row.id}`)) },
      { keys: 'p', what: 'Pin or unpin', run: withRow(row => togglePin(row.id)) },
      { keys: 't', what: 'Tags', opensField: true, run: withRow(row => (edited.value = { id: row.id, field: 'tags' })) },
      { keys: 'r', what: 'Name', opensField: true, run: withRow(row => (edited.value = { id: row.id, field: 'name' })) },
      { keys: 'e', what: 'Note', opensField: true, run: withRow(row => (edited.value = { id: row.id, field: 'note' })) },
      { keys: 'x', what: 'Hide, or show again', run: withRow(row => void setHidden(row.id, !annotationsNow(row.id).hidden)) },
      { keys: 'm', what: 'Mark as read', run: withRow(row => markRead(row.id, Date.now())) },
      { keys: 'a', what: 'Copy the command that attaches to a background job', run: withRow(row => row.background_job && void copy(attachCommand(row.background_job.id), 'the command')) },
      { keys: 'f', what: 'Filter', opensField: true, run: () => field.current?.focus() },
      { keys: 'escape', what: 'Clear the filter', run: () => (field.current?.blur(), setQuery({ q: undefined })) },
    ])
  }, [])
  const all = listed.value
  return (
    <div class="sessions">
      <Head title="Sessions" note={all && (chosen.value.length === all.length ? grouped(all.length) : `${grouped(chosen.value.length)} of ${grouped(all.length)}`)}>
        <a class="button" href="/workers">
          Workers
        </a>
      </Head>
      <Filters field={field} />
      {rowsError.value && !all && <ErrorLine error={{ message: rowsError.value }} retry={() => void refreshRows()} />}
      {!all && !rowsError.value && <Loading lines={12} />}
      {all && !chosen.value.length && (rows.value?.length === 0 && filter.value.show !== 'hidden' ? <NoSessions /> : (
        <Empty title={filter.value.show === 'hidden' && !all.length ? 'No session is hidden' : 'No session matches'}>
          <a href="/sessions">Show all {plural(rows.value?.length ?? 0, 'session')}</a> or{' '}
          <a href={`/search?q=${encodeURIComponent(filter.value.text)}`}>search what was said in them</a>.
        </Empty>
      ))}
      {all && chosen.value.length > 0 && (
        <>
        <LineHeads />
        <VList ref={view as never} class="session-list" role="region" aria-label="All sessions">
          {shown.value.map((line, at) => (
            <ListLine key={line.key} line={line} at={at} total={shown.value.length} isCurrent={line.key === cursor.value?.key} />
          ))}
        </VList>
        </>
      )}
    </div>
  )
}

function Filters({ field }: { field: { current: HTMLInputElement | null } }) {
  const { text, show, group, project, branch, tag } = filter.value
  const tags = [...new Set([...(rows.value ?? []).flatMap(row => row.tags ?? []), ...(tag ? [tag] : [])])].sort((one, other) => one.localeCompare(other))
  return (
    <div class="filters" role="search">
      <input
        ref={field}
        class="field grow"
        type="search"
        aria-label="Filter sessions by title, project, branch or tag"
        placeholder="Filter by title, project, branch, tag"
        value={text}
        onInput={event => setQuery({ q: event.currentTarget.value })}
      />
      <select class="field" aria-label="Which sessions" value={show} onChange={event => setQuery({ show: event.currentTarget.value === 'all' ? undefined : event.currentTarget.value })}>
        {SHOWS.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <select class="field" aria-label="Group by" value={group} onChange={event => setQuery({ group: event.currentTarget.value === 'day' ? undefined : event.currentTarget.value })}>
        <option value="day">By day</option>
        <option value="project">By project</option>
        <option value="none">One list</option>
      </select>
      {tags.length > 0 && (
        <select class="field" aria-label="Tag" value={tag} onChange={event => setQuery({ tag: event.currentTarget.value || undefined })}>
          <option value="">Any tag</option>
          {tags.map(name => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      {project && <Chip name="project" value={baseName(project)} remove={() => setQuery({ project: undefined })} />}
      {branch && <Chip name="branch" value={branch} remove={() => setQuery({ branch: undefined })} />}
    </div>
  )
}

function ListLine({ line, at, total, isCurrent }: { line: Line; at: number; total: number; isCurrent: boolean }) {
  if (line.kind === 'group') {
    const toggle = () => {
      const folded = new Set(filter.peek().folded)
      if (!folded.delete(line.name)) folded.add(line.name)
      setQuery({ fold: [...folded].join('|') || undefined })
    }
    return (
      <h2 class="group">
        <button type="button" aria-expanded={!line.isFolded} onClick={toggle}>
          <Icon name={line.isFolded ? 'right' : 'down'} /> {line.name} <span class="dim">{line.count}</span>
        </button>
      </h2>
    )
  }
  return <SessionRow row={line.row} at={at} total={total} isCurrent={isCurrent} />
}

function SessionRow({ row, at, total, isCurrent }: { row: Row; at: number; total: number; isCurrent: boolean }) {
  const live = liveSession(row.id)
  const state = stateOf(row)
  const job = live?.job ?? row.background_job
  const isActive = live && state !== 'idle' && state !== 'ended'
  const title = titleWith(row.title ?? 'Untitled', job)
  const classes = ['row', isUnread(row.id, row.last) ? 'unread' : '', isCurrent ? 'current' : '', row.gone ? 'gone' : '']
  return (
    <article aria-posinset={at + 1} aria-setsize={total} aria-label={title}>
      <SessionLine
        href={`/s/${row.id}`}
        classes={classes.filter(Boolean).join(' ')}
        sign={<StateSign state={state} tool={live?.activity.tool} directs={(live?.subagents.length ?? 0) > 0} title={live ? `${sessionInWords(live)} (known from ${live.activity.evidence ?? 'its transcript'})` : undefined} />}
        title={title}
        tags={<Tags row={row} job={job} />}
        doing={job?.needs ?? (live && isActive ? requestInShort(sessionInWords(live)) : [row.branch, plural(row.messages, 'message')].filter(Boolean).join(' · '))}
        agents={live?.subagents.length ?? 0}
        context={row.context}
        cost={row.cost}
        project={row.project}
        at={row.last}
        isUnderDay={filter.value.group === 'day' && !row.pinned}
      />
    </article>
  )
}

/** What else there is to know of a session, behind its title. */
function Tags({ row, job }: { row: Row; job: Row['background_job'] }) {
  return (
    <>
      {job && <JobTag state={job.state} />}
      {row.pinned && <Icon name="pin" />}
      {row.note && (
        <span class="row-note" title={row.note}>
          <Icon name="document" />
        </span>
      )}
      {row.fork_of && <Icon name="fork" />}
      {(row.tags ?? []).map(tag => (
        <span key={tag} class="tag own">
          {tag}
        </span>
      ))}
      {row.agent && (
        <span class="tag" title={`OpenClaw agent ${row.agent}`}>
          <Icon name="agent" /> {row.agent}
        </span>
      )}
      {row.gone && <span class="tag">gone</span>}
    </>
  )
}
