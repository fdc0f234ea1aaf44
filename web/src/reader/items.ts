// A session's messages as the items of a page: prompts, answers, calls with their results, dividers. Pure.

import type { Schemas } from '../api/client.ts'

export type Message = Schemas['BlockMessage']
export type Block = Schemas['ShownBlock']
export type Result = Extract<Block, { type: 'tool_result' }>
export type Layout = 'normal' | 'conversation' | 'prompts'

interface Common {
  /** Stays the same while the session grows. */
  key: string
  uuid: string | undefined
  at: number | undefined
  offset: number
}

export type Item = Common &
  (
    | { kind: 'prompt'; text: string; pictures: number[]; how?: string | undefined }
    | { kind: 'text'; text: string; model: string | undefined }
    | { kind: 'thinking'; text: string }
    | { kind: 'tool'; id: string; name: string; input: unknown; result: Result | undefined; resultUuid: string | undefined; resultOffset: number; ms: number | undefined }
    | { kind: 'note'; text: string; note: 'summary' | 'scheduled' | 'agent' | 'error' }
    | { kind: 'divider'; what: 'compaction' | 'day' | 'new' | 'fork' | 'left'; text: string; target?: string; from?: string }
  )

export type Tool = Item & { kind: 'tool' }

export interface Places {
  /** The record that the address names; it is shown in every layout. */
  wanted?: string | undefined
  /** The record up to which the person has read. */
  readUntil?: string | undefined
  /** Branches that were left, by their first messages, with the first message in the place of each. */
  branches: readonly { left: string; taken: string }[]
  /** What the session was forked from: the other session, and the last record that it has in common with it. */
  fork?: { session: string; uuid: string | undefined; title: string } | undefined
  dayName: (at: number) => string
}

/** The items of consecutive messages, oldest first. */
export function items(messages: readonly Message[], layout: Layout, places: Places): Item[] {
  const calls = new Map<string, Tool>()
  const all: Item[] = []
  let day = ''
  let isCopied = false
  let isNew = false
  let before: string | undefined
  for (const message of messages) {
    const at = message.at ? new Date(message.at).getTime() : undefined
    const common = { uuid: message.uuid ?? undefined, at, offset: message.offset }
    const key = message.uuid ?? `@${message.offset}`
    const divide = (what: (Item & { kind: 'divider' })['what'], text: string, place: { target?: string; from?: string } = {}) =>
      all.push({ ...common, key: `${key} ${what}${what === 'left' ? place.target : ''}`, kind: 'divider', what, text, ...place })
    const { fork } = places
    // Claude Code marks what it copied; where it does not, the session itself says which record was the last one.
    if (!message.copied_from && (isCopied || (fork?.uuid && fork.uuid === before))) {
      if (fork) divide('fork', `Forked here from “${fork.title}”`, { from: fork.session, ...(fork.uuid ? { target: fork.uuid } : {}) })
      else divide('fork', 'Forked here')
    }
    isCopied = Boolean(message.copied_from)
    before = message.uuid ?? undefined
    if (isNew) divide('new', 'New since you read')
    isNew = places.readUntil !== undefined && message.uuid === places.readUntil && message !== messages.at(-1)
    if (message.note === 'compaction') {
      divide('compaction', 'Compacted here')
      continue
    }
    if (at !== undefined && message.role === 'user') {
      const name = places.dayName(at)
      if (day && day !== name) divide('day', name)
      day = name
    }
    append(all, calls, message, common, key)
    for (const { left, taken } of places.branches) {
      if (taken === message.uuid) divide('left', 'Another branch was left here', { target: left })
      if (left === message.uuid) divide('left', 'This branch was left for another one', { target: taken })
    }
  }
  const isWanted = (uuid: string | undefined) => Boolean(places.wanted && uuid?.startsWith(places.wanted))
  return all.filter(item => isIn(item, layout) || isWanted(item.uuid) || (item.kind === 'tool' && isWanted(item.resultUuid)))
}

function append(all: Item[], calls: Map<string, Tool>, message: Message, common: Omit<Common, 'key'>, key: string): void {
  const pictures: number[] = []
  const texts: string[] = []
  message.blocks.forEach((block, number) => {
    const own = { ...common, key: `${key}#${number}` }
    if (block.type === 'tool_use') {
      const item = { ...own, kind: 'tool' as const, id: block.id, name: block.name, input: block.input, result: undefined, resultUuid: undefined, resultOffset: 0, ms: undefined }
      if (block.id) calls.set(block.id, item)
      all.push(item)
    } else if (block.type === 'tool_result') {
      const call = calls.get(block.id)
      if (call) {
        call.result = block
        call.resultUuid = common.uuid
        call.resultOffset = common.offset
        // The time in which a person was asked is not the tool's.
        const span = common.at !== undefined && call.at !== undefined && !block.waited ? common.at - call.at : undefined
        call.ms = block.ran_ms ?? span
      } else all.push({ ...own, kind: 'tool', id: block.id, name: 'Result', input: {}, result: block, resultUuid: common.uuid, resultOffset: common.offset, ms: undefined })
    } else if (block.type === 'thinking') all.push({ ...own, kind: 'thinking', text: block.text })
    else if (block.type === 'picture') pictures.push(block.number)
    else if (message.role === 'user') texts.push(block.text)
    else if (message.role === 'note') all.push({ ...own, kind: 'note', text: block.text, note: noteOf(message.note) })
    else all.push({ ...own, kind: 'text', text: block.text, model: message.model ?? undefined })
  })
  if (message.role === 'user' && (texts.length || pictures.length)) all.push({ ...common, key, kind: 'prompt', text: texts.join('\n\n'), pictures, how: message.how ?? undefined })
}

function noteOf(note: Message['note']): 'summary' | 'scheduled' | 'agent' | 'error' {
  return note === 'summary' || note === 'scheduled' || note === 'agent' ? note : 'error'
}

function isIn(item: Item, layout: Layout): boolean {
  if (layout === 'normal') return true
  if (layout === 'conversation') return item.kind !== 'tool' && item.kind !== 'thinking'
  return item.kind === 'prompt' || item.kind === 'divider'
}
