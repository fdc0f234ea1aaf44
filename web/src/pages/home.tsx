// Home: what needs the person, what runs, and what was done today by repository.

import { needing, now, refreshRows, rows, rowsError, waiting, working } from '../live/store.ts'
import { sessionInWords, shownState, titleWith, type LiveSession } from '../live/fold.ts'
import { isUnread } from '../live/persisted.ts'
import { DAY, dayName, money, plural, shortPath } from '../format.ts'
import { attachCommand } from '../chat/command.ts'
import { NeedCard } from '../chat/need.tsx'
import { Icon } from '../ui/icons.tsx'
import { Age, Button, ErrorLine, JobTag, Loading, NoSessions, StateDot } from '../ui/parts.tsx'
import { copy } from '../ui/toast.tsx'
import { byRepository, latestDay, type Group } from './today.ts'

/** How many sessions of a repository are shown before "more". */
const SHOWN = 6

export function Home() {
  return (
    <div class="home">
      <Needs />
      <Sessions id="running" title="Running" sessions={working.value} />
      <Sessions id="turns" title="Your turn" sessions={waiting.value} />
      <Done />
    </div>
  )
}

function Needs() {
  const sessions = needing.value
  return (
    <section aria-labelledby="needs">
      <h1 id="needs" class="home-title" tabIndex={-1}>
        <span class="grow">{sessions.length ? `${plural(sessions.length, 'session')} ${sessions.length === 1 ? 'needs' : 'need'} you` : 'Nothing needs you'}</span>
        <a class="button main phone-only" href="/new" aria-label="New session">
          <Icon name="plus" /> New
        </a>
      </h1>
      <div class="needs">
        {sessions.map(session => (
          <NeedCard key={session.id} session={session} />
        ))}
      </div>
    </section>
  )
}

function Sessions({ id, title, sessions }: { id: string; title: string; sessions: readonly LiveSession[] }) {
  if (!sessions.length) return null
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title} <span class="dim">{sessions.length}</span>
      </h2>
      <ul class="rows">
        {sessions.map(session => (
          <RunningRow key={session.id} session={session} />
        ))}
      </ul>
    </section>
  )
}

function RunningRow({ session }: { session: LiveSession }) {
  const { activity } = session
  const since = activity.since ? new Date(activity.since).getTime() : session.lastActivity
  const { job } = session
  return (
    <li class={job && 'with-action'}>
      <a class="row" href={`/s/${session.id}`}>
        <StateDot state={activity.state} title={`${sessionInWords(session)} (known from ${activity.evidence ?? 'its transcript'})`} />
        <span class="row-title" dir="auto">{titleWith(session.title, job)}</span>
        <span class="row-doing">{sessionInWords(session)}</span>
        {job && <JobTag />}
        {session.subagents.length > 0 && <span class="tag">{plural(session.subagents.length, 'sub-agent')}</span>}
        <span class="row-project">{session.project}</span>
        <Age at={since} />
      </a>
      {job && <Button kind="quiet" icon="copy" label={`Copy ${attachCommand(job.id)}`} onClick={() => void copy(attachCommand(job.id), 'the command')} />}
    </li>
  )
}

function Done() {
  const all = rows.value
  if (rowsError.value && !all) return <ErrorLine error={{ message: rowsError.value }} retry={() => void refreshRows()} />
  if (!all) return <Loading />
  if (!all.length) return <NoSessions />
  const { since, isToday } = latestDay(all, now.value)
  const groups = byRepository(all, since, since + DAY)
  const total = groups.reduce((sum, group) => sum + group.cost, 0)
  const sessions = groups.reduce((sum, group) => sum + group.rows.length, 0)
  return (
    <section aria-labelledby="done">
      <h2 id="done">
        {isToday ? 'Today' : dayName(since, now.value)}{' '}
        <span class="dim">
          {sessions ? `${plural(sessions, 'session')} in ${plural(groups.length, 'repository', 'repositories')}` : 'nothing yet'}
          {total > 0 && ` · ${money(total)}`}
        </span>
      </h2>
      {groups.map(group => (
        <Repository key={group.path} group={group} />
      ))}
      <p class="more-line">
        <a href="/sessions">All {plural(all.length, 'session')}</a>
      </p>
    </section>
  )
}

function Repository({ group }: { group: Group }) {
  const rest = group.rows.length - SHOWN
  return (
    <section class="repository" aria-label={group.name}>
      <h3>
        <a href={`/sessions?project=${encodeURIComponent(group.path)}`}>{group.name}</a>
        <span class="dim path">{shortPath(group.path)}</span>
        {group.cost > 0 && <span class="dim">{money(group.cost)}</span>}
      </h3>
      <ul class="rows">
        {group.rows.slice(0, SHOWN).map(row => (
          <li key={row.id}>
            <a class={`row${isUnread(row.id, row.last) ? ' unread' : ''}`} href={`/s/${row.id}`}>
              <StateDot state={shownState(row.state ? { state: row.state } : undefined, row.background_job)} />
              <span class="row-title" dir="auto">{titleWith(row.title ?? 'Untitled', row.background_job)}</span>
              {row.background_job && <JobTag state={row.background_job.state} />}
              {row.branch && <span class="tag">{row.branch}</span>}
              <span class="row-number">{plural(row.messages, 'message')}</span>
              <Age at={row.last} isUnderDay />
            </a>
          </li>
        ))}
      </ul>
      {rest > 0 && <a href={`/sessions?project=${encodeURIComponent(group.path)}`}>{rest} more</a>}
    </section>
  )
}

