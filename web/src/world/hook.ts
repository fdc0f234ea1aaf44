// What tests read of the world, and how they stage sessions in it.

import type { Engine } from './engine.ts'
import { scene } from './scene.ts'
import type { Actor } from './types.ts'

interface Hook {
  scene: () => ReturnType<typeof scene>
  cameraView: () => Engine['cameraView'] | undefined
  stats: () => ReturnType<Engine['stats']>
  /** The time of our own script for so many frames, in milliseconds, shortest first. */
  measure: (frames: number) => number[]
  /** Where heads and pins are on the canvas. */
  places: () => ReturnType<Engine['places']>
  /** How light it is outside, from 0 to 1, whatever the hour. */
  brightness: (value: number) => void
  loseContext: (back: number) => void
  stage: (actors: Actor[] | undefined) => void
}

export function offerHook(engine: () => Engine | undefined, stage: (actors: Actor[] | undefined) => void): () => void {
  const hook: Hook = {
    scene: () => (engine() ? scene(engine()!.world) : { agents: [], rooms: [] }),
    cameraView: () => engine()?.cameraView,
    stats: () => engine()?.stats() ?? { p95: 0, median: 0, calls: 0, triangles: 0, drawn: 0 },
    measure: frames => engine()?.measure(frames) ?? [],
    places: () => engine()?.places() ?? [],
    brightness: value => engine()?.setBrightness(value),
    loseContext: back => engine()?.loseContext(back),
    stage,
  }
  const holder = window as { backstoryWorld?: Hook }
  holder.backstoryWorld = hook
  return () => delete holder.backstoryWorld
}
