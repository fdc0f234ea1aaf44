// The five-hour windows in which Claude's subscriptions limit usage: what the one that runs has taken and has left, and
// those before it.

import { useSignal } from '@preact/signals'
import { get, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { clock, count, duration, money, plural, shortDay } from '../format.ts'
import { now, rows } from '../live/store.ts'
import { Icon } from '../ui/icons.tsx'
import { ErrorLine } from '../ui/parts.tsx'
import { CostTable } from './cost-table.tsx'

type Block = Schemas['CostBlock']

/** How often the window that runs is asked for again, in milliseconds. */
const AGAIN = 60_000

const tokens = (block: Block) => block.input_tokens + block.output_tokens + block.cache_read_tokens + block.cache_creation_tokens
const at = (time: string) => Date.parse(time)
const COLUMNS = [
  { name: 'Sessions', show: (block: Block) => block.sessions },
  { name: 'Tokens', isDim: true, show: (block: Block) => count(tokens(block)) },
  { name: 'Cost', show: (block: Block) => money(block.cost_usd) },
]

export function CostBlocks({ span, project }: { span: string; project: string }) {
  const query = { ...(span === 'all' ? {} : { since: span }), ...(project ? { project } : {}) }
  const open = useSignal('')
  // What is used while one looks counts, too.
  const minute = Math.floor(now.value / AGAIN)
  const { state, reload } = useResource(signal => get('/api/v1/cost/blocks', { query: query as never, signal }), [span, project, minute])
  const { data, error } = state.value
  if (error && !data) return <ErrorLine error={error} retry={reload} />
  if (!data?.blocks.length) return null
  const opener = (block: Block) => {
    const isOpen = open.value === block.start
    return (
      <>
        <button type="button" class="cell" aria-expanded={isOpen} onClick={() => (open.value = isOpen ? '' : block.start)}>
          <Icon name={isOpen ? 'down' : 'right'} /> {shortDay(at(block.start))}, {clock(block.start)} to {clock(block.end)}
        </button>
        {isOpen && <SessionsOf block={block} />}
      </>
    )
  }
  const active = data.blocks.find(block => block.is_active && at(block.end) > now.value)
  return (
    <section class="section" aria-labelledby="blocks">
      <h2 id="blocks">5-hour blocks</h2>
      {active ? <Active block={active} /> : <p class="dim">No block is running; the next message starts one.</p>}
      <CostTable name="Block" lines={data.blocks.toReversed()} keyOf={block => block.start} cell={opener} bar={block => [tokens(block), `${count(tokens(block))} tokens`]} columns={COLUMNS} />
    </section>
  )
}

/** What each session took in a block. */
function SessionsOf({ block }: { block: Block }) {
  const rest = block.sessions - block.by_session.length
  return (
    <ul class="block-sessions">
      {block.by_session.map(one => (
        <li key={one.session_id}>
          <a href={`/s/${one.session_id}`}>{rows.value?.find(row => row.id === one.session_id)?.title ?? one.session_id.slice(0, 8)}</a>
          <span class="dim">{one.cost_usd ? money(one.cost_usd) : `${count(one.tokens)} tokens`}</span>
        </li>
      ))}
      {rest > 0 && <li class="dim">{rest} more</li>}
    </ul>
  )
}

function Active({ block }: { block: Block }) {
  const left = at(block.end) - now.value
  const passed = now.value - at(block.start)
  return (
    <div class="block-now card">
      <p>
        <b>{duration(left)} left</b> <span class="dim">until {clock(block.end)}</span>
      </p>
      <meter min={0} max={at(block.end) - at(block.start)} value={passed} aria-label={`${duration(passed)} of 5 hours have passed`} />
      <p class="dim">
        {block.cost_usd ? `${money(block.cost_usd)}, ` : ''}
        {count(tokens(block))} tokens used in {plural(block.sessions, 'session')}
        {block.projection && ` · at this pace ${block.projection.cost_usd ? `${money(block.projection.cost_usd)} and ` : ''}${count(block.projection.tokens)} tokens by ${clock(block.end)}`}
      </p>
    </div>
  )
}
