// Search as one types, over everything that was said: filters in the address, why each session is here, and what the answer
// left out.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Failure, get, isCancelled, type Schemas } from '../api/client.ts'
import { bind } from '../keys.ts'
import { clock, grouped, moment, plain, plural } from '../format.ts'
import { rows, rowsById } from '../live/store.ts'
import { go, place, sessionAddress, setQuery } from '../router.ts'
import { Age, Button, Chip, Empty, ErrorLine } from '../ui/parts.tsx'
import { foundWords, headingOf, kindName, marked, why } from './hit.ts'
import { Hinted } from './hinted.tsx'
import '../style/search.css'

type Answer = Schemas['SearchAnswer']
type Hit = Schemas['SearchHit']

const FILTERS = ['project', 'branch', 'role', 'since', 'until', 'file', 'source', 'mode'] as const

/** What the server takes; another value of an old or a mistyped address is dropped from it. */
const VALUES: Record<string, readonly string[]> = {
  mode: ['hybrid', 'lexical', 'semantic'] satisfies Schemas['Mode'][],
  role: ['user', 'assistant', 'tool', 'note'] satisfies Schemas['Role'][],
  source: ['claude-sessions', 'sessions', 'memory'] satisfies Schemas['Source'][],
}

/** After how many milliseconds a question is asked again whose answer left files out. */
const PENDING = 3000

export function Search() {
  const query = place.value.query
  const text = query.get('q') ?? ''
  const answer = useSignal<Answer | undefined>(undefined)
  const failure = useSignal<Failure | undefined>(undefined)
  const isBusy = useSignal(false)
  const current = useSignal(0)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  useEffect(() => {
    current.value = 0
    const unknown = Object.keys(VALUES).filter(name => query.get(name) && !VALUES[name]!.includes(query.get(name)!))
    if (unknown.length) return setQuery(Object.fromEntries(unknown.map(name => [name, undefined])))
    if (!text.trim()) return void (answer.value = undefined)
    const controller = new AbortController()
    const ask = async () => {
      isBusy.value = true
      try {
        const filters = Object.fromEntries(FILTERS.map(name => [name, query.get(name) || undefined]))
        answer.value = await get('/api/v1/search', { query: { ...filters, query: text, limit: 30, max_age_seconds: 5 } as never, signal: controller.signal })
        failure.value = undefined
        isBusy.value = false
        // What is being indexed may hold a better answer.
        if (answer.value.pending.files > 0) timer = setTimeout(ask, PENDING)
      } catch (error) {
        if (isCancelled(error)) return
        failure.value = error instanceof Failure ? error : new Failure(0, 'internal', String(error))
        isBusy.value = false
      }
    }
    let timer = setTimeout(ask, 80)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [query.toString()])
  useEffect(() => {
    const move = (by: number) => {
      const count = answer.peek()?.hits.length ?? 0
      current.value = Math.max(0, Math.min(count - 1, current.peek() + by))
      document.getElementById(`hit-${current.peek()}`)?.scrollIntoView({ block: 'nearest' })
    }
    const open = () => {
      const hit = answer.peek()?.hits[current.peek()]
      if (hit?.session_id) go(addressOf(hit))
    }
    return bind('Search', [
      { keys: 'j, down', what: 'Next hit', run: () => move(1) },
      { keys: 'k, up', what: 'Previous hit', run: () => move(-1) },
      { keys: 'enter, o', what: 'Open at the place', run: open },
      { keys: '/, f', what: 'Search words', opensField: true, run: () => field.current?.select() },
      { keys: 'escape', what: 'Leave the field', run: () => field.current?.blur() },
    ])
  }, [])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' && event.key !== 'Enter') return
    event.preventDefault()
    const hits = answer.peek()?.hits
    if (event.key === 'Enter' && hits?.[current.peek()]?.session_id) return go(addressOf(hits[current.peek()]!))
    field.current?.blur()
  }
  return (
    <div class="search">
      <div class="search-top">
        <h1 class="hidden">Search</h1>
        <input
          ref={field}
          class="field search-field"
          dir="auto"
          type="search"
          aria-label="Search all sessions"
          placeholder="Search everything that was said"
          value={text}
          onInput={event => setQuery({ q: event.currentTarget.value || undefined })}
          onKeyDown={onKeyDown}
        />
        <Filters />
        <Status answer={answer.value} isBusy={isBusy.value} />
      </div>
      {failure.value && <Refused failure={failure.value} />}
      {answer.value && !answer.value.hits.length && (answer.value.hint?.is_all ? <Hinted hint={answer.value.hint} text={text} /> : <None answer={answer.value} />)}
      {!text && <Hints />}
      <ol class={isBusy.value ? 'hits stale' : 'hits'}>
        {answer.value?.hits.map((hit, at) => (
          <HitRow key={`${hit.session_id} ${hit.offset}`} hit={hit} at={at} isCurrent={at === current.value} heading={headingOf(answer.value!.hits, at)} />
        ))}
      </ol>
    </div>
  )
}

