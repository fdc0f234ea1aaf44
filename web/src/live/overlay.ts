// Rows of sessions with the changes of their annotations since the rows came. Pure.

import type { Schemas } from '../api/client.ts'
import type { Row } from './store.ts'

export type Annotations = Schemas['Annotations']
export type Change = Schemas['NewAnnotations']

/** The rows of a list; a session that was hidden, or shown again, since is in it no more. */
export function overlay(rows: readonly Row[], changes: ReadonlyMap<string, Annotations>): Row[] {
  return rows.flatMap(row => {
    const now = changes.get(row.id)
    if (!now) return [row]
    if (now.hidden !== Boolean(row.hidden)) return []
    return [{ ...row, pinned: now.pinned, tags: now.tags, note: now.note ?? undefined } as Row]
  })
}

/** The changes after the list has come again: the list knows whether a session is hidden, unless that changed since it was asked for. */
export function reconciled(changes: ReadonlyMap<string, Annotations>, before: ReadonlyMap<string, Annotations>, listed: ReadonlySet<string>): Map<string, Annotations> {
  return new Map([...changes].map(([id, one]) => [id, before.get(id) === one ? { ...one, hidden: !listed.has(id) } : one]))
}

/** What a row says of its annotations. */
export function annotationsOf(row: Row | undefined): Annotations {
  return { tags: row?.tags ?? [], pinned: row?.pinned === true, hidden: row?.hidden === true, ...(row?.note ? { note: row.note } : {}) }
}

/** Annotations as they are after a change, as far as that needs no server. */
export function changed(before: Annotations, { add_tags: added, remove_tags: removed, ...rest }: Change): Annotations {
  const is = (tag: string, all: readonly string[] | undefined) => all?.some(one => one.toLowerCase() === tag.toLowerCase()) ?? false
  const left = before.tags.filter(tag => !is(tag, removed))
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined && value !== null))
  return { ...before, ...given, tags: [...left, ...(added ?? []).filter(tag => !is(tag, left))] }
}

/** The tags in what a person typed. */
export function typedTags(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).map(tag => tag.replace(/^#+/, '')).filter(Boolean))]
}
