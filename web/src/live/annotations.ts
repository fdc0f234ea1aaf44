// What the person annotates sessions with: a name, tags, a note, a pin, and whether they are hidden. The server keeps it, the
// command line has the same, and every open page is told of a change by an event.

import { signal } from '@preact/signals'
import { patch } from '../api/client.ts'
import { toast } from '../ui/toast.tsx'
import { annotationsOf, changed, type Annotations, type Change } from './overlay.ts'
import { annotated, setAnnotations, refreshRows, rows } from './store.ts'

/** The session whose name, tags and note are edited, and the field that is edited first. */
export const edited = signal<{ id: string; field: 'name' | 'tags' | 'note' } | undefined>(undefined)

/** A session's annotations as they are now. */
export function annotationsNow(id: string): Annotations {
  return annotated.peek().get(id) ?? annotationsOf(rows.peek()?.find(row => row.id === id))
}

/** Changes a session's annotations; the page shows it at once, and takes it back where the server refuses. */
export async function annotate(id: string, change: Change): Promise<boolean> {
  const before = annotationsNow(id)
  setAnnotations(id, changed(before, change))
  try {
    const answer = await patch('/api/v1/sessions/{session}/annotations', { path: { session: id }, body: change })
    setAnnotations(id, answer.annotations)
  } catch (error) {
    setAnnotations(id, before)
    toast(error instanceof Error ? error.message : String(error), true)
    return false
  }
  // Its title may be another one, and a hidden session comes back into the list.
  if (change.name !== undefined || change.hidden !== undefined) void refreshRows()
  return true
}

export function togglePin(id: string): void {
  void annotate(id, { pinned: !annotationsNow(id).pinned })
}

/** Hides a session, or shows it again; either can be undone for a while. */
export async function setHidden(id: string, hidden: boolean): Promise<void> {
  if (!(await annotate(id, { hidden }))) return
  toast(hidden ? 'Hidden from lists and searches' : 'It is listed again', false, { label: 'Undo', run: () => void annotate(id, { hidden: !hidden }) })
}
