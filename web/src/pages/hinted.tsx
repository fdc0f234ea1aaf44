// What a question means that has no words to search for: the sessions on a branch or of a span of time, or what they cost.

import { get, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { setQuery } from '../router.ts'
import { Empty, ErrorLine, Loading } from '../ui/parts.tsx'
import { rowsById } from '../live/store.ts'
import { SessionLine } from '../ui/session-line.tsx'
import { StateSign } from '../ui/sign.tsx'

type Hint = Schemas['SearchHint']

const LOOKS: Record<Hint['looks_like'], string> = { date: 'a date', branch: 'a branch', cost: 'a question about costs', order: 'a question for the newest', author: 'a question for who wrote a file' }

interface Meant {
  what: string
  /** Which sessions to list; what they cost is a page of its own. */
  query?: { branch: string } | { sort: 'newest' } | { since: string; until: string }
}

function meant({ next_step: step }: Hint): Meant | undefined {
  if (step.step === 'list_branch') return { what: `Sessions on the branch ${step.branch}`, query: { branch: step.branch } }
  if (step.step === 'list_newest') return { what: 'The newest sessions', query: { sort: 'newest' } }
  if (step.step === 'list_between') return { what: step.since === step.until ? `Sessions of ${step.since}` : `Sessions from ${step.since} to ${step.until}`, query: { since: step.since, until: step.until } }
  if (step.step === 'cost_by_session' || step.step === 'list_cheapest') return { what: 'What sessions cost' }
  return undefined
}

export function Hinted({ hint, text }: { hint: Hint; text: string }) {
  const { what, query } = meant(hint) ?? { what: 'Nothing found' }
  return (
    <section class="hinted" aria-label={what}>
      <p class="dim">
        “{hint.words}” looks like {LOOKS[hint.looks_like]}.{' '}
        <button type="button" class="button" onClick={() => setQuery({ q: `"${text.replaceAll('"', '')}"` })}>
          Search for these words instead
        </button>
      </p>
      <h2>{query ? what : <a href="/cost?span=all">{what}</a>}</h2>
      {query && <Listed query={query} />}
    </section>
  )
}

function Listed({ query }: { query: NonNullable<Meant['query']> }) {
  const { state, reload } = useResource(signal => get('/api/v1/sessions', { query: { ...query, limit: 100 }, signal }), [JSON.stringify(query)])
  const { data, error } = state.value
  if (error) return <ErrorLine error={error} retry={reload} />
  if (!data) return <Loading lines={5} />
  if (!data.sessions.length) return <Empty title="There are none" />
  return (
    <ul class="rows">
      {data.sessions.map(session => (
        <li key={session.session_id}>
          <SessionLine
            href={`/s/${session.session_id}`}
            sign={<StateSign state={session.activity?.state} />}
            title={session.title ?? 'Untitled'}
            doing={session.branch}
            context={rowsById.value.get(session.session_id)?.context ?? 0}
            cost={rowsById.value.get(session.session_id)?.cost}
            project={session.project}
            at={session.last_modified ? Date.parse(session.last_modified) : undefined}
          />
        </li>
      ))}
    </ul>
  )
}
