// Numbers and times as people read them.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long ago: `now`, `5m`, `3h`, `2d`; after two weeks the date. */
export function age(at: number | null | undefined, now: number): string {
  if (at === null || at === undefined) return ''
  const span = Math.max(0, now - at)
  if (span < MINUTE) return 'now'
  if (span < HOUR) return `${Math.floor(span / MINUTE)}m`
  if (span < DAY) return `${Math.floor(span / HOUR)}h`
  if (span < 14 * DAY) return `${Math.floor(span / DAY)}d`
  const then = new Date(at)
  const isThisYear = then.getFullYear() === new Date(now).getFullYear()
  const options: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric' }
  return then.toLocaleDateString('en', isThisYear ? options : { ...options, year: 'numeric' })
}

/** A span: `340 ms`, `4.2 s`, `3m 20s`, `2h 5m`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms < MINUTE) return `${Math.round(ms / 1000)} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m ${Math.round((ms % MINUTE) / 1000)}s`
  return `${Math.floor(ms / HOUR)}h ${Math.round((ms % HOUR) / MINUTE)}m`
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

/** US dollars: `$0.04`, `$3.20`, `$1,204`. */
export function money(value: number | null | undefined): string {
  if (value === null || value === undefined) return ''
  if (value === 0) return '$0'
  if (value < 0.01) return '<$0.01'
  if (value < 1000) return `$${value.toFixed(2)}`
  return `$${Math.round(value).toLocaleString('en')}`
}

/** An estimate in US dollars: `~$3.20`. */
export function about(value: number): string {
  const text = money(value)
  return text.startsWith('<') ? text : `~${text}`
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`
}

/** The time of day. */
export function clock(at: string | number): string {
  return new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}

/** The day, as one says it. */
export function dayName(at: number, now: number): string {
  const then = new Date(at).toDateString()
  if (then === new Date(now).toDateString()) return 'Today'
  if (then === new Date(now - DAY).toDateString()) return 'Yesterday'
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  const options: Intl.DateTimeFormatOptions = { weekday: 'long', month: 'long', day: 'numeric' }
  return new Date(at).toLocaleDateString('en', isThisYear ? options : { ...options, year: 'numeric' })
}

/** A moment to the minute: `Jan 29, 2026, 04:01`. */
export function moment(at: string | number): string {
  const day = new Date(at).toLocaleDateString('en', { month: 'short', day: 'numeric', year: 'numeric' })
  return `${day}, ${clock(at)}`
}

/** A day in a few letters: `Sun, Nov 22`. */
export function shortDay(at: number): string {
  return new Date(at).toLocaleDateString('en', { weekday: 'short', day: 'numeric', month: 'short' })
}

/** A day as `2026-01-31`, in the browser's zone. */
export function isoDay(at: number): string {
  const then = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
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
