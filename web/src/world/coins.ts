// How many coins stand for a cost: none for little, then one more for every half of a doubling. Pure.

/** How many are on each other. */
export const STACK = 7

export function coinsFor(cost: number): number {
  return cost < 0.25 ? 0 : Math.min(2 * STACK, Math.round(1 + 2 * Math.log2(cost / 0.25)))
}
