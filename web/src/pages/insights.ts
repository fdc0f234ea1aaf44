// What was spent, arranged as the pictures of Insights want it: a calendar of a year, the hours of the week, and tokens by model. Pure.

import type { Schemas } from '../api/client.ts'

export type CostLine = Schemas['CostLine']

export interface Day {
  day: string
  cost: number
  /** From 0, where nothing was spent, to 4. */
  heat: number
}

/** How many weeks the calendar has. */
export const WEEKS = 53
const DAY = 86_400_000

/** The days of a calendar by weeks from Monday on, up to `today`; days that have not come are left out. */
export function calendar(lines: readonly CostLine[], today: string): Day[][] {
  const costs = new Map(lines.map(line => [line.key, line.cost_usd ?? 0]))
  const last = Date.parse(`${today}T12:00:00Z`)
  const first = last - ((WEEKS - 1) * 7 + weekday(today)) * DAY
  const steps = quarters([...costs.values()].filter(cost => cost > 0))
  return Array.from({ length: WEEKS }, (_, week) =>
    Array.from({ length: 7 }, (_, at) => first + (week * 7 + at) * DAY)
      .filter(at => at <= last)
      .map(at => {
        const day = new Date(at).toISOString().slice(0, 10)
        const cost = costs.get(day) ?? 0
        return { day, cost, heat: cost > 0 ? 1 + steps.filter(step => cost > step).length : 0 }
      }),
  )
}

/** The day of the week, from 0 for Monday. */
export function weekday(day: string): number {
  return (new Date(`${day}T12:00:00Z`).getUTCDay() + 6) % 7
}

/** Three costs that divide all into four equal parts: one dear day does not make the others pale. */
function quarters(costs: number[]): number[] {
  const sorted = costs.sort((one, other) => one - other)
  return [0.25, 0.5, 0.75].map(part => sorted[Math.floor((sorted.length - 1) * part)] ?? 0)
}

export interface Hour {
  cost: number
  /** The day on which most of it was spent. */
  day: string
  most: number
}

/** What was spent in each hour of each weekday. */
export function hours(lines: readonly CostLine[]): Hour[][] {
  const all = Array.from({ length: 7 }, () => Array.from({ length: 24 }, (): Hour => ({ cost: 0, day: '', most: 0 })))
  for (const { key, cost_usd } of lines) {
    const [, day, hour] = /^(\d{4}-\d\d-\d\d) (\d\d)/.exec(key) ?? []
    const cost = cost_usd ?? 0
    if (!day || !cost) continue
    const cell = all[weekday(day)]![Number(hour)]!
    cell.cost += cost
    if (cost > cell.most) Object.assign(cell, { most: cost, day })
  }
  return all
}

export const KINDS = ['input', 'cache read', 'cache written', 'output'] as const

export interface ModelTokens {
  model: string
  cost: number
  tokens: number[]
  all: number
}

/** What models read and wrote, most first. */
export function byModel(lines: readonly CostLine[]): ModelTokens[] {
  return lines
    .map(line => {
      const tokens = [line.input_tokens, line.cache_read_tokens, line.cache_creation_tokens, line.output_tokens]
      return { model: line.key, cost: line.cost_usd ?? 0, tokens, all: tokens.reduce((sum, part) => sum + part, 0) }
    })
    .filter(line => line.all > 0)
    .sort((one, other) => other.cost - one.cost || other.all - one.all)
}

/** A change in words: `+12%`, `−40%`, or nothing where there was nothing before. */
export function change(now: number, before: number): string {
  if (!before) return ''
  const part = Math.round(((now - before) / before) * 100)
  return part > 999 ? `${Math.round(now / before)}×` : `${part >= 0 ? '+' : '−'}${Math.abs(part)}%`
}
