// Projects: what there is, and the state of one repository.

import { useEffect, useRef } from 'preact/hooks'
import { get, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { money, plural, shortPath } from '../format.ts'
import { bind } from '../keys.ts'
import { ownNames } from '../live/names.ts'
import { place, setQuery } from '../router.ts'
import { Age, Empty, ErrorLine, Head, Loading, NoSessions } from '../ui/parts.tsx'
import { rowsById } from '../live/store.ts'
import { SessionLine } from '../ui/session-line.tsx'
import { StateSign } from '../ui/sign.tsx'
import { Schedules } from '../ui/schedules.tsx'
import { holds } from './filter.ts'
import '../style/settings.css'

export function Projects() {
  const path = place.value.query.get('path')
  return path ? <Project key={path} path={path} /> : <All />
}

/** Fewer are seen at a glance. */
const MANY = 10

function All() {
  const { state, reload } = useResource(signal => get('/api/v1/projects', { signal }), [])
  const field = useRef<HTMLInputElement>(null)
  const all = state.value.data?.projects
  const names = ownNames((all ?? []).map(({ path, name }) => ({ path, project: name })))
  const typed = place.value.query.get('q') ?? ''
  const projects = all?.filter(({ path, name }) => holds([path, name], typed))
  const count = plural(all?.length ?? 0, 'repository', 'repositories')
  const isFiltered = Boolean(all && (all.length > MANY || typed))
  useEffect(
    () =>
      isFiltered ? bind('Projects', [
        { keys: 'f', what: 'Filter', opensField: true, run: () => field.current?.focus() },
        { keys: 'escape', what: 'Clear the filter', run: () => (field.current?.blur(), setQuery({ q: undefined })) },
      ]) : undefined,
    [isFiltered],
  )
  return (
    <>
      <Head title="Projects" note={all?.length ? (projects?.length === all.length ? count : `${projects?.length} of ${count}`) : undefined} />
      {isFiltered && (
        <div class="filters" role="search">
          <input
            ref={field}
            class="field grow"
            type="search"
            aria-label="Filter projects by name or path"
            placeholder="Filter by name or path"
            value={typed}
            onInput={event => setQuery({ q: event.currentTarget.value || undefined })}
          />
        </div>
      )}
      <div class="content">
        {state.value.error && <ErrorLine error={state.value.error} retry={reload} />}
        {!all && !state.value.error && <Loading lines={8} />}
        {all && !all.length && <NoSessions />}
        {all && all.length > 0 && !projects?.length && (
          <Empty title="No project matches">
            <a href="/projects">Show all {count}</a>.
          </Empty>
        )}
        {projects && projects.length > 0 && (
          <div class="table-scroll">
            <table class="projects">
              <thead>
                <tr>
                  <th>Project</th>
                  <th class="desk-only">Path</th>
                  <th class="number">Sessions</th>
                  <th class="number desk-only">Running</th>
                  <th class="number">Cost</th>
                  <th class="number">Last active</th>
                </tr>
              </thead>
              <tbody>
                {projects.map(project => (
                  <tr key={project.path}>
                    <td class="cut">
                      <a class="strong" title={project.name} href={`/projects?path=${encodeURIComponent(project.path)}`}>
                        {names.get(project.path) ?? project.name}
                      </a>
                    </td>
                    <td class="dim desk-only cut" title={project.path}>{shortPath(project.path)}</td>
                    <td class="number">{project.sessions}</td>
                    <td class="number desk-only">{project.running || ''}</td>
                    <td class="number">{money(project.cost_usd)}</td>
                    <td class="number">
                      <Age at={project.last_activity ? Date.parse(project.last_activity) : undefined} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </div>
    </>
  )
}

function Project({ path }: { path: string }) {
  const { state, reload } = useResource(signal => get('/api/v1/status', { query: { repo: path }, signal }), [path])
  const status = state.value.data
  return (
    <>
      <Head title={path.split('/').pop() || path} note={shortPath(path)}>
        <a class="button" href={`/sessions?project=${encodeURIComponent(path)}`}>
          Sessions
        </a>
        <a class="button" href={`/cost?span=all&project=${encodeURIComponent(path)}`}>
          Cost
        </a>
        <a class="button main" href={`/new?repo=${encodeURIComponent(path)}`}>
          New session
        </a>
      </Head>
      <div class="content narrow">
        {state.value.error && <ErrorLine error={state.value.error} retry={reload} />}
        {!status && !state.value.error && <Loading lines={8} />}
        {status?.problems.map(problem => (
          <p key={problem} class="error">
            {problem}
          </p>
        ))}
        {status && <State status={status} />}
      </div>
    </>
  )
}

function State({ status }: { status: Schemas['StatusAnswer'] }) {
  const { git, github, docs } = status
  const sessions = [...status.sessions.active, ...status.sessions.recent.filter(one => !status.sessions.active.some(other => other.session_id === one.session_id))]
  return (
    <>
      {status.schedules.length > 0 && (
        <section class="section">
          <h2>Scheduled prompts</h2>
          <Schedules schedules={status.schedules} />
        </section>
      )}
      {status.repo.is_git_repo && (
        <section class="section">
          <h2>Git</h2>
          <p>
            On <span class="tag">{git.current_branch ?? 'no branch'}</span>{' '}
            <span class="dim">
              {git.uncommitted_changes.length || git.staged_changes.length
                ? `${plural(git.uncommitted_changes.length, 'change')} not committed, ${git.staged_changes.length} staged`
                : 'nothing to commit'}
              {git.stash_count > 0 && `, ${plural(git.stash_count, 'stash', 'stashes')}`}
            </span>
          </p>
          <ul class="list">
            {git.recent_commits.slice(0, 8).map(commit => (
              <li key={commit.sha}>
                <code class="dim">{commit.sha.slice(0, 8)}</code> <span class="grow">{commit.message}</span>
                <Age at={commit.date ? Date.parse(commit.date) : undefined} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {github && (github.open_prs.length > 0 || github.failing_checks.length > 0) && (
        <section class="section">
          <h2>GitHub</h2>
          <ul class="list">
            {github.open_prs.map(pull => (
              <li key={pull.number}>
                <span class="dim">#{pull.number}</span> {pull.title} <span class="tag">{pull.branch}</span>
              </li>
            ))}
            {github.failing_checks.map(check => (
              <li key={check.name} class="bad">
                {check.name}: {check.status}
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="section">
        <h2>Sessions</h2>
        <ul class="rows">
          {sessions.slice(0, 12).map(session => (
            <li key={session.session_id}>
              <SessionLine
                href={`/s/${session.session_id}`}
                sign={<StateSign state={session.activity?.state} />}
                title={session.title ?? 'Untitled'}
                doing={plural(rowsById.value.get(session.session_id)?.messages ?? 0, 'message')}
                context={rowsById.value.get(session.session_id)?.context ?? 0}
                cost={rowsById.value.get(session.session_id)?.cost}
                project={session.branch}
                at={session.last_modified ? Date.parse(session.last_modified) : undefined}
              />
            </li>
          ))}
        </ul>
      </section>
      {status.active_files.length > 0 && (
        <section class="section">
          <h2>Files that sessions changed recently</h2>
          <ul class="list">
            {status.active_files.slice(0, 15).map(file => (
              <li key={file.file}>
                <span class="grow">{file.file}</span>
                {file.sessions.slice(0, 3).map(id => (
                  <a key={id} class="tag" href={`/s/${id}`}>
                    {id.slice(0, 8)}
                  </a>
                ))}
                <Age at={Date.parse(file.last)} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="section">
        <h2>Documents</h2>
        <p class="dim">
          {[docs.has_readme && 'README', docs.has_claude_md && 'CLAUDE.md', docs.has_todo && 'TODO', ...docs.spec_files].filter(Boolean).join(' · ') || 'None found'}
        </p>
      </section>
    </>
  )
}
