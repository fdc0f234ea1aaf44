// The world without a third dimension: rooms as cards, agents as buttons, the same records.

import type { SceneAgent } from './crew.ts'
import { sessionAddress } from '../router.ts'
import { inWords, type State } from '../live/fold.ts'
import { StateDot, Empty } from '../ui/parts.tsx'
import type { Actor } from './types.ts'

interface Props {
  rooms: { name: string; hidden: number }[]
  agents: SceneAgent[]
  actors: ReadonlyMap<string, Actor>
}

export function Flat({ rooms, agents, actors }: Props) {
  if (!rooms.length) return <Empty title="Nobody is here">Sessions come in when they do something, and leave five minutes after.</Empty>
  return (
    <ul class="flat">
      {rooms.map(room => (
        <li key={room.name} class="flat-room card">
          <h2>{room.name}</h2>
          <ul>
            {agents
              .filter(agent => agent.room === room.name && !agent.isLeaving && !agent.parent)
              .map(agent => (
                <FlatAgent key={agent.key} agent={agent} actor={actors.get(agent.key)} />
              ))}
          </ul>
          {room.hidden > 0 && <p class="dim">{room.hidden} more</p>}
        </li>
      ))}
    </ul>
  )
}

function FlatAgent({ agent, actor }: { agent: SceneAgent; actor: Actor | undefined }) {
  const detail = actor?.detail
  return (
    <li class={agent.state === 'waiting_permission' ? 'flat-agent waits' : 'flat-agent'}>
      <a href={sessionAddress(agent.key, actor?.uuid)}>
        <StateDot state={agent.state} />
        <span class="row-title">{agent.name}</span>
        <span class="row-doing">{inWords({ state: agent.state as State, ...(detail ? { detail } : {}) })}</span>
      </a>
      {(actor?.subagents.length ?? 0) > 0 && (
        <ul class="flat-subs">
          {actor!.subagents.map(sub => (
            <li key={sub.id}>{sub.name}</li>
          ))}
        </ul>
      )}
    </li>
  )
}
