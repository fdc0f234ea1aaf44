// Projects stacked on each day. Pure.

import type { Sum } from './spending.ts'

export const PALETTE = ['#5b67d8', '#2f9e77', '#d98b2b', '#c2557f', '#3c93c2', '#8a63c9', '#98a044']
const OTHERS = '#9a958b'

export interface Series {
  name: string
  colour: string
  /** The sum of this one and all below it, for each day. */
  values: number[]
}

/** The dearest projects have a colour each, the rest shares one. */
export function stack(days: readonly string[], sums: readonly Sum[]): { series: Series[]; totals: Map<string, number> } {
  const own = sums.slice(0, PALETTE.length)
  const rest = sums.slice(PALETTE.length)
  const parts = own.map((sum, at) => ({ name: sum.key, colour: PALETTE[at]!, on: (day: string) => sum.days.get(day) ?? 0 }))
  if (rest.length) parts.push({ name: rest.length === 1 ? rest[0]!.key : `${rest.length} others`, colour: OTHERS, on: day => rest.reduce((all, sum) => all + (sum.days.get(day) ?? 0), 0) })
  const totals = new Map(days.map(day => [day, 0]))
  const series = parts.map(({ name, colour, on }) => {
    const values = days.map(day => {
      const value = totals.get(day)! + on(day)
      totals.set(day, value)
      return value
    })
    return { name, colour, values }
  })
  return { series, totals }
}
