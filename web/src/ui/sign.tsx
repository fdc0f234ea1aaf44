// A session's state as a sign: its shape, its colour and, for screen readers and on hover, its word.

import type { State } from '../live/fold.ts'
import { contextOf, fullness, kindOf, SIGNS, signOf, WORDS, type Kind } from './states.ts'

interface Props {
  state: State | null | undefined
  tool?: string | undefined
  /** Whether sub-agents work for it. */
  directs?: boolean
  title?: string | undefined
}

export function StateSign({ state, tool, directs, title }: Props) {
  const kind = kindOf(state, directs)
  const word = state === 'ended' ? 'ended' : state === 'lost' ? 'process lost' : WORDS[kind]
  return (
    <span class={`sign sign-${kind}`} role="img" aria-label={word} title={title ? `${word}: ${title}` : word}>
      <Shape kind={kind} path={SIGNS[kind === 'needs' ? 'bang' : signOf(kind, state, tool)]} />
    </span>
  )
}

/** The same for a kind, as in a legend; the word stands beside it. */
export function KindSign({ kind }: { kind: Kind }) {
  return (
    <span class={`sign sign-${kind}`} aria-hidden="true">
      <Shape kind={kind} path={SIGNS[kind === 'needs' ? 'bang' : signOf(kind, 'tool_use', undefined)]} />
    </span>
  )
}

function Shape({ kind, path }: { kind: Kind; path: string }) {
  return (
    <svg viewBox="0 0 20 20" focusable="false">
      {kind === 'needs' && <circle cx="10" cy="10" r="9" />}
      {kind === 'failed' && <rect x="1.5" y="1.5" width="17" height="17" rx="5" />}
      {kind === 'turn' && <path d="M5 1.5h10a4 4 0 0 1 4 4v5a4 4 0 0 1-4 4H8.5L4 18.5v-4.200a4 4 0 0 1-3-3.800v-5a4 4 0 0 1 4-4z" />}
      {kind === 'working' && <circle class="ring" cx="10" cy="10" r="8.4" />}
      <path class={path === SIGNS.dots ? 'mark dotted' : 'mark'} d={path} transform={MARK[kind]} />
    </svg>
  )
}

const MARK: Record<Kind, string> = {
  needs: 'translate(3.6 3.4) scale(.8)',
  failed: 'translate(3.6 3.6) scale(.8)',
  turn: 'translate(4 2.3) scale(.75)',
  working: 'translate(4.6 4.6) scale(.675)',
  directing: 'translate(1 1) scale(1.125)',
  idle: 'translate(2.8 2.8) scale(.9)',
}

/** How full a context is, as a bar. */
export function Gauge({ tokens }: { tokens: number }) {
  if (!tokens) return <span class="gauge none" />
  const { share, window } = contextOf(tokens)
  const words = `context ${Math.round(share * 100)}% of ${window / 1000}k`
  return (
    <span class={`gauge ${fullness(share)}`} role="img" aria-label={words} title={words}>
      <i style={{ width: `${Math.max(4, share * 100)}%` }} />
    </span>
  )
}
