// Asks Backstory's MCP server, the one process that Claude Code keeps open for this session. No model is involved.

import type { EngineInterface } from 'claude-code'

import type { Found, Hit, Message, Passage, Session } from '../types'

/** The server's key in .mcp.json. */
const SERVER = 'backstory'
/** How many sessions the pane lists. */
const LIMIT = 12
/** How long a server may take that is asked once, in milliseconds. */
const TIMEOUT = 3000
/** How many messages the preview of a place shows. */
const AROUND = 6
/** How old the list of files may be while somebody types. */
const MAX_AGE_SECONDS = 10

/** The sessions that answer a question, best first. Never fails: what is wrong is in `note`. */
export async function search($: EngineInterface, question: string, limit = LIMIT): Promise<Found> {
  const none = { question, hits: [], total: 0, note: null }
  if (question.trim() === '') return none
  const answer = await call($, 'search', { query: question, limit, max_age_seconds: MAX_AGE_SECONDS })
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

/** The messages around the place that a hit cites. Never fails. */
export async function around($: EngineInterface, hit: Hit): Promise<Passage> {
  const of = placeOf(hit)
  const answer = await call($, 'read_session', { ...hit.read, limit: AROUND })
  if (typeof answer === 'string') return { of, messages: [], note: answer }
  return { of, messages: listOf(answer.quoted).map(messageOf).filter(message => message.text !== ''), note: null }
}

/** The sessions of the repository around a directory, at most `limit`; none where there is no answer. Never fails. */
export async function sessionsAround($: EngineInterface, directory: string, limit: number): Promise<Session[]> {
  const answer = await callOnce($, 'session_list', { project: directory, limit })
  return listOf(answer.sessions).flatMap(one => sessionOfList(recordOf(one)))
}

/** The session whose transcript holds the cited record: a fork cites the one it was copied from. */
export function sessionOf(hit: Hit): string {
  const stem = stemOf(hit)
  return stem === '' || stem.startsWith('agent-') ? (hit.session_id ?? '') : stem
}

/** The sub-agent whose transcript holds the cited record; `null` where it is the session's own. */
export function subagentOf(hit: Hit): string | null {
  return textOf(hit.read.subagent)
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
  return [sessionOf(hit), subagentOf(hit) ?? '', hit.line].join(':')
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

/**
 * The answer of a tool before there is a session, for which alone Claude Code connects: of a server that ends with its
 * input. Empty where it does not answer.
 */
async function callOnce(
  $: EngineInterface,
  tool: string,
  args: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  // Of this revision on a call needs nothing before it.
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'backstory-plugin', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args, _meta } }
  try {
    const ran = await $.process.run(['backstory', 'mcp'], { stdin: `${JSON.stringify(request)}\n`, timeoutMs: TIMEOUT })
    const lines = ran.stdout.split('\n').map(line => recordOf(parsed(line)))
    const result = recordOf(lines.find(line => line.id === request.id)?.result)
    return result.isError === true ? {} : recordOf(result.structuredContent)
  } catch {
    return {}
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
    read: recordOf(hit.read),
  }
}

function sessionOfList(session: Record<string, unknown>): Session[] {
  const id = textOf(session.session_id)
  if (id === null) return []
  const said = { title: textOf(session.title), branch: textOf(session.branch) }
  return [{ session_id: id, ...said, last_modified: textOf(session.last_modified) }]
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
