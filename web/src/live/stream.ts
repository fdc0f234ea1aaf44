// The one connection to the event stream of this browser. Tabs agree on a leader by a lock: it holds the connection and
// passes events on to the others, because a browser has only six connections to one server.

import { streamAddress } from '../api/key.ts'
import type { StreamEvent } from './fold.ts'

const NAMES = [
  'sessions-refresh',
  'session-created',
  'session-updated',
  'session-removed',
  'session-activity',
  'session-event',
  'subagent-spawned',
  'subagent-progress',
  'subagent-completed',
  'announcement',
  'session-annotated',
  'sessions-changed',
  'worker-asks',
  'resync',
  'watching',
]

export type Connection = 'connecting' | 'live' | 'polling' | 'offline'

interface Wire {
  kind: 'events' | 'connection' | 'hello'
  events?: StreamEvent[]
  connection?: Connection
}

/** Listens until the page goes; `onEvents` is called with all events of a frame at once. */
export function listen(onEvents: (events: StreamEvent[]) => void, onConnection: (connection: Connection) => void): void {
  const channel = 'BroadcastChannel' in window ? new BroadcastChannel('backstory-events') : undefined
  const queue = new FrameQueue(onEvents)
  if (!channel || !navigator.locks) {
    connect(event => queue.add(event), onConnection)
    return
  }
  let isLeader = false
  let newest: StreamEvent | undefined
  let connection: Connection = 'connecting'
  channel.onmessage = ({ data }: MessageEvent<Wire>) => {
    if (data.kind === 'hello' && isLeader) {
      // A tab that comes later has missed the beginning: the leader connects again, and every tab gets the first events again.
      if (newest) restart?.()
      channel.postMessage({ kind: 'connection', connection } satisfies Wire)
    } else if (data.kind === 'events') data.events?.forEach(event => queue.add(event))
    else if (data.kind === 'connection' && data.connection) onConnection(data.connection)
  }
  let restart: (() => void) | undefined
  channel.postMessage({ kind: 'hello' } satisfies Wire)
  void navigator.locks.request('backstory-events', () => {
    isLeader = true
    restart = connect(
      event => {
        newest = event
        queue.add(event)
        channel.postMessage({ kind: 'events', events: [event] } satisfies Wire)
      },
      now => {
        connection = now
        onConnection(now)
        channel.postMessage({ kind: 'connection', connection: now } satisfies Wire)
      },
    )
    // The lock is held as long as this tab lives.
    return new Promise(() => {})
  })
}

/** Connects, and again after a failure that the browser does not mend by itself; returns what starts it over. */
function connect(onEvent: (event: StreamEvent) => void, onConnection: (connection: Connection) => void): () => void {
  let source: EventSource
  let later: number | undefined
  const open = () => {
    clearTimeout(later)
    source?.close()
    source = new EventSource(streamAddress('/api/v1/events'))
    source.onopen = () => onConnection('live')
    source.onerror = () => {
      onConnection('offline')
      if (source.readyState === EventSource.CLOSED) later = window.setTimeout(open, 5000)
    }
    for (const name of NAMES) {
      source.addEventListener(name, event => {
        onConnection('live')
        onEvent({ name, data: JSON.parse((event as MessageEvent<string>).data) })
      })
    }
  }
  open()
  addEventListener('online', open)
  return open
}

/** Collects events until the next frame; a hidden page has no frames, so a timer stands in. */
export class FrameQueue {
  private waiting: StreamEvent[] = []
  private readonly onEvents: (events: StreamEvent[]) => void
  constructor(onEvents: (events: StreamEvent[]) => void) {
    this.onEvents = onEvents
  }
  add(event: StreamEvent): void {
    this.waiting.push(event)
    if (this.waiting.length > 1) return
    const flush = () => this.flush()
    if (document.hidden) setTimeout(flush, 250)
    else requestAnimationFrame(flush)
  }
  private flush(): void {
    const events = this.waiting
    this.waiting = []
    this.onEvents(events)
  }
}
