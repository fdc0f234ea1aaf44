// Short notes at the bottom of the page: what was done, and what failed.

import { signal } from '@preact/signals'

interface Note {
  id: number
  text: string
  isError: boolean
}

const notes = signal<Note[]>([])
let next = 0

export function toast(text: string, isError = false): void {
  const id = next++
  notes.value = [...notes.value, { id, text, isError }].slice(-3)
  setTimeout(() => (notes.value = notes.value.filter(note => note.id !== id)), isError ? 8000 : 3000)
}

/** Does something and says what failed. */
export async function attempt<T>(work: () => Promise<T>, done?: string): Promise<T | undefined> {
  try {
    const result = await work()
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
          {note.text}
        </p>
      ))}
    </div>
  )
}
