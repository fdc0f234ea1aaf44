// When a job runs: as a form says it, as the server takes it, and in words. Pure.

import type { Schemas } from '../api/client.ts'
import { moment } from '../format.ts'

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

const DAYS = ['Sundays', 'Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays', 'Sundays']

export function scheduleInWords(schedule: Schemas['JobSchedule']): string {
  if (schedule.kind === 'at') return `once, ${moment(schedule.at)}`
  if (schedule.kind === 'every') return `every ${span(schedule.every_ms)}`
  const zone = schedule.tz ? ` (${schedule.tz})` : ''
  const simple = /^(\d{1,2}) (\d{1,2}) \* \* (\*|[0-7])$/.exec(schedule.expr)
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
