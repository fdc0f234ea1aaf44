// One session on one line. Every page has the same columns, so that they are under each other over all groups.

import type { ComponentChildren } from 'preact'
import { money } from '../format.ts'
import { SIGNS } from './states.ts'
import { Gauge } from './sign.tsx'
import { Age } from './parts.tsx'

interface Props {
  href: string
  classes?: string
  sign: ComponentChildren
  title: string
  tags?: ComponentChildren
  doing?: ComponentChildren
  /** How many sub-agents work for it. */
  agents?: number
  context?: number
  cost?: number | null | undefined
  project?: string | null | undefined
  at: number | null | undefined
  isUnderDay?: boolean
}

export function SessionLine({ href, classes = '', sign, title, tags, doing, agents = 0, context = 0, cost, project, at, isUnderDay = false }: Props) {
  return (
    <a class={`row ${classes}`.trim()} href={href}>
      {sign}
      <span class="row-main">
        <span class="row-title" dir="auto" title={title}>
          {title}
        </span>
        {tags}
      </span>
      <span class="row-doing">
        {agents > 0 && (
          <span class="agents-chip" title={`${agents} sub-agents at work`}>
            <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
              <path d={SIGNS.linked} />
            </svg>
            {agents}
            <span class="hidden"> {agents === 1 ? 'sub-agent' : 'sub-agents'}</span>
          </span>
        )}
        <span>{doing}</span>
      </span>
      <Gauge tokens={context} />
      <span class="row-cost">{cost ? money(cost) : ''}</span>
      <span class="row-project" title={project ?? undefined}>{project}</span>
      <Age at={at} isUnderDay={isUnderDay} />
    </a>
  )
}

/** What the columns hold, over the first group. */
export function LineHeads() {
  return (
    <div class="row heads" aria-hidden="true">
      <span />
      <span>Session</span>
      <span>Doing</span>
      <span class="gauge-head">Context</span>
      <span class="row-cost">Cost</span>
      <span class="row-project">Project</span>
      <span class="age">Last</span>
    </div>
  )
}
