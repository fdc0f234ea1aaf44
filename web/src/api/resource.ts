// What a page has asked for: loading, there, or failed; asked again when what it depends on changes.

import { signal, type ReadonlySignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { Failure, isCancelled } from './client.ts'

export interface Loaded<T> {
  /** The latest answer; it stays while a new one is waited for. */
  data: T | undefined
  error: Failure | undefined
  loading: boolean
}

export interface Resource<T> {
  state: ReadonlySignal<Loaded<T>>
  reload: () => void
}

/** Stands for an answer that is not asked for yet. */
export const notYet = new Promise<never>(() => {})

/** Asks when the component appears and whenever `deps` change; an older request is cancelled. */
export function useResource<T>(ask: (signal: AbortSignal) => Promise<T>, deps: readonly unknown[]): Resource<T> {
  const held = useMemo(() => {
    const state = signal<Loaded<T>>({ data: undefined, error: undefined, loading: true })
    return { state, controller: undefined as AbortController | undefined, ask }
  }, [])
  held.ask = ask
  const reload = () => {
    held.controller?.abort()
    const controller = new AbortController()
    held.controller = controller
    held.state.value = { ...held.state.peek(), loading: true }
    held
      .ask(controller.signal)
      .then(data => (held.state.value = { data, error: undefined, loading: false }))
      .catch(error => {
        if (isCancelled(error) || controller.signal.aborted) return
        const failure = error instanceof Failure ? error : new Failure(0, 'internal', String(error))
        held.state.value = { data: held.state.peek().data, error: failure, loading: false }
      })
  }
  useEffect(() => {
    reload()
    return () => held.controller?.abort()
  }, deps)
  return { state: held.state, reload }
}
