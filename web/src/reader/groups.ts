// Sub-agents that were started one after the other, as one item. Pure.

import { startsAgent } from '../chat/field.ts'
import type { Item, Tool } from './items.ts'

/** Fewer are shown one by one. */
const LEAST = 3

export interface Group {
  kind: 'agents'
  key: string
  calls: Tool[]
  /** The record that the address names, where it is one of them. */
  wanted: string | undefined
}

/** The items, with each run of sub-agents as a group. */
export function groupAgents(items: readonly Item[], wanted: string | undefined): (Item | Group)[] {
  const all: (Item | Group)[] = []
  let run: Tool[] = []
  const end = () => {
    all.push(...(run.length < LEAST ? run : [group(run, wanted)]))
    run = []
  }
  for (const item of items) {
    if (item.kind === 'tool' && startsAgent(item.name)) run.push(item)
    else {
      end()
      all.push(item)
    }
  }
  end()
  return all
}

function group(calls: Tool[], wanted: string | undefined): Group {
  const hasWanted = Boolean(wanted) && calls.some(call => [call.uuid, call.resultUuid].some(uuid => uuid?.startsWith(wanted!)))
  // The key of its first call: a reader's place is kept while the group is made.
  return { kind: 'agents', key: calls[0]!.key, calls, wanted: hasWanted ? wanted : undefined }
}

/** How long all of them took, from the first start to the last end; undefined while one of them has not ended. */
export function timeTaken(calls: readonly Tool[]): number | undefined {
  const ends = calls.map(({ at, ms }) => (at === undefined || ms === undefined ? NaN : at + ms))
  const taken = Math.max(...ends) - Math.min(...calls.map(({ at }) => at ?? NaN))
  return Number.isNaN(taken) ? undefined : taken
}
