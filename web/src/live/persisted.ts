// What this browser remembers: what was read, and how the pages look. What people annotate sessions with is the server's.

import { signal, type Signal } from '@preact/signals'

/** A signal that is kept in the browser. */
export function persisted<T>(name: string, fallback: T): Signal<T> {
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
export const readUntil = persisted<Record<string, { at: number; uuid?: string }>>('read', {})
/** When this browser first came: what is older is not unread. */
export const firstVisit = persisted('since', Date.now())

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
