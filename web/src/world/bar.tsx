// The bar of a replay: play, the scrubber with marks where somebody waited, the speed.

import { clock, shortDay } from '../format.ts'
import { Button } from '../ui/parts.tsx'
import { SPEEDS, type Playing } from './playing.ts'

export { Playing } from './playing.ts'

export function ReplayBar({ playing, close }: { playing: Playing; close: () => void }) {
  const { replay, at, speed, isPlaying, jumps } = playing
  const span = replay.until - replay.since
  const percent = (time: number) => ((time - replay.since) / span) * 100
  return (
    <div class="replay card" role="group" aria-label="Replay">
      <Button icon={isPlaying.value ? 'pause' : 'play'} label={isPlaying.value ? 'Pause' : 'Play'} keys="Space" onClick={() => (isPlaying.value = !isPlaying.value)} />
      <time class="replay-time">
        <span class="dim">{shortDay(at.value)}</span> {clock(at.value)}
      </time>
      <div class="scrubber">
        <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
          {replay.activity.map((part, place) => part > 0 && <rect key={place} class="busy" x={(place / replay.activity.length) * 100} y={10 - 9 * part} width={90 / replay.activity.length} height={9 * part} />)}
          {replay.waits.map(([began, ended]) => (
            <rect key={began} x={percent(began)} y="0" width={Math.max(0.35, percent(ended) - percent(began))} height="10" />
          ))}
        </svg>
        <input
          type="range"
          aria-label={`Time of the day; somebody waited ${replay.waits.length} times`}
          aria-valuetext={clock(at.value)}
          min={replay.since}
          max={replay.until}
          step={1000}
          value={at.value}
          onInput={event => playing.go(Number(event.currentTarget.value))}
        />
      </div>
      <select class="field small" aria-label="Speed" value={speed.value} onChange={event => (speed.value = Number(event.currentTarget.value))}>
        {SPEEDS.map(value => (
          <option key={value} value={value}>
            {value}×
          </option>
        ))}
      </select>
      <label class="check">
        <input type="checkbox" checked={jumps.value} onChange={event => (jumps.value = event.currentTarget.checked)} /> Skip pauses
      </label>
      {replay.waits.length > 0 && (
        <Button kind="quiet" onClick={() => playing.toWait()}>
          Next wait
        </Button>
      )}
      <Button kind="quiet" icon="close" label="Back to now" keys="Esc" onClick={close} />
    </div>
  )
}
