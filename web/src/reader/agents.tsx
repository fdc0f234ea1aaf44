// A group of sub-agents: a line that says what they were for, which opens to one line for each.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { fieldOf } from '../chat/field.ts'
import { duration, plural } from '../format.ts'
import { Icon } from '../ui/icons.tsx'
import { timeTaken, type Group } from './groups.ts'
import { SLOW } from './tool.tsx'

export function Agents({ group, children }: { group: Group; children: () => ComponentChildren }) {
  const { calls, wanted } = group
  // What the address names is open, even where it was closed before.
  const [chosen, setChosen] = useState<{ isOpen: boolean; wanted: string | undefined }>()
  const isOpen = chosen && chosen.wanted === wanted ? chosen.isOpen : wanted !== undefined
  const done = calls.filter(call => call.result).length
  const failed = calls.filter(call => call.result?.is_error).length
  const tasks = calls.map(call => fieldOf(call.name, call.input).value).join(', ')
  const taken = timeTaken(calls)
  return (
    <div class="agents">
      <button type="button" class="tool-head" aria-expanded={isOpen} onClick={() => setChosen({ isOpen: !isOpen, wanted })}>
        <Icon name={isOpen ? 'down' : 'right'} />
        <b>{plural(calls.length, 'sub-agent')}</b>
        <span class="tool-field" title={isOpen ? undefined : tasks.slice(0, 400)}>
          {!isOpen && tasks}
        </span>
        {done < calls.length && <span class="dim">{done} done</span>}
        {failed > 0 && <span class="bad">{failed} failed</span>}
        {(taken ?? 0) >= SLOW && <span class="age">{duration(taken!)}</span>}
      </button>
      {isOpen && <div class="agents-body">{children()}</div>}
    </div>
  )
}
