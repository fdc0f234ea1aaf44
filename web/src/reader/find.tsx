// Finds words in the whole session, not only in what is loaded: the server looks, Enter goes on.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { get, isCancelled, type Schemas } from '../api/client.ts'
import { Button } from '../ui/parts.tsx'

type Found = Schemas['FoundMessage']

interface Props {
  session: string
  /** Is called with the words that are looked for. */
  onQuery: (text: string) => void
  goTo: (found: Found) => void
  close: () => void
}

export function FindBar({ session, onQuery, goTo, close }: Props) {
  const text = useSignal('')
  const found = useSignal<Found[] | undefined>(undefined)
  const hasMore = useSignal(false)
  const at = useSignal(-1)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    field.current?.focus()
    return () => onQuery('')
  }, [])
  useEffect(() => {
    const controller = new AbortController()
    const wanted = text.value.trim()
    onQuery(wanted)
    const timer = setTimeout(async () => {
      if (!wanted) return void (found.value = undefined)
      try {
        const answer = await get('/api/v1/sessions/{session}/find', { path: { session }, query: { text: wanted }, signal: controller.signal })
        found.value = answer.matches
        hasMore.value = answer.has_more
        at.value = -1
        // The end is where one reads: the last match comes first.
        if (answer.matches.length) step(-1)
      } catch (error) {
        if (!isCancelled(error)) found.value = []
      }
    }, 150)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [text.value])
  const step = (by: number) => {
    const all = found.peek()
    if (!all?.length) return
    const next = at.peek() < 0 ? (by < 0 ? all.length - 1 : 0) : (at.peek() + by + all.length) % all.length
    at.value = next
    goTo(all[next]!)
  }
  const count = found.value?.length
  return (
    <form
      class="find"
      role="search"
      aria-label="Find in this session"
      onSubmit={event => {
        event.preventDefault()
        step(1)
      }}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation()
          close()
        } else if (event.key === 'Enter' && event.shiftKey) {
          event.preventDefault()
          step(-1)
        }
      }}
    >
      <input ref={field} class="field grow" type="search" aria-label="Find in the whole session" placeholder="Find in the whole session" value={text.value} onInput={event => (text.value = event.currentTarget.value)} />
      <span class="dim find-count" role="status">
        {count === undefined ? '' : count === 0 ? 'No matches' : `${at.value + 1} of ${count}${hasMore.value ? '+' : ''}`}
      </span>
      <Button kind="quiet" onClick={() => step(-1)} label="Previous match" keys="Shift Enter">
        ↑
      </Button>
      <Button kind="quiet" onClick={() => step(1)} label="Next match" keys="Enter">
        ↓
      </Button>
      <Button kind="quiet" icon="close" label="Close" keys="Esc" onClick={close} />
    </form>
  )
}