/** Why there is no answer; a time of the address that is none can be removed. */
function Refused({ failure }: { failure: Failure }) {
  const { query } = place.value
  const wrong = (['since', 'until'] as const).find(name => query.get(name) && failure.message.includes(`\`${query.get(name)}\``))
  if (!wrong) return <ErrorLine error={failure} />
  return (
    <p class="error" role="alert">
      “{query.get(wrong)}” is not a time. Use a day (2026-01-31, yesterday, last week, january) or how long ago it was (36h, 7d, 3w).{' '}
      <Button onClick={() => setQuery({ [wrong]: undefined })}>Search all times</Button>
    </p>
  )
}

function addressOf(hit: Hit): string {
  return sessionAddress(hit.session_id!, hit.subagent ? undefined : hit.uuid, foundWords(hit))
}

function Filters() {
  const query = place.value.query
  // A name that several repositories have is asked for by its path.
  const projects = new Map((rows.value ?? []).flatMap(row => (row.project ? [[row.project, row.project.includes('/') && row.path ? row.path : row.project] as const] : [])))
  const named = [...projects].sort(([one], [other]) => one.localeCompare(other)).map(([name, value]) => [value, name] as const)
  const select = (name: string, label: string, options: readonly (readonly [string, string])[]) => {
    const current = query.get(name) ?? ''
    // A value of the address that is not among those to choose from is one more.
    const all = options.some(([value]) => value === current) ? options : [...options, [current, `${label}: ${current}`] as const]
    return (
      <select class={`field${current ? ' set' : ''}`} aria-label={label} value={current} onChange={event => setQuery({ [name]: event.currentTarget.value || undefined })}>
        {all.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    )
  }
  return (
    <div class="search-filters">
      {select('project', 'Project', [['', 'Any project'], ...named])}
      {select('since', 'Time', [['', 'Any time'], ['today', 'Today'], ['7d', 'Last 7 days'], ['30d', 'Last 30 days'], ['365d', 'Last year']])}
      {select('role', 'Who said it', [['', 'Anybody'], ['user', 'You'], ['assistant', 'Claude'], ['tool', 'Tools']])}
      {select('mode', 'How to search', [['', 'Words and meaning'], ['lexical', 'Words'], ['semantic', 'Meaning']])}
      <input class="field" aria-label="A file that the session touched" placeholder="File" value={query.get('file') ?? ''} onChange={event => setQuery({ file: event.currentTarget.value || undefined })} />
      {(['branch', 'until', 'source'] as const)
        .filter(name => query.get(name))
        .map(name => (
          <Chip key={name} name={name} value={query.get(name)!} remove={() => setQuery({ [name]: undefined })} />
        ))}
    </div>
  )
}

/** How many there are, and what the answer is not: fallbacks and what is not indexed yet. */
function Status({ answer, isBusy }: { answer: Answer | undefined; isBusy: boolean }) {
  const notes: string[] = []
  if (answer) {
    const unknown = answer.unknown_words ?? []
    if (unknown.length) notes.push(`No session has the word${unknown.length > 1 ? 's' : ''} ${unknown.slice(0, 4).map(word => `“${word}”`).join(', ')}`)
    if (answer.modes.fallback) notes.push(answer.modes.fallback)
    if (answer.pending.files > 0) notes.push(`${plural(answer.pending.files, 'file')} not indexed yet${answer.pending.busy ? '; the index is being updated' : ''}`)
    notes.push(...(answer.notes ?? []))
  }
  return (
    <p class="search-status dim" role="status">
      {answer && !answer.hint?.is_all && `${plural(answer.hits.length, 'session')} of ${grouped(answer.known)}`}
      {isBusy && ' …'}
      {notes.map(note => (
        <span key={note} class="note">
          {note}
        </span>
      ))}
    </p>
  )
}

/** The day if it is another one, else the time of day. */
function when(at: string, first: string | null): string {
  return first && new Date(first).toDateString() === new Date(at).toDateString() ? clock(at) : moment(at)
}

function projectOf(hit: Hit): string | null | undefined {
  return rowsById.value.get(hit.session_id ?? '')?.project ?? hit.project
}

/** Its own title, by which forks are told apart. */
function titleOf(hit: Hit): string {
  const known = rowsById.value.get(hit.session_id ?? '')
  return (known?.fork_of && known.title) || (hit.title ?? 'Untitled')
}

function Snippet({ of }: { of: Pick<Hit, 'snippet' | 'marks'> }) {
  return <bdi>{marked(of.snippet ?? '', of.marks as unknown as [number, number][]).map((part, place) => (part.isMarked ? <mark key={place}>{plain(part.text)}</mark> : plain(part.text)))}</bdi>
}

function HitRow({ hit, at, isCurrent, heading }: { hit: Hit; at: number; isCurrent: boolean; heading: string | undefined }) {
  const inside = (
    <>
      <div class="hit-head">
        <span class="hit-main">
          <span class="hit-title" dir="auto">{titleOf(hit)}</span>
          {hit.file_missing && <span class="tag">transcript gone</span>}
          {hit.branch && <span class="tag">{hit.branch}</span>}
        </span>
        <span class="dim" title={projectOf(hit) ?? undefined}>{projectOf(hit)}</span>
        <Age at={hit.last_modified ? Date.parse(hit.last_modified) : undefined} />
      </div>
      {hit.annotated && <p class="hit-snippet" dir="auto">{hit.annotated}</p>}
      <p class="hit-snippet">
        <span class="dim">{kindName(hit)}</span> <Snippet of={hit} />
      </p>
    </>
  )
  return (
    <>
      {heading && (
        <li>
          <h2 class="hit-heading">{heading}</h2>
        </li>
      )}
      <li id={`hit-${at}`} class={isCurrent ? 'hit current' : 'hit'} title={why(hit)}>
        {hit.session_id ? <a href={addressOf(hit)}>{inside}</a> : <div>{inside}</div>}
        {hit.session_id && hit.later && (
          <a class="later" href={sessionAddress(hit.session_id, hit.later.subagent ? undefined : hit.later.uuid, foundWords(hit.later))} title="About as good, and said after it: what was found may have been corrected there">
            <span class="dim">Later in this session{hit.later.at && `, ${when(hit.later.at, hit.at)}`}</span> <Snippet of={hit.later} />
          </a>
        )}
        {hit.also_in.length > 0 && (
          <p class="also dim">
            also in{' '}
            {hit.also_in.slice(0, 4).map(id => (
              <a key={id} href={sessionAddress(id, hit.uuid)}>
                {rows.value?.find(row => row.id === id)?.title ?? id.slice(0, 8)}
              </a>
            ))}
          </p>
        )}
      </li>
    </>
  )
}

function None({ answer }: { answer: Answer }) {
  const other = answer.did_you_mean ?? []
  return (
    <Empty title="Nothing found">
      {other.length > 0 ? (
        <>
          Did you mean{' '}
          {other.map(word => (
            <button key={word} type="button" class="button quiet" onClick={() => setQuery({ q: word })}>
              {word}
            </button>
          ))}
        </>
      ) : (
        'Try fewer or different words, or remove a filter.'
      )}
    </Empty>
  )
}

function Hints() {
  const project = rows.value?.find(row => row.project)?.project?.split('/').pop()
  const examples = ['why did we choose', 'error: could not', 'migration', ...(project ? [`project:${project} tests`] : [])]
  return (
    <Empty title="Ask as you remember it">
      Words, a question, a path, an error, a commit. Quoted words match exactly; filters such as <code>project:web</code> can be added.
      <p class="examples">
        {examples.map(text => (
          <button key={text} type="button" class="chip" onClick={() => setQuery({ q: text })}>
            {text}
          </button>
        ))}
      </p>
    </Empty>
  )
}
