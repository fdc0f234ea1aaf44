// The world as a list: rooms as cards, agents as links, from the same records.

import { age, money } from '../format.ts'
import { sessionAddress } from '../router.ts'
import { JobTag } from '../ui/parts.tsx'
import { Gauge, StateSign } from '../ui/sign.tsx'
import { actorInWords } from './crew.ts'
import type { SceneAgent, SceneRoom } from './scene.ts'
import type { Actor } from './types.ts'

interface Props {
  rooms: SceneRoom[]
  agents: SceneAgent[]
  actors: ReadonlyMap<string, Actor>
  now: number
}

export function Flat({ rooms, agents, actors, now }: Props) {
  return (
    <ul class="flat">
      {rooms.map(room => (
        <li key={room.key} class="flat-room card">
          <h2>{room.name}</h2>
          <ul>
            {agents
              .filter(agent => agent.room === room.key && !agent.isLeaving && !agent.parent)
              .map(agent => (
                <FlatAgent key={agent.key} agent={agent} actor={actors.get(agent.key)} now={now} />
              ))}
          </ul>
          {room.hidden > 0 && <p class="dim">{room.hidden} more</p>}
        </li>
      ))}
    </ul>
  )
}

function FlatAgent({ agent, actor, now }: { agent: SceneAgent; actor: Actor | undefined; now: number }) {
  return (
    <li class={`flat-agent ${agent.kind}`}>
      <a href={sessionAddress(agent.key, actor?.uuid)}>
        <StateSign state={agent.state} tool={agent.tool} directs={(actor?.subagents.length ?? 0) > 0} />
        <span class="row-main">
          <span class="row-title" dir="auto">
            {agent.name}
          </span>
          {agent.isJob && <JobTag />}
        </span>
        <span class="flat-doing">{actorInWords(actor ?? agent)}</span>
        <Gauge tokens={agent.context} />
        <span class="row-cost">{agent.cost ? money(agent.cost) : ''}</span>
        <span class="age">{agent.since ? age(agent.since, now) : ''}</span>
      </a>
      {(actor?.subagents.length ?? 0) > 0 && (
        <ul class="flat-subs">
          {actor!.subagents.map(sub => (
            <li key={sub.id}>
              {sub.name}
              <span class="dim">
                {sub.tool && ` · ${sub.tool}`}
                {sub.since !== undefined && ` · ${age(sub.since, now)}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}
