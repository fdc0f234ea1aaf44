// A lock for requests of which only the newest matters: one runs at a time, and of those that wait only the newest runs next.

/** A lock; whoever acquires it releases it when done. */
export type LatestOnly = {
  /** Waits for the lock; `false` where a newer request took the place in the queue. */
  acquire: () => Promise<boolean>
  release: () => void
}

/** A free lock. */
export function latestOnly(): LatestOnly {
  let isHeld = false
  let waiting: ((isAcquired: boolean) => void) | undefined
  return {
    acquire: async () => {
      waiting?.(false)
      waiting = undefined
      if (!isHeld) {
        isHeld = true
        return true
      }
      return new Promise(resolve => {
        waiting = resolve
      })
    },
    release: () => {
      const next = waiting
      waiting = undefined
      isHeld = next !== undefined
      next?.(true)
    },
  }
}
