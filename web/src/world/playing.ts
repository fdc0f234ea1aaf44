// The clock of a replay: it plays, pauses, jumps over pauses in the work, and goes where the scrubber is put.

import { signal } from '@preact/signals'
import { Replay, type Day, type Named } from './replay.ts'
import type { Actor } from './types.ts'

export const SPEEDS = [10, 30, 60, 120, 300, 600] as const
/** Longer times without any change are skipped, in milliseconds of the day. */
const PAUSE = 5 * 60_000

export class Playing {
  readonly replay: Replay
  readonly day: Day
  readonly at = signal(0)
  readonly speed = signal<number>(120)
  readonly isPlaying = signal(true)
  readonly jumps = signal(true)
  private readonly show: (actors: Actor[], at: number) => void
  private timer: number | undefined
  private before = 0

  constructor(day: Day, show: (actors: Actor[], at: number) => void, known?: readonly Named[]) {
    this.day = day
    this.replay = new Replay(day, known)
    this.show = show
    this.go(this.replay.since)
    this.timer = window.setInterval(() => this.tick(), 100)
    this.before = performance.now()
  }

  go(at: number): void {
    this.at.value = Math.max(this.replay.since, Math.min(this.replay.until, at))
    this.show(this.replay.seek(this.at.value), this.at.value)
  }

  /** Pauses at the next moment at which a session waited for the person: played on, it would be over at once. */
  toWait(): void {
    const next = this.replay.waits.find(([began]) => began > this.at.peek() + 1000) ?? this.replay.waits[0]
    if (!next) return
    this.isPlaying.value = false
    this.go(next[0] + 1)
  }

  close(): void {
    clearInterval(this.timer)
  }

  private tick(): void {
    const now = performance.now()
    const passed = Math.min(500, now - this.before)
    this.before = now
    if (!this.isPlaying.value || document.hidden) return
    let at = this.at.value + passed * this.speed.value
    const next = this.replay.next()
    if (this.jumps.value && next !== undefined && next - at > PAUSE) at = next - 20_000
    this.go(at)
    if (this.at.value >= this.replay.until) this.isPlaying.value = false
  }
}
