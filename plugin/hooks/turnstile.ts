// Lets one request through at a time; of those that wait meanwhile only the newest is let through.

/** A turnstile: whoever was let through leaves it when done. */
export type Turnstile = {
  /** Waits for its turn; `false` once something newer has come. */
  enter: () => Promise<boolean>
  leave: () => void
}

/** A turnstile that nobody has entered. */
export function turnstile(): Turnstile {
  let isTaken = false
  let waiting: ((isLetThrough: boolean) => void) | undefined
  return {
    enter: async () => {
      waiting?.(false)
      waiting = undefined
      if (!isTaken) {
        isTaken = true
        return true
      }
      return new Promise(resolve => {
        waiting = resolve
      })
    },
    leave: () => {
      const next = waiting
      waiting = undefined
      isTaken = next !== undefined
      next?.(true)
    },
  }
}
