// The day that the address names: loaded from the transcripts, and played.

import { useEffect } from 'preact/hooks'
import { Failure, get } from '../api/client.ts'
import { allRows } from '../api/rows.ts'
import { rows } from '../live/store.ts'
import { place } from '../router.ts'
import { fetchModule } from '../ui/module.ts'
import type { Playing } from './playing.ts'
import type { Actor } from './types.ts'

/** Why no day is played. */
export interface Missing {
  message: string
  /** Whether there is none, so that it is of no use to ask again. */
  isEmpty?: boolean
}

/** What sessions did at a moment of the day. */
export interface Moment {
  actors: Actor[]
  at: number
}

interface Held<T> {
  value: T | undefined
  peek: () => T | undefined
}

/** Loads the day that the address names, and plays it; `tries` counts how often that was asked for. */
export function useReplay(playing: Held<Playing>, shown: Held<Moment>, failure: Held<Missing>, tries: number): void {
  const { query } = place.value
  const wanted = query.get('replay')
  const session = query.get('session') ?? undefined
  useEffect(() => {
    failure.value = undefined
    if (!wanted) return
    const controller = new AbortController()
    void Promise.all([load(wanted, session, controller.signal), fetchModule(() => import('./bar.tsx'))])
      .then(([day, { Playing }]) => {
        if (controller.signal.aborted) return
        if (!day.changes.length) return void (failure.value = { message: 'No session did anything in that period.', isEmpty: true })
        playing.value = new Playing(day, (actors, at) => (shown.value = { actors, at }), rows.peek())
      })
      .catch(error => {
        if (!controller.signal.aborted) failure.value = missing(error, wanted)
      })
    return () => {
      controller.abort()
      playing.peek()?.close()
      playing.value = undefined
      shown.value = undefined
    }
  }, [wanted, session, tries])
}

function missing(error: unknown, wanted: string): Missing {
  if (!(error instanceof Failure)) return { message: 'The replay could not be loaded: the server does not answer, or it was upgraded since the page was opened.' }
  return error.status === 400 ? { message: `“${wanted}” is not a day. Choose one above.`, isEmpty: true } : error
}

async function load(wanted: string, session: string | undefined, signal: AbortSignal) {
  let since = wanted
  if (wanted === 'latest') {
    const rows = await allRows({}, signal)
    const last = rows.reduce((latest, row) => Math.max(latest, row.last ?? 0), 0)
    since = new Date(new Date(last || Date.now()).setHours(0, 0, 0, 0)).toISOString()
  } else if (/^\d{4}-\d\d-\d\d$/.test(wanted)) since = new Date(`${wanted}T00:00:00`).toISOString()
  const long = session ? { until: new Date(Date.parse(since) + 7 * 86_400_000).toISOString(), session } : {}
  return get('/api/v1/replay', { query: { since, ...long } as never, signal })
}
