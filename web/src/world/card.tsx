// The chosen agent: what it asks, with the whole change and the buttons that answer; what it does, how full it is and what it costs; and
// the way to its session.

import { CopyAttach } from '../chat/attach.tsx'
import { Requests } from '../chat/need.tsx'
import type { State } from '../live/fold.ts'
import { requestsOf } from '../live/store.ts'
import { duration, money } from '../format.ts'
import { sessionAddress } from '../router.ts'
import { Button, JobTag } from '../ui/parts.tsx'
import { Gauge, StateSign } from '../ui/sign.tsx'
import { contextOf, kindOf, SIGNS, toolSign, WORDS } from '../ui/states.ts'
import { actorInWords } from './crew.ts'
import type { Actor, Agent, SubActor } from './types.ts'

interface Props {
  agent: Agent
  room: string | undefined
  actor: Actor | undefined
  /** The time that is shown, in milliseconds since 1970. */
  now: number
  next: (() => void) | undefined
  visit: (key: string) => void
  close: () => void
}

export function Card({ agent, room, actor, now, next, visit, close }: Props) {
  const sub = agent.parent ? actor?.subagents.find(one => agent.key === `${actor.id}/${one.id}`) : undefined
  return sub && actor ? <SubCard sub={sub} actor={actor} now={now} visit={visit} close={close} /> : <SessionCard agent={agent} room={room} actor={actor} now={now} next={next} visit={visit} close={close} />
}

function SessionCard({ agent, room, actor, now, next, visit, close }: Props) {
  const state: State = actor?.state ?? agent.state
  const directs = (actor?.subagents.length ?? 0) > 0
  const kind = kindOf(state, directs)
  // A moment of a replay asks nothing any more.
  const open = agent.uuid ? undefined : requestsOf(agent.session)
  const { share, window } = contextOf(agent.context)
  return (
    <aside class="agent-card card" aria-label={agent.name} aria-live="polite">
      <header>
        <StateSign state={state} tool={actor?.tool} directs={directs} />
        <b dir="auto">
          {agent.name} {actor?.job && <JobTag />}
        </b>
        <Button kind="quiet" icon="close" label="Close" keys="Esc" onClick={close} />
      </header>
      <p class="card-place">
        <span class={`state-chip chip-${kind}`}>
          {WORDS[kind]}
          {agent.since !== undefined && kind !== 'idle' && ` · ${short(now - agent.since)}`}
        </span>
        <span class="dim">
          <span>{room}</span>
          {actor?.branch && ` · ${actor.branch}`}
        </span>
      </p>
      {!open && <p class="card-doing">{actorInWords(actor ?? { state })}</p>}
      {open && <Requests session={agent.session} worker={open.worker} mark={open.requests.map(one => one.request).join()} />}
      {directs && <SubAgents actor={actor!} now={now} visit={visit} />}
      {(agent.context > 0 || agent.cost > 0) && (
        <dl class="card-facts">
          {agent.context > 0 && (
            <>
              <dt>Context</dt>
              <dd>
                <Gauge tokens={agent.context} /> {Math.round(share * 100)}% of {window / 1000}k
              </dd>
            </>
          )}
          {agent.cost > 0 && (
            <>
              <dt>Cost</dt>
              <dd>{money(agent.cost)}</dd>
            </>
          )}
        </dl>
      )}
      <div class="card-buttons">
        <a class={open ? 'button' : 'button main'} href={sessionAddress(agent.session, agent.uuid)}>
          Open {agent.uuid ? 'at this moment' : 'the session'}
        </a>
        {next && (
          <Button onClick={next}>
            Next <kbd class="desk-only">v</kbd>
          </Button>
        )}
      </div>
      {actor?.job && <CopyAttach job={actor.job} />}
    </aside>
  )
}

/** Its sub-agents, each with what it does and for how long. */
function SubAgents({ actor, now, visit }: { actor: Actor; now: number; visit: (key: string) => void }) {
  return (
    <ul class="card-subs" aria-label="Sub-agents">
      {actor.subagents.map(sub => (
        <li key={sub.id}>
          <button type="button" onClick={() => visit(`${actor.id}/${sub.id}`)}>
            <ToolIcon tool={sub.tool} />
            <span>{sub.name}</span>
            <span class="dim">
              {sub.tool}
              {sub.since !== undefined && ` ${short(now - sub.since)}`}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

function SubCard({ sub, actor, now, visit, close }: { sub: SubActor; actor: Actor; now: number; visit: (key: string) => void; close: () => void }) {
  return (
    <aside class="agent-card card" aria-label={sub.name} aria-live="polite">
      <header>
        <ToolIcon tool={sub.tool} />
        <b dir="auto">{sub.name}</b>
        <Button kind="quiet" icon="close" label="Close" keys="Esc" onClick={close} />
      </header>
      <p class="card-place">
        <span class="state-chip chip-directing">sub-agent{sub.since !== undefined && ` · ${short(now - sub.since)}`}</span>
        <span class="dim">{actor.project}</span>
      </p>
      <p class="card-doing">{sub.tool ? `Uses ${sub.tool}` : 'Works'}</p>
      <p class="dim">
        for{' '}
        <button type="button" class="link" onClick={() => visit(actor.id)}>
          {actor.title}
        </button>
      </p>
      <div class="card-buttons">
        <a class="button main" href={sessionAddress(actor.id, actor.uuid)}>
          Open {actor.uuid ? 'at this moment' : 'its session'}
        </a>
      </div>
    </aside>
  )
}

function ToolIcon({ tool }: { tool: string | undefined }) {
  return (
    <svg class="icon tool-icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={SIGNS[tool ? toolSign(tool) : 'dots']} />
    </svg>
  )
}

function short(ms: number): string {
  return ms < 60_000 ? 'now' : duration(Math.floor(ms / 60_000) * 60_000).replace(/ 0[ms]$/, '')
}
