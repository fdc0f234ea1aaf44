// What was done today, by repository. Pure.

import type { Row } from '../live/store.ts'

export interface Group {
  path: string
  name: string
  rows: Row[]
  messages: number
  cost: number
}

/** The sessions of a span of time in groups of a repository, the latest first. */
export function byRepository(rows: readonly Row[], since: number, until: number): Group[] {
  const groups = new Map<string, Group>()
  for (const row of rows) {
    if (!row.last || row.last < since || row.last >= until) continue
    const path = row.path ?? ''
    const group = groups.get(path) ?? { path, name: row.project ?? 'No repository', rows: [], messages: 0, cost: 0 }
    group.rows.push(row)
    group.messages += row.messages
    group.cost += row.cost ?? 0
    groups.set(path, group)
  }
  const latest = (group: Group) => Math.max(...group.rows.map(row => row.last ?? 0))
  for (const group of groups.values()) group.rows.sort((one, other) => (other.last ?? 0) - (one.last ?? 0))
  return [...groups.values()].sort((one, other) => latest(other) - latest(one))
}

/** The beginning of the latest day with sessions, and whether that is today. */
export function latestDay(rows: readonly Row[], now: number): { since: number; isToday: boolean } {
  const midnight = startOfDay(now)
  const last = rows.reduce((latest, row) => Math.max(latest, row.last ?? 0), 0)
  return last >= midnight || last === 0 ? { since: midnight, isToday: true } : { since: startOfDay(last), isToday: false }
}

export function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0)
}
