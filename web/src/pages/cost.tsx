// Insights: what was spent, when, where and on what; every sum opens the sessions it is of, and a table says what a picture shows.

import { computed } from '@preact/signals'
import { get } from '../api/client.ts'
import { notYet, useResource } from '../api/resource.ts'
import { count, grouped, isoDay, money, plural } from '../format.ts'
import { ownNames, withOwnNames } from '../live/names.ts'
import { now, rows as sessionRows } from '../live/store.ts'
import { place, setQuery } from '../router.ts'
import { loaded } from '../ui/loaded.tsx'
import { Chip, Empty, ErrorLine, Head, Loading } from '../ui/parts.tsx'
import { CostBlocks } from './cost-blocks.tsx'
import { CostTable } from './cost-table.tsx'
import { change, type CostLine } from './insights.ts'
import { choose, days, sums, total, type By, type Chosen, type SpendingRow, type Sum } from './spending.ts'
import '../style/cost.css'

const Calendar = loaded(() => import('./insights.tsx'), 'Calendar', { waiting: () => null })
const Hours = loaded(() => import('./insights.tsx'), 'Hours', { waiting: () => null })
const Models = loaded(() => import('./insights.tsx'), 'Models', { waiting: () => null })
const Chart = loaded(() => import('./cost-chart.tsx'), 'CostChart', { waiting: () => <div class="chart" /> })

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
  const named = place.value.query.get('span')
  const span = SPANS.find(([value]) => value === named)?.[0] ?? '30d'
  const query = span === 'all' ? {} : { since: span }
  const { state, reload } = useResource(signal => get('/api/v1/spending', { query: query as never, signal }), [span])
  const answer = state.value.data
  // Which models have a price of the person's own is said by the other list of what was spent.
  const byModel = useResource(signal => get('/api/v1/cost', { query: { by: 'model', ...query } as never, signal }), [span])
  const own = new Set(byModel.state.value.data?.own_prices)
  return (
    <>
      <Head title="Insights" note={answer?.prices_as_of ? `estimated by list prices of ${answer.prices_as_of}${own.size ? ` and ${plural(own.size, 'price')} of your own` : ''}` : undefined}>
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
        {answer && !answer.rows.length && <Empty title="Nothing was used in this period" />}
        {answer && answer.rows.length > 0 && <Report rows={answer.rows} models={byModel.state.value.data?.rows ?? []} own={own} isAll={span === 'all'} span={span} />}
      </div>
    </>
  )
}

function Report({ rows: taken, models, own, isAll, span }: { rows: SpendingRow[]; models: CostLine[]; own: ReadonlySet<string>; isAll: boolean; span: string }) {
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
      <p class="cost-chips">
        <Chips names={names} />
      </p>
      <Figures sum={sum} span={isAll || Object.values(chosen.value).some(Boolean) ? undefined : span} />
      <Chart days={all} sums={projects} chosen={chosen.value.day} choose={day => setQuery({ day: chosen.peek().day === day ? undefined : day })} />
      <div class="cost-tables">
        <Calendar project={chosen.value.project} />
        <Hours query={isAll ? {} : { since: span }} project={chosen.value.project} />
        <Models lines={models} span={span} />
        <SumTable rows={picked} by="project" name="Project" />
        <CostBlocks span={span} project={chosen.value.project} />
        <SumTable rows={picked} by="branch" name="Branch" />
        <SumTable rows={picked} by="model" name="Model" own={own} />
        <DayTable rows={picked} />
        <SessionTable rows={picked} />
      </div>
    </>
  )
}

