// Everybody who needs the person, the longest wait first, with the numbers that are on their pins; the one that is open can be answered.

import { useComputed, useSignal } from '@preact/signals'
import { groupsOf, type Open } from '../chat/grouped.ts'
import { Requests, Elsewhere } from '../chat/need.tsx'
import { useAsking } from '../chat/needs.tsx'
import { requestInShort, type LiveSession } from '../live/fold.ts'
import { needing, requestsOf } from '../live/store.ts'
import { sessionAddress } from '../router.ts'
import { SIGNS, toolSign } from '../ui/states.ts'
import { Age, Button } from '../ui/parts.tsx'
import { actorInWords } from './crew.ts'
import type { SceneAgent } from './scene.ts'
import type { Actor } from './types.ts'

interface Props {
  agents: readonly SceneAgent[]
  actors: ReadonlyMap<string, Actor>
  /** The one that the pointer is on in the world. */
  hovered: string | undefined
  point: (key: string | undefined) => void
  visit: (key: string) => void
  close: () => void
}

interface Row {
  key: string
  agents: SceneAgent[]
}

export function Queue({ agents, actors, hovered, point, visit, close }: Props) {
  const waiting = agents.filter(agent => agent.kind === 'needs' && !agent.isLeaving).sort((one, other) => one.number - other.number)
  const live = useComputed(() => new Map(needing.value.map(session => [session.id, session])))
  const openOf = useAsking(needing.value)
  const rows = rowsOf(waiting, live.value, openOf)
  const turned = useSignal<string | undefined>(undefined)
  const openKey = turned.value ?? rows[0]?.key
  return (
    <aside class="world-queue card" aria-label="Who needs you">
      <header>
        <b>
          {waiting.length} {waiting.length === 1 ? 'needs' : 'need'} you
        </b>
        <span class="dim">longest first</span>
        <Button kind="quiet" icon="close" label="Close the list" keys="q" onClick={close} />
      </header>
      <ol>
        {rows.map(({ key, agents: [first, ...others] }) => {
          const actor = actors.get(first!.key)
          const session = live.value.get(first!.key)
          const isOpen = key === openKey
          const open = session && requestsOf(session.id)
          const alike = others.flatMap(other => {
            const found = live.value.get(other.key)
            const asked = found && openOf(found)
            return asked && asked !== 'unknown' ? [{ worker: asked.worker, request: asked.requests[0]!.request }] : []
          })
          const classes = [isOpen ? 'open' : '', [first!, ...others].some(one => one.key === hovered) ? 'pointed' : ''].filter(Boolean).join(' ')
          return (
            <li key={key} class={classes} onMouseEnter={() => point(first!.key)} onMouseLeave={() => point(undefined)}>
              <button type="button" class="queue-head" aria-expanded={isOpen} onClick={() => ((turned.value = isOpen ? '' : key), visit(first!.key))}>
                <i class="queue-number">{first!.number}</i>
                <span class="queue-title" dir="auto">{first!.name}</span>
                <span class="dim queue-place">
                  {actor?.project} {first!.since && <>· <Age at={first!.since} /></>}
                </span>
                <span class="queue-what">
                  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
                    <path d={SIGNS[toolSign(first!.tool)]} />
                  </svg>
                  {requestInShort(actorInWords(actor ?? first!))}
                </span>
                {others.length > 0 && <span class="dim queue-more">the same in {others.length} more {others.length === 1 ? 'session' : 'sessions'}: {others.map(other => other.number).join(', ')}</span>}
              </button>
              {isOpen && (open ? <Requests session={first!.key} worker={open.worker} mark={open.requests.map(one => one.request).join()} alike={alike} /> : session ? <Elsewhere session={session} isShort /> : null)}
              {isOpen && (
                <a class="queue-open" href={sessionAddress(first!.key, actor?.uuid)}>
                  Open the session
                </a>
              )}
            </li>
          )
        })}
      </ol>
    </aside>
  )
}

/** Those who ask the same are one row. */
function rowsOf(waiting: readonly SceneAgent[], live: ReadonlyMap<string, LiveSession>, openOf: (session: LiveSession) => Open | 'unknown' | undefined): Row[] {
  const byKey = new Map(waiting.map(agent => [agent.key, agent]))
  const groups = groupsOf(waiting.flatMap(agent => live.get(agent.key) ?? []), openOf)
  const grouped = new Set(groups.flatMap(group => group.sessions.map(session => session.id)))
  const rows = groups.map(group => ({ key: group.key, agents: group.sessions.map(session => byKey.get(session.id)!) }))
  for (const agent of waiting) if (!grouped.has(agent.key)) rows.push({ key: agent.key, agents: [agent] })
  return rows.sort((one, other) => one.agents[0]!.number - other.agents[0]!.number)
}
