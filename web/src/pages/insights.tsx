// The pictures of Insights, each with its table: when money was spent over a year, at which hours, and on what kind of tokens.

import { get } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { count, isoDay, money } from '../format.ts'
import { now } from '../live/store.ts'
import { byModel, calendar, hours, KINDS, weekday, WEEKS, type CostLine } from './insights.ts'
import '../style/insights.css'

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const CELL = 13

export function Calendar({ project }: { project: string }) {
  const { state } = useResource(signal => get('/api/v1/cost', { query: { by: 'day', since: `${WEEKS * 7}d`, ...(project && { project }) } as never, signal }), [project])
  const weeks = calendar(state.value.data?.rows ?? [], isoDay(now.value))
  const active = weeks.flat().filter(day => day.cost > 0)
  return (
    <section class="section across" aria-labelledby="calendar">
      <h2 id="calendar">
        A year <span class="dim">{active.length} days with work</span>
      </h2>
      <div ref={toItsEnd} class="calendar-scroll" tabIndex={0} role="group" aria-label="Calendar of a year; each day opens its sessions">
        <svg class="calendar" viewBox={`0 0 ${WEEKS * CELL + 26} ${7 * CELL + 16}`} width={WEEKS * CELL + 26} height={7 * CELL + 16}>
          {weeks.map((week, at) => {
            const first = week[0]!.day
            return Number(first.slice(8)) <= 7 && <text key={first} x={26 + at * CELL} y="9">{MONTHS[Number(first.slice(5, 7)) - 1]}</text>
          })}
          {[0, 2, 4].map(at => (
            <text key={at} x="0" y={25 + at * CELL}>
              {WEEKDAYS[at]!.slice(0, 3)}
            </text>
          ))}
          {weeks.map((week, at) =>
            week.map(({ day, cost, heat }) => {
              const words = `${day}: ${cost ? money(cost) : 'nothing'}`
              const cell = (
                <rect x={26 + at * CELL} y={15 + weekday(day) * CELL} width={CELL - 3} height={CELL - 3} rx="2.5" class={`heat-${heat}`}>
                  <title>{words}</title>
                </rect>
              )
              return cost ? (
                <a key={day} href={`/cost?span=all&day=${day}`} aria-label={words}>
                  {cell}
                </a>
              ) : (
                <g key={day}>{cell}</g>
              )
            }),
          )}
        </svg>
      </div>
      <p class="heat-legend dim" aria-hidden="true">
        less {[0, 1, 2, 3, 4].map(heat => <i key={heat} class={`heat-${heat}`} />)} more
      </p>
    </section>
  )
}

/** Where it is too narrow for a year, the last months are seen first. */
function toItsEnd(part: HTMLElement | null): void {
  if (part) part.scrollLeft = part.scrollWidth
}

export function Hours({ query, project }: { query: object; project: string }) {
  const { state } = useResource(signal => get('/api/v1/cost', { query: { by: 'hour', ...query, ...(project && { project }) } as never, signal }), [JSON.stringify(query), project])
  const lines = state.value.data?.rows
  if (!lines?.length) return null
  const all = hours(lines)
  const most = Math.max(...all.flat().map(hour => hour.cost))
  return (
    <section class="section" aria-labelledby="hours">
      <h2 id="hours">Hours of the week</h2>
      <svg class="hours" viewBox="0 0 380 150" role="group" aria-label="What was spent at each hour of each weekday; each circle opens the day on which most of it was spent">
        {[0, 6, 12, 18].map(hour => (
          <text key={hour} x={34 + hour * 14.4} y="146">
            {String(hour).padStart(2, '0')}
          </text>
        ))}
        {all.map((row, day) => (
          <g key={day}>
            <text x="0" y={17 + day * 18.5}>
              {WEEKDAYS[day]!.slice(0, 3)}
            </text>
            {row.map((hour, at) => {
              if (!hour.cost) return <circle key={at} class="no-hour" cx={40 + at * 14.4} cy={13 + day * 18.5} r="1.2" />
              const words = `${WEEKDAYS[day]} ${String(at).padStart(2, '0')}:00: ${money(hour.cost)}`
              return (
                <a key={at} href={`/cost?span=all&day=${hour.day}`} aria-label={words}>
                  <circle class="hour" cx={40 + at * 14.4} cy={13 + day * 18.5} r={2 + 5.2 * Math.sqrt(hour.cost / most)}>
                    <title>{words}</title>
                  </circle>
                </a>
              )
            })}
          </g>
        ))}
      </svg>
    </section>
  )
}

export function Models({ lines, span }: { lines: readonly CostLine[]; span: string }) {
  const models = byModel(lines)
  if (!models.length) return null
  const most = Math.max(...models.map(model => model.all))
  return (
    <section class="section" aria-labelledby="models">
      <h2 id="models">Tokens by model</h2>
      <ul class="models">
        {models.slice(0, 8).map(model => (
          <li key={model.model}>
            <a href={`/cost?span=${span}&model=${encodeURIComponent(model.model)}`}>
              <span class="model-name">{model.model || 'Not known'}</span>
              <span class="dim">{count(model.all)}</span>
              <span class="hidden">tokens: {model.tokens.map((tokens, at) => `${count(tokens)} ${KINDS[at]}`).join(', ')}</span>
              <span class="model-bar" aria-hidden="true">
                {model.tokens.map((tokens, at) => (
                  <i key={at} class={`kind-${at}`} style={{ width: `${(100 * tokens) / most}%` }} />
                ))}
              </span>
            </a>
          </li>
        ))}
      </ul>
      <p class="model-legend dim" aria-hidden="true">
        {KINDS.map((kind, at) => (
          <span key={kind}>
            <i class={`kind-${at}`} /> {kind}
          </span>
        ))}
      </p>
    </section>
  )
}
