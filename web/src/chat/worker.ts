// The worker of a session, if Backstory has one: what it asks, and the text that it is writing now.

import { signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { get, type Schemas } from '../api/client.ts'
import { streamAddress } from '../api/key.ts'

export type Worker = Schemas['WorkerInfo']

const OVER = new Set(['finished', 'failed', 'stopped', 'lost'])

export function isOver(worker: Worker | undefined): boolean {
  return !worker || OVER.has(worker.status)
}

/** How often, and after how many milliseconds each time, it is looked whether the transcript holds a text. */
const LOOKS = 20
const PAUSE = 250

/** Follows the newest worker of a session; `mark` changes when an event of the session comes. `isWritten` looks whether
 *  a text is in the transcript; without one it fetches what there is. */
export function useWorker(session: string, mark: number, isWritten: (text?: string) => Promise<boolean>) {
  const held = useMemo(() => ({ worker: signal<Worker | undefined>(undefined), isAsked: signal(false), draft: signal(''), error: signal<string | undefined>(undefined) }), [session])
  useEffect(() => {
    const controller = new AbortController()
    get('/api/v1/workers', { signal: controller.signal })
      .then(({ workers }) => (held.worker.value = workers.find(worker => worker.session_id === session)))
      .catch(() => {})
      .finally(() => controller.signal.aborted || (held.isAsked.value = true))
    return () => controller.abort()
  }, [session, mark])
  const number = isOver(held.worker.value) ? undefined : held.worker.value?.worker
  useEffect(() => {
    if (number === undefined) return
    const source = new EventSource(streamAddress(`/api/v1/workers/${number}/events`))
    const on = (name: string, take: (data: { text?: string; message?: string; agent?: string | null }) => void) =>
      source.addEventListener(name, event => take(JSON.parse((event as MessageEvent<string>).data)))
    let waiting = ''
    on('delta', data => {
      if (!waiting) requestAnimationFrame(() => ((held.draft.value += waiting), (waiting = '')))
      waiting += data.text ?? ''
    })
    // A whole text comes to the transcript; what was shown of it then gives way to it, and to nothing else meanwhile.
    let isLeft = false
    let settled = 0
    let last = Promise.resolve()
    const settle = (text?: string) => {
      held.draft.value += waiting
      waiting = ''
      const length = held.draft.value.length - settled
      settled += length
      last = last.then(async () => {
        for (let look = 0; look < LOOKS && !isLeft && !(await isWritten(text)); look++) await new Promise(done => setTimeout(done, PAUSE))
        if (isLeft) return
        held.draft.value = held.draft.value.slice(length)
        settled -= length
      })
    }
    on('text', data => data.agent || settle(data.text))
    on('result', () => settle())
    on('retry', data => (held.error.value = (data as { error?: string }).error))
    source.onerror = () => source.close()
    return () => {
      isLeft = true
      source.close()
      held.draft.value = ''
    }
  }, [number])
  return held
}
