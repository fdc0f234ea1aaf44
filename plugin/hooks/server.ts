// Asks Backstory's MCP server, the one process that Claude Code keeps open for this session. No model is involved.

import type { EngineInterface } from 'claude-code'

import type { Found, Hit, Message, Passage } from '../types'

/** The server's key in .mcp.json. */
const SERVER = 'backstory'
/** How many sessions the pane lists. */
const LIMIT = 12
/** How many messages the preview of a place shows. */
const AROUND = 6

/** The sessions that answer a question, best first. Never fails: what is wrong is in `note`. */
export async function search($: EngineInterface, question: string, limit = LIMIT): Promise<Found> {
  const none = { question, hits: [], total: 0, note: null }
  if (question.trim() === '') return none
  const answer = await call($, 'search', { query: question, limit })
  if (typeof answer === 'string') return { ...none, note: answer }
  const hits = listOf(answer.hits).map(hitOf).filter(hit => hit.session_id !== null)
  const pending = numberOf(recordOf(answer.pending).files)
  return {
    question,
    hits,
    total: numberOf(answer.total),
    note: pending > 0 ? `${pending} files are not indexed yet` : null,
  }
}

/** The messages around the place that a hit cites; none where a sub-agent said it. Never fails. */
export async function around($: EngineInterface, hit: Hit): Promise<Passage> {
  const of = placeOf(hit)
  if (stemOf(hit).startsWith('agent-')) return { of, messages: [], note: null }
  // Backstory counts the messages of OpenClaw's conversations and the bytes of Claude's transcripts.
  const isClaudes = hit.source === 'claude-sessions' || hit.uuid === null
  const place = isClaudes ? { around_offset: hit.offset } : { around: hit.uuid }
  const answer = await call($, 'read_session', { session: sessionOf(hit), limit: AROUND, ...place })
  if (typeof answer === 'string') return { of, messages: [], note: answer }
  return { of, messages: listOf(answer.quoted).map(messageOf).filter(message => message.text !== ''), note: null }
}

/** The session whose transcript holds the cited record: a fork cites the one it was copied from. */
export function sessionOf(hit: Hit): string {
  const stem = stemOf(hit)
  return stem === '' || stem.startsWith('agent-') ? (hit.session_id ?? '') : stem
}

/** Where among messages the cited one is; -1 where it is none of them. */
export function citedIn(messages: readonly Message[], hit: Hit): number {
  const isCited = ({ uuid, offset }: Message) => (hit.uuid === null ? offset === hit.offset : uuid === hit.uuid)
  return messages.findIndex(isCited)
}

/** The name of the cited file, if it is a transcript. */
function stemOf(hit: Hit): string {
  return /([^/]+)\.jsonl[^/]*$/.exec(hit.file)?.[1] ?? ''
}

/** What names the place that a hit cites. */
export function placeOf(hit: Hit): string {
  return `${sessionOf(hit)}:${hit.line}`
}

/** The answer of a tool, or in a sentence why there is none. */
async function call(
  $: EngineInterface,
  tool: string,
  args: Record<string, unknown>,
): Promise<Record<string, unknown> | string> {
  try {
    const connected = await $.mcp.connect(SERVER)
    if (!connected.isConnected) return `Backstory is not connected: ${connected.message}`
    const result = await $.mcp.call(connected.server, tool, args)
    const text = result.content.find(block => block.type === 'text')?.text ?? ''
    const answer = result.structuredContent ?? parsed(text)
    if (result.isError) return String(recordOf(answer).message ?? (text || `${tool} failed`))
    return recordOf(answer)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function hitOf(value: unknown): Hit {
  const hit = recordOf(value)
  return {
    session_id: textOf(hit.session_id),
    source: textOf(hit.source) ?? 'claude-sessions',
    score: numberOf(hit.score),
    title: textOf(hit.title),
    project: textOf(hit.project),
    branch: textOf(hit.branch),
    last_modified: textOf(hit.last_modified),
    file: textOf(hit.file) ?? '',
    line: numberOf(hit.line),
    offset: numberOf(hit.offset),
    uuid: textOf(hit.uuid),
    at: textOf(hit.at),
    snippet: textOf(hit.snippet),
  }
}

function messageOf(value: unknown): Message {
  const message = recordOf(value)
  const parts = listOf(message.parts).map(recordOf)
  const said = parts.filter(part => part.type === 'text').map(part => textOf(part.text) ?? '')
  return {
    role: textOf(message.role) ?? '',
    offset: numberOf(message.offset),
    uuid: textOf(message.uuid),
    at: textOf(message.at),
    text: said.join('\n').trim(),
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
