// Numbers and times as people read them. By hand, because the page speaks English alone, and the browser's own formatters are
// the most expensive thing that the first screen would wait for.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December']
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** A whole number with its thousands apart: `12,345`. */
export function grouped(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** A day of the year: `Feb 3`, or `Feb 3, 2025`. */
function monthDay(at: Date, hasYear: boolean): string {
  return `${MONTHS[at.getMonth()]?.slice(0, 3)} ${at.getDate()}${hasYear ? `, ${at.getFullYear()}` : ''}`
}

const two = (value: number) => String(value).padStart(2, '0')

/** How long ago: `now`, `5m`, `3h`, `2d`; after two weeks the date. */
export function age(at: number | null | undefined, now: number): string {
  if (at === null || at === undefined) return ''
  const span = Math.max(0, now - at)
  if (span < MINUTE) return 'now'
  if (span < HOUR) return `${Math.floor(span / MINUTE)}m`
  if (span < DAY) return `${Math.floor(span / HOUR)}h`
  if (span < 14 * DAY) return `${Math.floor(span / DAY)}d`
  const then = new Date(at)
  return monthDay(then, then.getFullYear() !== new Date(now).getFullYear())
}

/** A span: `340 ms`, `4.2 s`, `3m 20s`, `2h 5m`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms < MINUTE) return `${Math.round(ms / 1000)} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m ${Math.floor((ms % MINUTE) / 1000)}s`
  return `${Math.floor(ms / HOUR)}h ${Math.floor((ms % HOUR) / MINUTE)}m`
}

/** A count: `950`, `12k`, `3.4M`. */
export function count(value: number): string {
  if (value < 1000) return String(value)
  if (value < 10_000) return `${(value / 1000).toFixed(1)}k`
  if (value < 1_000_000) return `${Math.round(value / 1000)}k`
  if (value < 10_000_000) return `${(value / 1_000_000).toFixed(1)}M`
  if (value < 1_000_000_000) return `${Math.round(value / 1_000_000)}M`
  return `${(value / 1_000_000_000).toFixed(1)}B`
}

/** US dollars. All costs are estimates by list prices and say so, `~$0.04`, `~$1,204`, but for nothing and next to nothing; what
 *  another program reports is written as it is. */
export function money(value: number | null | undefined, isReported = false): string {
  if (value === null || value === undefined) return ''
  if (value === 0) return '$0'
  if (value < 0.01) return '<$0.01'
  return `${isReported ? '' : '~'}$${value < 1000 ? value.toFixed(2) : grouped(value)}`
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`
}

/** The time of day. */
export function clock(at: string | number): string {
  const then = new Date(at)
  return `${two(then.getHours())}:${two(then.getMinutes())}`
}

/** The day, as one says it. */
export function dayName(at: number, now: number): string {
  const then = new Date(at)
  if (then.toDateString() === new Date(now).toDateString()) return 'Today'
  if (then.toDateString() === new Date(now - DAY).toDateString()) return 'Yesterday'
  const year = then.getFullYear() === new Date(now).getFullYear() ? '' : `, ${then.getFullYear()}`
  return `${WEEKDAYS[then.getDay()]}, ${MONTHS[then.getMonth()]} ${then.getDate()}${year}`
}

/** A moment to the minute: `Jan 29, 2026, 04:01`. */
export function moment(at: string | number): string {
  return `${monthDay(new Date(at), true)}, ${clock(at)}`
}

/** A day in a few letters: `Sun, Nov 22`. */
export function shortDay(at: number): string {
  const then = new Date(at)
  return `${WEEKDAYS[then.getDay()]?.slice(0, 3)}, ${monthDay(then, false)}`
}

/** A day as `2026-01-31`, in the browser's zone. */
export function isoDay(at: number): string {
  const then = new Date(at)
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())}`
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.replace(/\/+$/, '').split('/').pop() || path
}

/** A path from a folder that it is below, else with the home folder as `~`. */
export function shortPath(path: string, from?: string): string {
  const start = from && `${from.replace(/\/+$/, '')}/`
  if (start && path.length > start.length && path.startsWith(start)) return path.slice(start.length)
  return path.replace(/^\/(?:home|Users)\/[^/]+/, '~')
}

/** A text without the signs of Markdown, for one line. */
export function plain(text: string): string {
  return text.replace(/\|?(?:\s*:?-{3,}:?\s*\|)+/g, ' ').replace(/\*\*|`+|(?<=^|\s)#{1,6}(?=\s|$)/g, '')
}
