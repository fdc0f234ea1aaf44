// The worker of a session, if Backstory has one: what it asks, and the text that it is writing now.

import { signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { get, type Schemas } from '../api/client.ts'

export type Worker = Schemas['WorkerInfo']

const OVER = new Set(['finished', 'failed', 'stopped', 'lost'])

export function isOver(worker: Worker | undefined): boolean {
  return !worker || OVER.has(worker.status)
}

/** Follows the newest worker of a session; `mark` changes when something was heard of the session. */
export function useWorker(session: string, mark: number, onText: () => void) {
  const held = useMemo(() => ({ worker: signal<Worker | undefined>(undefined), draft: signal(''), error: signal<string | undefined>(undefined) }), [session])
  useEffect(() => {
    const controller = new AbortController()
    get('/api/v1/workers', { signal: controller.signal })
      .then(({ workers }) => (held.worker.value = workers.find(worker => worker.session_id === session)))
      .catch(() => {})
    return () => controller.abort()
  }, [session, mark])
  const number = isOver(held.worker.value) ? undefined : held.worker.value?.worker
  useEffect(() => {
    if (number === undefined) return
    const source = new EventSource(`/api/v1/workers/${number}/events`)
    const on = (name: string, take: (data: { text?: string; message?: string; agent?: string | null }) => void) =>
      source.addEventListener(name, event => take(JSON.parse((event as MessageEvent<string>).data)))
    let waiting = ''
    on('delta', data => {
      if (!waiting) requestAnimationFrame(() => ((held.draft.value += waiting), (waiting = '')))
      waiting += data.text ?? ''
    })
    // A whole text is in the transcript; what was shown of it gives way to it.
    on('text', data => !data.agent && onText())
    on('result', onText)
    on('retry', data => (held.error.value = (data as { error?: string }).error))
    source.onerror = () => source.close()
    return () => {
      source.close()
      held.draft.value = ''
    }
  }, [number])
  return held
}
