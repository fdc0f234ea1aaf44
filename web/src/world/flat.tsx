// The world as a list: rooms as cards, agents as links, from the same records.

import { actorInWords, type SceneAgent, type SceneRoom } from './crew.ts'
import { sessionAddress } from '../router.ts'
import { JobTag } from '../ui/parts.tsx'
import { StateSign } from '../ui/sign.tsx'
import type { Actor } from './types.ts'

interface Props {
  rooms: SceneRoom[]
  agents: SceneAgent[]
  actors: ReadonlyMap<string, Actor>
}

export function Flat({ rooms, agents, actors }: Props) {
  return (
    <ul class="flat">
      {rooms.map(room => (
        <li key={room.key} class="flat-room card">
          <h2>{room.name}</h2>
          <ul>
            {agents
              .filter(agent => agent.room === room.key && !agent.isLeaving && !agent.parent)
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
  return (
    <li class={agent.state === 'waiting_permission' ? 'flat-agent waits' : 'flat-agent'}>
      <a href={sessionAddress(agent.key, actor?.uuid)}>
        <StateSign state={agent.state} />
        <span class="row-title" dir="auto">
          {agent.name} {agent.isJob && <JobTag />}
        </span>
        <span class="row-doing">{actorInWords(actor ?? agent)}</span>
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
