// What the chosen agent is and does, with the way to its session.

import { CopyAttach } from '../chat/attach.tsx'
import { Requests } from '../chat/need.tsx'
import type { State } from '../live/fold.ts'
import { requestsOf } from '../live/store.ts'
import { sessionAddress } from '../router.ts'
import { Button, JobTag } from '../ui/parts.tsx'
import { StateSign } from '../ui/sign.tsx'
import { actorInWords } from './crew.ts'
import type { Actor, Agent } from './types.ts'

export function Card({ agent, room, actor, close }: { agent: Agent; room: string | undefined; actor: Actor | undefined; close: () => void }) {
  const state: State = actor?.state ?? agent.state
  // A moment of a replay asks nothing any more.
  const open = agent.uuid ? undefined : requestsOf(agent.session)
  return (
    <aside class="agent-card card" aria-label={agent.name} aria-live="polite">
      <header>
        <StateSign state={state} />
        <b>
          {agent.name} {actor?.job && <JobTag />}
        </b>
        <Button kind="quiet" icon="close" label="Close" onClick={close} />
      </header>
      <p class="dim">{room}</p>
      <p>{actorInWords(actor ?? { state })}</p>
      {(actor?.subagents.length ?? 0) > 0 && (
        <ul class="flat-subs">
          {actor!.subagents.map(sub => (
            <li key={sub.id}>{sub.name}</li>
          ))}
        </ul>
      )}
      {open && <Requests session={agent.session} worker={open.worker} mark={open.requests.map(one => one.request).join()} />}
      <a class={open ? 'button' : 'button main'} href={sessionAddress(agent.session, agent.uuid)}>
        Open {agent.uuid ? 'at this moment' : 'the session'}
      </a>
      {actor?.job && <CopyAttach job={actor.job} />}
    </aside>
  )
}
