// Loads the part of a session that is looked at, and what is written later. Holds no DOM: the page tells it where to go.

import { signal } from '@preact/signals'
import { Failure, get, isCancelled } from '../api/client.ts'
import { Window, type Page } from './window.ts'

/** How many messages are asked for at a time. */
const PAGE = 100

export class Loader {
  readonly window = signal<Window | undefined>(undefined)
  readonly error = signal<Failure | undefined>(undefined)
  /** Which end is being loaded. */
  readonly busy = signal<'older' | 'newer' | 'all' | undefined>(undefined)
  /** Whether the record that was wanted is not in the session, whose end is shown in its place. */
  readonly isMissing = signal(false)
  private readonly session: string
  private asking = new AbortController()
  private wanted: string | undefined
  /** Whether something was written while an answer was on its way, which may lack it. */
  private isBehind = false

  constructor(session: string) {
    this.session = session
  }

  /** Goes to a record, or to the end. */
  async open(uuid?: string): Promise<void> {
    this.wanted = uuid
    const isAnswered = await this.ask('all', uuid ? { around: uuid } : {}, page => new Window([page]))
    this.isMissing.value = false
    if (!isAnswered || !uuid || this.error.peek()?.status !== 404) return
    await this.ask('all', {}, page => new Window([page]))
    this.isMissing.value = !this.error.peek()
  }

  /** Goes to the record that begins at this byte. */
  async openAt(offset: number): Promise<void> {
    await this.ask('all', { around_offset: offset }, page => new Window([page]))
  }

  async older(): Promise<void> {
    const before = this.window.peek()?.older
    if (before) await this.ask('older', { before }, (page, now) => now.before(page))
  }

  async newer(): Promise<void> {
    const after = this.window.peek()?.newer
    if (after) await this.ask('newer', { after }, (page, now) => (page.messages.length || !page.is_last ? now.after(page) : now))
  }

  /** Asks for what was just written, where the end is shown or nothing is yet. */
  async update(): Promise<void> {
    this.isBehind = this.busy.peek() !== undefined
    if (this.isBehind) return
    const now = this.window.peek()
    if (!now) await this.open(this.wanted)
    else if (now.isLast) await this.newer()
  }

  close(): void {
    this.isBehind = false
    this.asking.abort()
  }

  /** Whether it was answered, or failed, before one went elsewhere. */
  private async ask(what: 'older' | 'newer' | 'all', place: object, join: (page: Page, now: Window) => Window): Promise<boolean> {
    if (this.busy.peek() && what !== 'all') return false
    // What goes elsewhere leaves what was asked for here: it would be joined to a part of the session it is not next to.
    this.asking.abort()
    const asking = (this.asking = new AbortController())
    this.busy.value = what
    try {
      const query = { limit: PAGE, ...place }
      const page = await get('/api/v1/sessions/{session}/blocks', { path: { session: this.session }, query, signal: asking.signal })
      this.window.value = join(page, this.window.peek() ?? new Window([]))
      this.error.value = undefined
    } catch (error) {
      if (!isCancelled(error)) this.error.value = error instanceof Failure ? error : new Failure(0, 'internal', String(error))
    } finally {
      if (asking === this.asking) this.busy.value = undefined
    }
    if (this.isBehind) void this.update()
    return !asking.signal.aborted
  }
}
