// Formats sessions, places and costs.

import type { ContextCost, Hit } from '../types'
import { sessionOf, subagentOf } from './server'

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

/** The citation of a place: a session and a line of its transcript, or of its sub-agent's. */
export function cite(hit: Hit): string {
  return `${short(sessionOf(hit))}:${hit.line}${ofSubagent(hit)}`
}

/** The sub-agent whose transcript is cited, by the id that `read_session` takes; empty for the session itself. */
export function ofSubagent(hit: Hit): string {
  const agent = subagentOf(hit)
  return agent === null ? '' : ` subagent ${agent}`
}

/** The title of a session on one line. */
export function title(hit: Hit): string {
  return oneLine(hit.title ?? '(no title)')
}

/** When and where: `3 Nov, fix/token-refresh`. */
export function origin(hit: Hit, now: number): string {
  return [day(hit.last_modified, now), hit.branch ?? hit.project ?? ''].filter(word => word !== '').join(', ')
}

/** The commands that continue the session of a hit; an OpenClaw conversation can only be read. */
export function continuing(hit: Hit): string[] {
  const id = short(hit.session_id ?? sessionOf(hit))
  if (hit.source !== 'claude-sessions') return [`backstory show ${id}`]
  return [`backstory resume ${id}`, `backstory fork ${id}`]
}

/** What the context costs once the prompt cache no longer holds it. */
export function contextCost({ tokens, usd, minutes, isCold }: ContextCost): string {
  const size = `${tokens < 1000 ? tokens : `${Math.round(tokens / 1000)}k`} tokens of context`
  const price = usd === null ? '' : ` for about $${usd.toFixed(2)}`
  return isCold
    ? `${size} are no longer cached: the next prompt reads them again${price}`
    : `${size}: cached for ${minutes} idle minutes, then read again${price}`
}

/** A text on one line, without control characters, cut at `length`. */
export function oneLine(text: string, length = 200): string {
  const line = clean(text).replace(/\s+/g, ' ').trim()
  return line.length > length ? `${line.slice(0, length - 1).trimEnd()}…` : line
}

/** Control characters other than newline and tab, and invisible ones, which can hide or reorder text. */
const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e01ef}]|(?<=[!-~])[\u200c\u200d]|[\u200c\u200d](?=[!-~])/gu

/** A text without control characters and invisible ones. */
export function clean(text: string): string {
  return text.replace(INVISIBLE, '')
}

/** Words that mark turns, thoughts and calls; a test compares them with those of crates/app/src/quoting.rs, which says what
 *  else is a tag of a host: names of several words, and special tokens. */
const MARKS = 'system|human|user|assistant|quoted|invoke|parameter|thinking'
const TAG = new RegExp(
  `<(?=\\s*/?\\s*(?:[|｜][\\p{L}_]|[a-z][a-z0-9_]*[-:][a-z]|[a-z][a-z0-9]{2,}(?:_[a-z0-9]{3,})+(?=[\\s>/="']|$)|(?:${MARKS})(?![a-z0-9_:-])))`,
  'giu',
)

/** A text in which tags of the host, such as `<system-reminder>`, are no longer tags. */
export function withoutTags(text: string): string {
  return text.replace(TAG, '\\u003c')
}
