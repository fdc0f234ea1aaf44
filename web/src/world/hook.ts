// What tests see of the world, and how they put sessions into it.

import type { Engine } from './engine.ts'
import { scene } from './crew.ts'
import type { Actor } from './types.ts'

interface Hook {
  scene: () => ReturnType<typeof scene>
  stats: () => ReturnType<Engine['stats']>
  /** What so many frames take of our own script, in milliseconds, shortest first. */
  measure: (frames: number) => number[]
  loseContext: (back: number) => void
  stage: (actors: Actor[] | undefined) => void
}

export function offerHook(engine: () => Engine | undefined, stage: (actors: Actor[] | undefined) => void): () => void {
  const hook: Hook = {
    scene: () => (engine() ? scene(engine()!.world) : { agents: [], rooms: [] }),
    stats: () => engine()?.stats() ?? { p95: 0, calls: 0, triangles: 0, frames: 0 },
    measure: frames => engine()?.measure(frames) ?? [],
    loseContext: back => engine()?.loseContext(back),
    stage,
  }
  const holder = window as { backstoryWorld?: Hook }
  holder.backstoryWorld = hook
  return () => delete holder.backstoryWorld
}