/** The sums, each with its change since as long a time before. */
function Figures({ sum, span }: { sum: Sum; span: string | undefined }) {
  const before = useResource(
    signal => (span ? get('/api/v1/spending', { query: { since: `${2 * parseInt(span)}d`, until: span } as never, signal }) : notYet),
    [span],
  )
  const then = span && before.state.value.data ? total(before.state.value.data.rows) : undefined
  const figures: [string, string, number, number | undefined][] = [
    ['Cost', money(sum.cost), sum.cost, then?.cost],
    ['Sessions', grouped(sum.sessions.size), sum.sessions.size, then?.sessions.size],
    ['Tokens written', count(sum.tokensOut), sum.tokensOut, then?.tokensOut],
    ['Tokens read', count(sum.tokensIn), sum.tokensIn, then?.tokensIn],
  ]
  return (
    <div class="figures">
      {figures.map(([name, value, now, then]) => (
        <div key={name} class="figure">
          <span>{name}</span>
          <b>{value}</b>
          <span>{then ? `${change(now, then)} against the ${parseInt(span!)} days before` : '\u00a0'}</span>
        </div>
      ))}
    </div>
  )
}

function Chips({ names }: { names: ReadonlyMap<string, string> }) {
  return (
    <>
      {(['day', 'project', 'branch', 'model'] as const)
        .filter(name => chosen.value[name])
        .map(name => (
          <Chip key={name} name={name} value={names.get(chosen.value[name]) ?? chosen.value[name]} remove={() => setQuery({ [name]: undefined })} />
        ))}
    </>
  )
}

const out = { name: 'Out', isDim: true, show: (sum: Sum) => count(sum.tokensOut) }
const cost = { name: 'Cost', show: (sum: Sum) => money(sum.cost) }
const SUMS = [{ name: 'Sessions', show: (sum: Sum) => sum.sessions.size }, out, cost]
const OF_A_SESSION = [{ name: 'In', isDim: true, show: (sum: Sum) => count(sum.tokensIn) }, out, cost]

function SumTable({ rows, by, name, own }: { rows: SpendingRow[]; by: Exclude<By, 'session'>; name: string; own?: ReadonlySet<string> }) {
  const cell = (sum: Sum) => (
    <>
      <Filter by={by} value={sum.key} />
      {own?.has(sum.key) && (
        <span class="tag own" title="From [prices] in your settings">
          your price
        </span>
      )}
    </>
  )
  return (
    <section class="section">
      <h2>{name}</h2>
      <CostTable name={name} lines={sums(rows, by)} keyOf={sum => sum.key} cell={cell} bar={sum => [sum.cost, `${sum.key}: ${money(sum.cost)}`]} columns={SUMS} />
    </section>
  )
}

/** Shows what is spent on one of them, or on all again. */
function Filter({ by, value }: { by: keyof Chosen; value: string }) {
  return (
    <button type="button" class="cell" onClick={() => setQuery({ [by]: chosen.peek()[by] === value ? undefined : value })}>
      {value || 'Not known'}
    </button>
  )
}

/** The chart's numbers, for those who cannot see it. */
function DayTable({ rows }: { rows: SpendingRow[] }) {
  const all = [...total(rows).days].sort((one, other) => other[0].localeCompare(one[0]))
  return (
    <section class="section">
      <h2>Day</h2>
      <CostTable name="Day" lines={all} keyOf={([day]) => day} cell={([day]) => <Filter by="day" value={day} />} columns={[{ name: 'Cost', show: ([, cost]) => money(cost) }]} />
    </section>
  )
}

function SessionTable({ rows }: { rows: SpendingRow[] }) {
  const titles = new Map((sessionRows.value ?? []).map(row => [row.id, row.title]))
  const cell = (sum: Sum) => (
    <a class="cell" href={`/s/${sum.key}`}>
      {titles.get(sum.key) ?? sum.key.slice(0, 8)}
    </a>
  )
  return (
    <section class="section wide">
      <h2>Sessions</h2>
      <CostTable name="Session" lines={sums(rows, 'session')} keyOf={sum => sum.key} cell={cell} columns={OF_A_SESSION} shown={40} hint="; choose a day or a project to see them" />
    </section>
  )
}
