// When a job runs: as a form says it, as the server takes it, and in words. Pure.

import type { Schemas } from '../api/client.ts'
import { isoDay, clock, moment } from '../format.ts'

export interface When {
  kind: 'daily' | 'weekly' | 'every' | 'once' | 'cron'
  time: string
  weekday: string
  every: string
  at: string
  cron: string
}

/** The fields of a new job that say when. */
export function scheduleBody(when: When): { cron?: string; every?: string; at?: string } {
  const [hour, minute] = when.time.split(':').map(Number)
  switch (when.kind) {
    case 'daily':
      return { cron: `${minute} ${hour} * * *` }
    case 'weekly':
      return { cron: `${minute} ${hour} * * ${when.weekday}` }
    case 'every':
      return { every: when.every }
    case 'once':
      return { at: new Date(when.at).toISOString() }
    case 'cron':
      return { cron: when.cron }
  }
}

/** What a job has, as the form says it. */
export function whenOf(schedule: Schemas['JobSchedule'], otherwise: When): When {
  if (schedule.kind === 'at') return { ...otherwise, kind: 'once', at: `${isoDay(Date.parse(schedule.at))}T${clock(schedule.at)}` }
  if (schedule.kind === 'every') return { ...otherwise, kind: 'every', every: shortSpan(schedule.every_ms) }
  const [, minute, hour, day] = SIMPLE.exec(schedule.expr) ?? []
  if (!minute || !hour || !day) return { ...otherwise, kind: 'cron', cron: schedule.expr }
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`
  return day === '*' ? { ...otherwise, kind: 'daily', time } : { ...otherwise, kind: 'weekly', time, weekday: String(Number(day) % 7) }
}

/** The same as the server takes a change of it; none where the span is none. */
export function changedSchedule(when: When): Schemas['CrewSchedule'] | undefined {
  const { cron, every, at } = scheduleBody(when)
  if (at) return { kind: 'at', atMs: Date.parse(at) }
  if (!every) return { kind: 'cron', expr: cron! }
  const [, number, unit] = /^(\d+) *([smhd])$/.exec(every.trim()) ?? []
  return number && unit ? { kind: 'every', everyMs: Number(number) * SPANS[unit]! } : undefined
}

const SIMPLE = /^(\d{1,2}) (\d{1,2}) \* \* (\*|[0-7])$/
const SPANS: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 }

function shortSpan(ms: number): string {
  const [unit, size] = Object.entries(SPANS).find(([, size]) => ms % size === 0 && ms >= size) ?? ['s', 1000]
  return `${Math.round(ms / size)}${unit}`
}

const DAYS = ['Sundays', 'Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays', 'Sundays']

export function scheduleInWords(schedule: Schemas['JobSchedule']): string {
  if (schedule.kind === 'at') return `once, ${moment(schedule.at)}`
  if (schedule.kind === 'every') return `every ${span(schedule.every_ms)}`
  const zone = schedule.tz ? ` (${schedule.tz})` : ''
  const simple = SIMPLE.exec(schedule.expr)
  if (!simple) return schedule.expr + zone
  const time = `${simple[2]!.padStart(2, '0')}:${simple[1]!.padStart(2, '0')}`
  return (simple[3] === '*' ? `daily at ${time}` : `${DAYS[Number(simple[3])]} at ${time}`) + zone
}

function span(ms: number): string {
  const units: [number, string][] = [
    [86_400_000, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
    [1000, 'second'],
  ]
  const [size, name] = units.find(([size]) => ms % size === 0 && ms >= size) ?? [1, 'ms']
  const number = ms / size
  return number === 1 ? name : `${number} ${name}s`
}
