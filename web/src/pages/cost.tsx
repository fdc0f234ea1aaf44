// Cost: days and projects, every sum opens the sessions it is of, and a table says what the chart shows.

import { computed } from '@preact/signals'
import { lazy, Suspense } from 'preact/compat'
import { get } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { about, count, isoDay, money, plural } from '../format.ts'
import { ownNames, withOwnNames } from '../live/names.ts'
import { now, rows as sessionRows } from '../live/store.ts'
import { place, setQuery } from '../router.ts'
import { Icon } from '../ui/icons.tsx'
import { Empty, ErrorLine, Head, Loading } from '../ui/parts.tsx'
import { choose, days, sums, total, type By, type Chosen, type SpendingRow } from './spending.ts'
import '../style/cost.css'

const Chart = lazy(async () => ({ default: (await import('./cost-chart.tsx')).CostChart }))

const SPANS: [string, string][] = [
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['90d', '90 days'],
  ['365d', 'A year'],
  ['all', 'All time'],
]

const chosen = computed((): Chosen => {
  const { query } = place.value
  return { day: query.get('day') ?? '', project: query.get('project') ?? '', branch: query.get('branch') ?? '', model: query.get('model') ?? '' }
})

export function Cost() {
  const span = place.value.query.get('span') ?? '30d'
  const query = span === 'all' ? {} : { since: span }
  const { state, reload } = useResource(signal => get('/api/v1/spending', { query: query as never, signal }), [span])
  const answer = state.value.data
  // Which models have a price of the person's own is said by the other list of what was spent.
  const byModel = useResource(signal => get('/api/v1/cost', { query: { by: 'model', ...query } as never, signal }), [span])
  const own = new Set(byModel.state.value.data?.own_prices)
  return (
    <>
      <Head title="Cost" note={answer?.prices_as_of ? `estimated by list prices of ${answer.prices_as_of}${own.size ? ` and ${plural(own.size, 'price')} of your own` : ''}` : undefined}>
        <div class="segments" role="group" aria-label="Time">
          {SPANS.map(([value, label]) => (
            <button key={value} type="button" aria-pressed={span === value} onClick={() => setQuery({ span: value, day: undefined })}>
              {label}
            </button>
          ))}
        </div>
      </Head>
      <div class="content">
        {state.value.error && <ErrorLine error={state.value.error} retry={reload} />}
        {!answer && !state.value.error && <Loading lines={8} />}
        {answer && !answer.rows.length && <Empty title="Nothing was used in this time" />}
        {answer && answer.rows.length > 0 && <Report rows={answer.rows} own={own} isAll={span === 'all'} span={span} />}
      </div>
    </>
  )
}

function Report({ rows: taken, own, isAll, span }: { rows: SpendingRow[]; own: ReadonlySet<string>; isAll: boolean; span: string }) {
  const names = ownNames(taken)
  const rows = withOwnNames(taken, names)
  const picked = choose(rows, chosen.value)
  const sum = total(picked)
  const known = rows.map(row => row.day).filter((day): day is string => Boolean(day)).sort()
  const first = isAll ? known[0]! : isoDay(now.value - (parseInt(span) - 1) * 86_400_000)
  const all = known.length ? days(first < known[0]! ? first : known[0]!, isAll ? known.at(-1)! : isoDay(now.value)) : []
  const projects = sums(choose(rows, { ...chosen.value, day: '' }), 'project')
  return (
    <>
      <p class="cost-sum">
        <b>{about(sum.cost)}</b>
        <span class="dim">
          {plural(sum.sessions.size, 'session')} · {count(sum.tokensOut)} tokens out · {count(sum.tokensIn)} in
        </span>
        <Chips names={names} />
      </p>
      <Suspense fallback={<div class="chart" />}>
        <Chart days={all} sums={projects} chosen={chosen.value.day} choose={day => setQuery({ day: chosen.peek().day === day ? undefined : day })} />
      </Suspense>
      <div class="cost-tables">
        <SumTable rows={picked} by="project" name="Project" />
        <SumTable rows={picked} by="branch" name="Branch" />
        <SumTable rows={picked} by="model" name="Model" own={own} />
        <DayTable rows={picked} />
        <SessionTable rows={picked} />
      </div>
    </>
  )
}

