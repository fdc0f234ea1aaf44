// Asks the server: typed by its own description, cancelled with the page that asked, and failures in its words.

import { signal } from '@preact/signals'
import { keyHeaders, takeEarly } from './key.ts'
import type { components, paths } from './schema'

export type Schemas = components['schemas']

/** Whether the server knows this browser no longer: its link was revoked, or is too old. */
export const isSignedOut = signal(false)

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
type With<M extends Method> = { [P in keyof paths]: paths[P] extends Record<M, object> ? P : never }[keyof paths]
type Json<R> = R extends { content: { 'application/json': infer T } } ? T : undefined
type Operation<P extends keyof paths, M extends Method> = paths[P] extends Record<M, infer O> ? O : never
type Answer<O> = O extends { responses: infer R } ? Json<R[keyof R & (200 | 201)]> : never
type Query<O> = O extends { parameters: { query?: infer Q } } ? Q : never
type Body<O> = O extends { requestBody: { content: { 'application/json': infer B } } } ? B : undefined

interface Options<O> {
  /** What stands in the path. */
  path?: Record<string, string | number>
  query?: Query<O>
  body?: Body<O>
  signal?: AbortSignal | undefined
}

/** A request that failed, as the server or the network says it. */
export class Failure extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export const get = <P extends With<'get'>>(path: P, options: Options<Operation<P, 'get'>> = {}) =>
  ask<P, 'get'>('get', path, options)
export const post = <P extends With<'post'>>(path: P, options: Options<Operation<P, 'post'>> = {}) =>
  ask<P, 'post'>('post', path, options)
export const put = <P extends With<'put'>>(path: P, options: Options<Operation<P, 'put'>> = {}) =>
  ask<P, 'put'>('put', path, options)
export const patch = <P extends With<'patch'>>(path: P, options: Options<Operation<P, 'patch'>> = {}) =>
  ask<P, 'patch'>('patch', path, options)
export const remove = <P extends With<'delete'>>(path: P, options: Options<Operation<P, 'delete'>> = {}) =>
  ask<P, 'delete'>('delete', path, options)

async function ask<P extends keyof paths, M extends Method>(
  method: M,
  path: P,
  options: Options<Operation<P, M>>,
): Promise<Answer<Operation<P, M>>> {
  const init: RequestInit = { method: method.toUpperCase(), headers: keyHeaders(), signal: options.signal ?? null }
  if (method !== 'get') {
    init.headers = { ...init.headers, 'Content-Type': 'application/json' }
    init.body = JSON.stringify(options.body ?? {})
  }
  const response = await reached(address(path, options), init)
  if (!response.ok) throw await failure(response)
  return (response.status === 204 ? undefined : await response.json()) as Answer<Operation<P, M>>
}

async function reached(url: string, init: RequestInit): Promise<Response> {
  try {
    return await (takeEarly(url) ?? fetch(url, init))
  } catch (error) {
    if (isCancelled(error)) throw error
    throw new Failure(0, 'unreachable', 'The server does not answer. Is `backstory serve` still running?')
  }
}

/** Asks whether this browser may still come in; what it shows follows from `isSignedOut`. */
export function checkAccess(): void {
  get('/api/v1/scope').catch(() => {})
}

async function failure(response: Response): Promise<Failure> {
  if (response.status === 401) isSignedOut.value = true
  const problem = await response.json().catch(() => ({}))
  const detail: string = problem.detail ?? response.statusText
  return new Failure(response.status, problem.code ?? 'unknown', sentence(detail))
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The address of a route with its parameters in place. */
export function address(path: string, options: { path?: Record<string, string | number>; query?: unknown }): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(options.path?.[name] ?? '')))
  const pairs = Object.entries((options.query ?? {}) as Record<string, unknown>)
    .filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false)
    .map(([name, value]): [string, string] => [name, String(value)])
  return pairs.length ? `${filled}?${new URLSearchParams(pairs)}` : filled
}

/** Whether a request ended because nobody waits for it any more. */
export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}
