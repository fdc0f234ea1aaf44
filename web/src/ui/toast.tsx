// Short notes at the bottom of the page: what was done, and what failed.

import { signal } from '@preact/signals'

interface Note {
  id: number
  text: string
  isError: boolean
  act: Act | undefined
}

/** What can be done about a note while it is shown. */
interface Act {
  label: string
  run: () => void
}

const notes = signal<Note[]>([])
let next = 0

const drop = (id: number) => (notes.value = notes.value.filter(note => note.id !== id))

export function toast(text: string, isError = false, act?: Act): void {
  const id = next++
  notes.value = [...notes.value, { id, text, isError, act }].slice(-3)
  setTimeout(() => drop(id), isError || act ? 8000 : 3000)
}

/** Does something and says what failed. */
export async function attempt<T>(work: () => Promise<T>, done?: string): Promise<T | undefined> {
  try {
    const result = await work()
    // What failed before is mended.
    notes.value = notes.value.filter(note => !note.isError)
    if (done) toast(done)
    return result
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), true)
    return undefined
  }
}

export async function copy(text: string, what: string): Promise<void> {
  await attempt(() => navigator.clipboard.writeText(text), `Copied ${what}`)
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {notes.value.map(note => (
        <p key={note.id} class={note.isError ? 'toast bad' : 'toast'}>
          <span>{note.text}</span>
          {note.act && (
            <button type="button" onClick={() => (drop(note.id), note.act!.run())}>
              {note.act.label}
            </button>
          )}
          {note.isError && (
            <button type="button" class="toast-close" aria-label="Dismiss" onClick={() => drop(note.id)}>
              ✕
            </button>
          )}
        </p>
      ))}
    </div>
  )
}