function Chips({ names }: { names: ReadonlyMap<string, string> }) {
  return (
    <>
      {(['day', 'project', 'branch', 'model'] as const)
        .filter(name => chosen.value[name])
        .map(name => (
          <button key={name} type="button" class="chip" aria-label={`Remove the filter ${name} ${chosen.value[name]}`} onClick={() => setQuery({ [name]: undefined })}>
            {name}: {names.get(chosen.value[name]) ?? chosen.value[name]} <Icon name="close" />
          </button>
        ))}
    </>
  )
}

/** How many lines of a table are shown. */
const LINES = 12

function SumTable({ rows, by, name, own }: { rows: SpendingRow[]; by: Exclude<By, 'session'>; name: string; own?: ReadonlySet<string> }) {
  const all = sums(rows, by)
  const most = Math.max(0.000001, all[0]?.cost ?? 0)
  return (
    <section class="section">
      <h2>{name}</h2>
      <table>
        <thead>
          <tr>
            <th>{name}</th>
            <th class="number">Sessions</th>
            <th class="number">Out</th>
            <th class="number">Cost</th>
          </tr>
        </thead>
        <tbody>
          {all.slice(0, LINES).map(sum => (
            <tr key={sum.key}>
              <td>
                <button type="button" class="cell" onClick={() => setQuery({ [by]: chosen.peek()[by] === sum.key ? undefined : sum.key })}>
                  {sum.key || 'Not known'}
                </button>
                {own?.has(sum.key) && (
                  <span class="tag own" title="From [prices] in your settings">
                    your price
                  </span>
                )}
                <meter min={0} max={most} value={sum.cost} aria-label={`${sum.key}: ${money(sum.cost)}`} />
              </td>
              <td class="number">{sum.sessions.size}</td>
              <td class="number dim">{count(sum.tokensOut)}</td>
              <td class="number">{money(sum.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {all.length > LINES && <p class="dim">{all.length - LINES} more</p>}
    </section>
  )
}

/** The chart's numbers, for those who cannot see it. */
function DayTable({ rows }: { rows: SpendingRow[] }) {
  const all = [...total(rows).days].sort((one, other) => other[0].localeCompare(one[0]))
  return (
    <section class="section">
      <h2>Day</h2>
      <table>
        <thead>
          <tr>
            <th>Day</th>
            <th class="number">Cost</th>
          </tr>
        </thead>
        <tbody>
          {all.slice(0, LINES).map(([day, cost]) => (
            <tr key={day}>
              <td>
                <button type="button" class="cell" onClick={() => setQuery({ day: chosen.peek().day === day ? undefined : day })}>
                  {day}
                </button>
              </td>
              <td class="number">{money(cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function SessionTable({ rows }: { rows: SpendingRow[] }) {
  const titles = new Map((sessionRows.value ?? []).map(row => [row.id, row.title]))
  const all = sums(rows, 'session')
  return (
    <section class="section wide">
      <h2>Sessions</h2>
      <table>
        <thead>
          <tr>
            <th>Session</th>
            <th class="number">In</th>
            <th class="number">Out</th>
            <th class="number">Cost</th>
          </tr>
        </thead>
        <tbody>
          {all.slice(0, 40).map(sum => (
            <tr key={sum.key}>
              <td>
                <a class="cell" href={`/s/${sum.key}`}>
                  {titles.get(sum.key) ?? sum.key.slice(0, 8)}
                </a>
              </td>
              <td class="number dim">{count(sum.tokensIn)}</td>
              <td class="number dim">{count(sum.tokensOut)}</td>
              <td class="number">{money(sum.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {all.length > 40 && <p class="dim">{all.length - 40} more; choose a day or a project to see them</p>}
    </section>
  )
}
