// How many there are of each state; a click, or a key, goes to the next one. It is the legend as well.

import { KindSign } from '../ui/sign.tsx'
import { WORDS, type Kind } from '../ui/states.ts'
import type { SceneAgent } from './scene.ts'

export const STATUS_KEYS: Partial<Record<Kind, string>> = { needs: 'v', failed: 'x', turn: 't' }

/** Who directs works. */
const SHOWN: [Kind, Kind[]][] = [['needs', ['needs']], ['failed', ['failed']], ['turn', ['turn']], ['working', ['working', 'directing']], ['idle', ['idle']]]

export function StatusBar({ agents, visit }: { agents: readonly SceneAgent[]; visit: (kind: Kind) => void }) {
  const seated = agents.filter(agent => !agent.parent && !agent.isLeaving)
  return (
    <ul class="world-status" aria-label="States">
      {SHOWN.map(([kind, kinds]) => {
        const count = seated.filter(agent => kinds.includes(agent.kind)).length
        if (!count) return null
        const keys = STATUS_KEYS[kind]
        return (
          <li key={kind} class={`status-${kind}`}>
            <button type="button" title={`Go to the next one${keys ? ` (${keys})` : ''}`} onClick={() => visit(kind)}>
              <KindSign kind={kind} />
              <b>{count}</b> <span class="status-word">{wordFor(kind, count)}</span>
              <span class="hidden">, go to the next one</span>
              {keys && (
                <kbd class="desk-only" aria-hidden="true">
                  {keys}
                </kbd>
              )}
            </button>
          </li>
        )
      })}
    </ul>
  )
}

function wordFor(kind: Kind, count: number): string {
  return kind === 'needs' && count > 1 ? 'need you' : WORDS[kind]
}
