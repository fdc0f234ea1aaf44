// Rows of spending, added up as a page wants them. Pure.

import type { Schemas } from '../api/client.ts'

export type SpendingRow = Schemas['SpendingRow']
export type By = 'project' | 'branch' | 'model' | 'session'

export interface Sum {
  key: string
  cost: number
  tokensIn: number
  tokensOut: number
  sessions: Set<string>
  /** What it cost on each day. */
  days: Map<string, number>
}

export interface Chosen {
  day: string
  project: string
  branch: string
  model: string
}

/** The rows that meet what was clicked. */
export function choose(rows: readonly SpendingRow[], chosen: Chosen): SpendingRow[] {
  return rows.filter(
    row =>
      (!chosen.day || row.day === chosen.day) &&
      (!chosen.project || (row.project ?? '') === chosen.project || row.path === chosen.project) &&
      (!chosen.branch || (row.branch ?? '') === chosen.branch) &&
      (!chosen.model || row.model === chosen.model),
  )
}

/** Sums by one of their fields, the dearest first. */
export function sums(rows: readonly SpendingRow[], by: By): Sum[] {
  const all = new Map<string, Sum>()
  for (const row of rows) {
    const key = row[by] ?? ''
    const sum = all.get(key) ?? { key, cost: 0, tokensIn: 0, tokensOut: 0, sessions: new Set(), days: new Map() }
    add(sum, row)
    all.set(key, sum)
  }
  return [...all.values()].sort((one, other) => other.cost - one.cost || other.tokensOut - one.tokensOut)
}

export function total(rows: readonly SpendingRow[]): Sum {
  const sum: Sum = { key: '', cost: 0, tokensIn: 0, tokensOut: 0, sessions: new Set(), days: new Map() }
  for (const row of rows) add(sum, row)
  return sum
}

function add(sum: Sum, row: SpendingRow): void {
  sum.cost += row.cost_usd ?? 0
  sum.tokensIn += row.tokens_in
  sum.tokensOut += row.tokens_out
  sum.sessions.add(row.session)
  if (row.day) sum.days.set(row.day, (sum.days.get(row.day) ?? 0) + (row.cost_usd ?? 0))
}

/** Every day from the first to the last, none left out. */
export function days(first: string, last: string): string[] {
  const all: string[] = []
  for (let at = Date.parse(`${first}T12:00:00Z`); at <= Date.parse(`${last}T12:00:00Z`) && all.length < 800; at += 86_400_000) {
    all.push(new Date(at).toISOString().slice(0, 10))
  }
  return all
}
