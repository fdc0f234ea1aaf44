// The list of sessions: which are in it, in which groups, in which order. Pure.

import type { Row } from '../live/store.ts'
import { isWorking, type State } from '../live/fold.ts'

export type GroupBy = 'day' | 'project' | 'none'
export const SHOWN = ['all', 'unread', 'running', 'waiting', 'pinned', 'archived', 'gone', 'hidden'] as const
export type Show = (typeof SHOWN)[number]

export interface Filter {
  text: string
  project: string
  branch: string
  show: Show
  tag: string
  group: GroupBy
  folded: ReadonlySet<string>
}

export interface Known {
  isUnread: (row: Row) => boolean
  state: (row: Row) => State | undefined
  groupOfDay: (at: number) => string
}

export type Line =
  | { kind: 'group'; key: string; name: string; count: number; isFolded: boolean }
  | { kind: 'row'; key: string; row: Row }

/** The filters as they stand in an address. */
export function readFilter(query: URLSearchParams): Filter {
  const one = <T extends string>(name: string, all: readonly T[], fallback: T): T => {
    const value = query.get(name) as T
    return all.includes(value) ? value : fallback
  }
  return {
    text: query.get('q') ?? '',
    project: query.get('project') ?? '',
    branch: query.get('branch') ?? '',
    show: one('show', SHOWN, 'all'),
    tag: query.get('tag') ?? '',
    group: one('group', ['day', 'project', 'none'], 'day'),
    folded: new Set((query.get('fold') ?? '').split('|').filter(Boolean)),
  }
}

/** The rows that meet the filter; pinned ones first. */
export function select(rows: readonly Row[], filter: Filter, known: Known): Row[] {
  const chosen = rows.filter(row => isShown(row, filter, known) && holds(textsOf(row), filter.text))
  const rank = (row: Row) => (row.pinned ? 0 : 1)
  return chosen.sort((one, other) => rank(one) - rank(other) || (other.last ?? 0) - (one.last ?? 0))
}

function isShown(row: Row, filter: Filter, known: Known): boolean {
  if (filter.project && row.path !== filter.project && row.project !== filter.project) return false
  if (filter.branch && row.branch !== filter.branch) return false
  if (filter.tag && !row.tags?.some(tag => tag.toLowerCase() === filter.tag.toLowerCase())) return false
  const state = known.state(row)
  switch (filter.show) {
    case 'unread':
      return known.isUnread(row)
    case 'running':
      return isWorking(state)
    case 'waiting':
      return state === 'waiting_permission'
    case 'pinned':
      return row.pinned === true
    case 'archived':
      return row.archived === true
    case 'gone':
      return row.gone === true
    default:
      return true
  }
}

function textsOf(row: Row): (string | null | undefined)[] {
  return [row.title, row.project, row.branch, row.agent, row.id, row.note, ...(row.tags ?? []).map(tag => `#${tag}`)]
}

/** Whether each word of what was typed is in one of the texts. */
export function holds(texts: (string | null | undefined)[], typed: string): boolean {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  return words.every(word => texts.some(text => text?.toLowerCase().includes(word)))
}

/** Rows under the names of their groups; a folded group is its name alone. */
export function lines(rows: readonly Row[], filter: Filter, known: Known): Line[] {
  const row = (row: Row): Line => ({ kind: 'row', key: row.id, row })
  if (filter.group === 'none') return rows.map(row)
  const groups = new Map<string, Row[]>()
  for (const one of rows) {
    const name = one.pinned ? 'Pinned' : nameOf(one, filter.group, known)
    const group = groups.get(name)
    if (group) group.push(one)
    else groups.set(name, [one])
  }
  return [...groups].flatMap(([name, members]): Line[] => {
    const isFolded = filter.folded.has(name)
    const head: Line = { kind: 'group', key: `group ${name}`, name, count: members.length, isFolded }
    return isFolded ? [head] : [head, ...members.map(row)]
  })
}

/** Where the keyboard is: the line, and its place when it was last seen. */
export interface Cursor {
  key: string
  at: number
}

/** The cursor on the same line, wherever that is now; on the next row, or else the one before, where it is gone. */
export function follow(lines: readonly Line[], { key, at }: Cursor): Cursor {
  const found = lines.findIndex(line => line.key === key)
  if (found >= 0) return { key, at: found }
  const isRow = (line: Line | undefined) => line?.kind === 'row'
  const after = lines.findIndex((line, place) => place >= at && isRow(line))
  const next = after >= 0 ? after : lines.findLastIndex(isRow)
  return next >= 0 ? { key: lines[next]!.key, at: next } : { key, at }
}

function nameOf(row: Row, group: GroupBy, known: Known): string {
  if (group === 'project') return row.project ?? 'No repository'
  return row.last ? known.groupOfDay(row.last) : 'No time known'
}
