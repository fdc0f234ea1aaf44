// The part of a session that is on the page: pages of messages from the server, joined at both ends and let go at the
// other. Pure. Places are the server's own, so that what is let go can be asked for again.

import type { Schemas } from '../api/client.ts'
import type { Message } from './items.ts'

export type Page = Schemas['BlocksAnswer']

/** How many messages are kept; more than a screen needs, few enough for the browser's own search and layout. */
export const KEPT = 600

export class Window {
  readonly pages: readonly Page[]
  constructor(pages: readonly Page[]) {
    this.pages = pages
  }

  get messages(): Message[] {
    return this.pages.flatMap(page => page.messages)
  }
  /** The place before which there are more. */
  get older(): string | null {
    return this.pages[0]?.older ?? null
  }
  /** The place after which there is more, or will be. */
  get newer(): string {
    return this.pages.at(-1)?.newer ?? ''
  }
  get isLast(): boolean {
    return this.pages.at(-1)?.is_last ?? true
  }

  /** With an older page before it; the end is let go where that is too much. */
  before(page: Page): Window {
    const pages = [page, ...this.pages]
    while (pages.length > 2 && size(pages) > KEPT) {
      pages.pop()
      pages[pages.length - 1] = { ...pages.at(-1)!, is_last: false }
    }
    return new Window(pages)
  }

  /** With what comes after it; the beginning is let go where that is too much. */
  after(page: Page): Window {
    const last = this.pages.at(-1)
    const known = new Set(last?.messages.map(message => message.offset))
    const fresh = page.messages.filter(message => !known.has(message.offset))
    // A small addition to the end becomes part of the last page: a live session grows line by line.
    const isSmall = last !== undefined && last.messages.length + fresh.length <= 100
    const joined: Page = isSmall
      ? { ...page, messages: [...last.messages, ...fresh], older: last.older ?? null }
      : { ...page, messages: fresh }
    const pages = [...(isSmall ? this.pages.slice(0, -1) : this.pages), joined]
    while (pages.length > 2 && size(pages) > KEPT) pages.shift()
    return new Window(pages)
  }

  holds(uuid: string): boolean {
    return this.pages.some(page => page.messages.some(message => message.uuid === uuid))
  }
}

function size(pages: readonly Page[]): number {
  return pages.reduce((sum, page) => sum + page.messages.length, 0)
}
