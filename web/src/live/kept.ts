// What this browser remembers: what was read, and how the pages look. What people sort sessions by (pins, tags) is kept by
// the server, so that it is the same in every browser.

import { signal, type Signal } from '@preact/signals'
import { get, put } from '../api/client.ts'

/** A signal that is kept in the browser. */
export function kept<T>(name: string, fallback: T): Signal<T> {
  const key = `backstory.${name}`
  const held = signal<T>(load(key) ?? fallback)
  held.subscribe(value => {
    try {
      localStorage.setItem(key, JSON.stringify(value))
    } catch {
      // A full or forbidden store costs the memory alone.
    }
  })
  addEventListener('storage', event => {
    if (event.key === key && event.newValue) held.value = JSON.parse(event.newValue) as T
  })
  return held
}

function load<T>(key: string): T | undefined {
  try {
    const text = localStorage.getItem(key)
    return text === null ? undefined : (JSON.parse(text) as T)
  } catch {
    return undefined
  }
}

/** The time up to which each session was read, and the last record. */
export const readUntil = kept<Record<string, { at: number; uuid?: string }>>('read', {})
/** When this browser first came: what is older is not unread. */
export const firstVisit = kept('since', Date.now())

/** Whether something happened in a session since it was read. */
export function isUnread(id: string, last: number | null | undefined): boolean {
  if (!last) return false
  return last > (readUntil.value[id]?.at ?? firstVisit.value)
}

export function markRead(id: string, at: number, uuid?: string): void {
  const before = readUntil.peek()[id]
  if (before && before.at >= at && before.uuid === uuid) return
  readUntil.value = { ...readUntil.peek(), [id]: { at: Math.max(at, before?.at ?? 0), ...(uuid ? { uuid } : {}) } }
}

export interface Marks {
  pinned: string[]
  tags: Record<string, string[]>
}

/** Pins and tags. */
export const marks = signal<Marks>({ pinned: [], tags: {} })
const MARKS = 'dashboard.marks'

export async function loadMarks(): Promise<void> {
  const found = await get('/api/settings').catch(() => ({}) as Record<string, string>)
  const text = (found as Record<string, string>)[MARKS]
  if (text) marks.value = { ...marks.peek(), ...(JSON.parse(text) as Marks) }
}

function save(next: Marks): void {
  marks.value = next
  void put('/api/settings/{key}', { path: { key: MARKS }, body: { value: JSON.stringify(next) } as never }).catch(() => loadMarks())
}

export function togglePin(id: string): void {
  const { pinned, tags } = marks.peek()
  save({ tags, pinned: pinned.includes(id) ? pinned.filter(one => one !== id) : [...pinned, id] })
}

export function setTags(id: string, names: string[]): void {
  const { pinned, tags } = marks.peek()
  const next = { ...tags }
  if (names.length) next[id] = [...new Set(names)]
  else delete next[id]
  save({ pinned, tags: next })
}
