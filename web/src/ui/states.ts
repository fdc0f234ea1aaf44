// What a session's state looks like everywhere: a colour, a shape and a word; and the signs of the tools. Pure.

import type { State } from '../live/fold.ts'

/** What matters of a state to a person who looks at many. */
export type Kind = 'needs' | 'failed' | 'turn' | 'working' | 'directing' | 'idle'

export const WORDS: Record<Kind, string> = {
  needs: 'needs you',
  failed: 'failed',
  turn: 'your turn',
  working: 'working',
  directing: 'directing',
  idle: 'idle',
}

/** The kind of a state; one whose sub-agents work directs them. */
export function kindOf(state: State | null | undefined, directs = false): Kind {
  if (state === 'waiting_permission') return 'needs'
  if (state === 'failed' || state === 'lost') return 'failed'
  if (directs) return 'directing'
  if (state === 'waiting_input') return 'turn'
  return state === 'thinking' || state === 'tool_use' || state === 'responding' ? 'working' : 'idle'
}

/** Lines on a grid of 16, for icons of the page and for the screens of the world. */
export const SIGNS = {
  bang: 'M8 3v6M8 12.6h.01',
  cross: 'M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6',
  check: 'M3 8.6 6.4 12 13 4.4',
  sleep: 'M5 4.2h6L5 11.8h6',
  question: 'M5.7 5.9c0-3.2 4.7-3 4.7-.1C10.4 7.9 8 7.9 8 9.7M8 12.7h.01',
  terminal: 'M3.5 4.5 7 8l-3.5 3.5M8.5 12h4.5',
  pencil: 'M3.5 12.5l.8-3.3L10.6 2.9l2.5 2.5-6.3 6.3zM9 4.5 11.5 7',
  book: 'M8 4.6C6.5 3.6 4.7 3.4 2.8 3.7v8.5c1.9-.3 3.7-.1 5.2.8 1.5-.9 3.3-1.1 5.2-.8V3.7C11.3 3.4 9.5 3.6 8 4.6zM8 4.6V13',
  magnifier: 'M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM10 10l3.4 3.4',
  globe: 'M8 2.7a5.3 5.3 0 1 0 0 10.6A5.3 5.3 0 0 0 8 2.7zM2.9 8h10.2M8 2.7c-2.7 3-2.7 7.6 0 10.6M8 2.7c2.7 3 2.7 7.6 0 10.6',
  dots: 'M3.7 8h.01M8 8h.01M12.3 8h.01',
  lines: 'M3.2 4.8h9.6M3.2 8h9.6M3.2 11.2h6',
  list: 'M3.4 4.7h.01M6.3 4.7h6.7M3.4 8h.01M6.3 8h6.7M3.4 11.3h.01M6.3 11.3h6.7',
  linked: 'M8 2.4a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4zM4 10.2a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4zM12 10.2a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4zM7.2 5.6l-2.4 4.7M8.8 5.6l2.4 4.7',
} as const

export type SignName = keyof typeof SIGNS

const BY_TOOL: Record<string, SignName> = {
  Edit: 'pencil', MultiEdit: 'pencil', Write: 'pencil', NotebookEdit: 'pencil',
  Read: 'book', NotebookRead: 'book',
  Grep: 'magnifier', Glob: 'magnifier', LS: 'magnifier', ToolSearch: 'magnifier',
  WebFetch: 'globe', WebSearch: 'globe',
  TodoWrite: 'list', ExitPlanMode: 'list', EnterPlanMode: 'list',
  Task: 'linked', Agent: 'linked',
  AskUserQuestion: 'question',
}

/** The sign of a tool; a command's where it has none of its own. */
export function toolSign(tool: string | undefined): SignName {
  if (!tool) return 'terminal'
  return BY_TOOL[tool] ?? (tool.startsWith('mcp__') ? 'globe' : 'terminal')
}

/** The sign of what a session does, or asks to do. */
export function signOf(kind: Kind, state: State | null | undefined, tool: string | undefined): SignName {
  switch (kind) {
    case 'needs':
      return tool ? toolSign(tool) : 'bang'
    case 'failed':
      return 'cross'
    case 'turn':
      return 'check'
    case 'directing':
      return 'linked'
    case 'working':
      return state === 'thinking' ? 'dots' : state === 'responding' ? 'lines' : toolSign(tool)
    default:
      return 'sleep'
  }
}

/** How full a session's context is, from 0 to 1, and how much it holds: what is beyond the usual size has the large one. */
export function contextOf(tokens: number): { share: number; window: number } {
  const window = tokens > 200_000 ? 1_000_000 : 200_000
  return { share: Math.min(1, tokens / window), window }
}

/** Whether a context is so full that it should be seen. */
export function fullness(share: number): 'plain' | 'warm' | 'full' {
  return share > 0.9 ? 'full' : share > 0.75 ? 'warm' : 'plain'
}
