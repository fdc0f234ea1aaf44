// All sessions that need the person: the first whole, the others on a line each, and those that ask the same as one.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { get } from '../api/client.ts'
import { notYet, useResource } from '../api/resource.ts'
import { bind } from '../keys.ts'
import type { LiveSession } from '../live/fold.ts'
import { requestsOf } from '../live/store.ts'
import { groupsOf, type Open } from './grouped.ts'
import { NeedCard } from './need.tsx'

/** A request that is the same as another. */
export interface Alike {
  worker: number
  request: string
}

/** What each of these sessions asks; of workers whole, as far as it is known. */
export function useAsking(sessions: readonly LiveSession[]): (session: LiveSession) => Open | 'unknown' | undefined {
  const asking = sessions.map(session => requestsOf(session.id)).filter(open => open !== undefined)
  const mark = asking.map(open => `${open.worker} ${open.requests.map(one => one.request).join()}`).join('\n')
  // What one worker asks, its card asks for itself.
  const { state } = useResource(signal => (asking.length > 1 ? get('/api/v1/workers', { signal }) : notYet), [mark])
  const workers = new Map((state.value.data?.workers ?? []).map(info => [info.worker, info]))
  return session => {
    const open = requestsOf(session.id)
    if (!open) return undefined
    const info = workers.get(open.worker)
    return info?.status === 'waiting_permission' ? { worker: open.worker, requests: info.requests } : 'unknown'
  }
}

export function Needs({ sessions }: { sessions: readonly LiveSession[] }) {
  const openOf = useAsking(sessions)
  const groups = groupsOf(sessions, openOf)
  const turned = useSignal<ReadonlySet<string>>(new Set())
  const toggle = (key: string) => {
    const next = new Set(turned.value)
    if (!next.delete(key)) next.add(key)
    turned.value = next
  }
  useAnswerKeys()
  return (
    <div class="need-list">
      {groups.map(({ key, sessions: [first, ...others] }, at) => {
        const alike = others.flatMap((other): Alike[] => {
          const open = openOf(other)
          return open && open !== 'unknown' ? [{ worker: open.worker, request: open.requests[0]!.request }] : []
        })
        const isOpen = turned.value.has(key) !== (at === 0)
        return <NeedCard key={key} session={first!} others={others} isOpen={isOpen} alike={alike} toggle={groups.length > 1 ? () => toggle(key) : undefined} />
      })}
    </div>
  )
}

/** `a` allows what is shown first, if all of it was seen; `d` asks why it is denied. */
function useAnswerKeys(): void {
  useEffect(() => {
    const press = (which: string) => () => document.querySelector<HTMLButtonElement>(`.need:not(.closed) .ask-buttons > .button${which}:not(:disabled)`)?.click()
    return bind('Home', [
      { keys: 'a', what: 'Allow the request that is open, once all of it was seen', run: press('.main') },
      { keys: 'd', what: 'Deny it, with a reason', opensField: true, run: press(':last-child') },
    ])
  }, [])
}
