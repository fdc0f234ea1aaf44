// How sessions, places and sums are worded.

import type { ContextCost, Hit } from '../types'
import { sessionOf } from './server'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The day of a time, as `3 Nov`; with the year where it is not that of `now`. */
export function day(time: string | null, now: number): string {
  const at = time === null ? NaN : Date.parse(time)
  if (Number.isNaN(at)) return ''
  const [date, today] = [new Date(at), new Date(now)]
  const year = date.getFullYear() === today.getFullYear() ? '' : ` ${date.getFullYear()}`
  return `${date.getDate()} ${MONTHS[date.getMonth()]}${year}`
}

/** The first characters of an id, which name a session as well as all of them. */
export function short(id: string): string {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(id) ? id.slice(0, 8) : id
}

/** What names a place: a session and a line of its transcript. */
export function cite(hit: Hit): string {
  return `${short(sessionOf(hit))}:${hit.line}`
}

/** The title of a session on one line. */
export function title(hit: Hit): string {
  return oneLine(hit.title ?? '(no title)')
}

/** When and where: `3 Nov, fix/token-refresh`. */
export function origin(hit: Hit, now: number): string {
  return [day(hit.last_modified, now), hit.branch ?? hit.project ?? ''].filter(word => word !== '').join(', ')
}

/** The commands that continue the session of a hit; one of OpenClaw's can only be read. */
export function continuing(hit: Hit): string[] {
  const id = short(hit.session_id ?? sessionOf(hit))
  if (hit.source !== 'claude-sessions') return [`backstory show ${id}`]
  return [`backstory resume ${id}`, `backstory fork ${id}`]
}

/** What the context costs once it is cold. */
export function coldness({ tokens, usd, minutes, isCold }: ContextCost): string {
  const size = `${tokens < 1000 ? tokens : `${Math.round(tokens / 1000)}k`} tokens of context`
  const price = usd === null ? '' : `, about $${usd.toFixed(2)}`
  return isCold
    ? `${size} are cold: the next prompt has them read again${price}`
    : `${size}: cold after ${minutes} idle minutes, then read again${price}`
}

/** A text on one line, without control characters, cut at `length`. */
export function oneLine(text: string, length = 200): string {
  const line = clean(text).replace(/\s+/g, ' ').trim()
  return line.length > length ? `${line.slice(0, length - 1).trimEnd()}…` : line
}

/** A text without control characters other than newline and tab. */
export function clean(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '')
}

/** Text in which none of the tags by which a host marks its own words, such as `<system-reminder>`, is one. */
export function withoutTags(text: string): string {
  return text.replace(/<(?=\s*\/?\s*(?:[a-z]+-[a-z-]+|antml:|(?:system|human|assistant|quoted|tool_(?:use|calls?|results?)|function_(?:calls?|results?))\b))/gi, '\\u003c')
}
