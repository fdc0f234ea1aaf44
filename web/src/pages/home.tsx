// Home: what needs the person, what failed, what runs, and what was done today by repository.

import { failing, needing, now, refreshRows, rows, rowsById, rowsError, waiting, working } from '../live/store.ts'
import { sessionInWords, shownState, titleWith, type LiveSession } from '../live/fold.ts'
import { isUnread } from '../live/persisted.ts'
import { DAY, dayName, money, plural, shortPath } from '../format.ts'
import { attachCommand } from '../chat/command.ts'
import { Needs } from '../chat/needs.tsx'
import { Icon } from '../ui/icons.tsx'
import { Button, ErrorLine, JobTag, Loading, NoSessions } from '../ui/parts.tsx'
import { LineHeads, SessionLine } from '../ui/session-line.tsx'
import { StateSign } from '../ui/sign.tsx'
import { copy } from '../ui/toast.tsx'
import { byRepository, latestDay, type Group } from './today.ts'

/** How many sessions of a repository are shown before "more". */
const SHOWN = 6

export function Home() {
  const isLive = failing.value.length + waiting.value.length + working.value.length > 0
  return (
    <div class="home">
      <Asked />
      {isLive && (
        <div class="live">
          <LineHeads />
          <Sessions id="failed" title="Failed" sessions={failing.value} />
          <Sessions id="turns" title="Your turn" sessions={waiting.value} />
          <Sessions id="running" title="Working" sessions={working.value} />
        </div>
      )}
      <Done />
    </div>
  )
}

function Asked() {
  const sessions = needing.value
  return (
    <section aria-labelledby="needs">
      <h1 id="needs" class="home-title" tabIndex={-1}>
        <span class="grow">{sessions.length ? `${plural(sessions.length, 'session')} ${sessions.length === 1 ? 'needs' : 'need'} you` : 'Nothing needs you'}</span>
        <a class="button main phone-only" href="/new" aria-label="New session">
          <Icon name="plus" /> New
        </a>
      </h1>
      <Needs sessions={sessions} />
    </section>
  )
}

function Sessions({ id, title, sessions }: { id: string; title: string; sessions: readonly LiveSession[] }) {
  if (!sessions.length) return null
  return (
    <section aria-labelledby={id}>
      <h2 id={id} class={`heading-${id}`}>
        {title} <span class="dim">{sessions.length}</span>
      </h2>
      <ul class="rows">
        {sessions.map(session => (
          <LiveRow key={session.id} session={session} />
        ))}
      </ul>
    </section>
  )
}

function LiveRow({ session }: { session: LiveSession }) {
  const { activity, job } = session
  const row = rowsById.value.get(session.id)
  const words = sessionInWords(session)
  const agents = session.subagents.length
  return (
    <li class={job && 'with-action'}>
      <SessionLine
        href={`/s/${session.id}`}
        sign={<StateSign state={activity.state} tool={activity.tool} directs={agents > 0} title={`${words} (known from ${activity.evidence ?? 'its transcript'})`} />}
        title={titleWith(session.title, job)}
        tags={job && <JobTag />}
        doing={words.replace(/^(?:Failed|Tool): /, '')}
        agents={agents}
        context={session.contextTokens || row?.context || 0}
        cost={row?.cost}
        project={session.project}
        at={activity.since ? new Date(activity.since).getTime() : session.lastActivity}
      />
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
            <SessionLine
              href={`/s/${row.id}`}
              classes={isUnread(row.id, row.last) ? 'unread' : ''}
              sign={<StateSign state={shownState(row.state ? { state: row.state } : undefined, row.background_job)} />}
              title={titleWith(row.title ?? 'Untitled', row.background_job)}
              tags={row.background_job && <JobTag state={row.background_job.state} />}
              doing={plural(row.messages, 'message')}
              context={row.context}
              cost={row.cost}
              project={row.branch}
              at={row.last}
              isUnderDay
            />
          </li>
        ))}
      </ul>
      {rest > 0 && <a href={`/sessions?project=${encodeURIComponent(group.path)}`}>{rest} more</a>}
    </section>
  )
}
