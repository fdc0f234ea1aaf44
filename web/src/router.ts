// Addresses: which page is shown, with its filters in the query, so that every view can be linked.

import { computed, signal } from '@preact/signals'

export interface Place {
  path: string
  query: URLSearchParams
  hash: string
}

/** Where the browser is. */
export const place = signal<Place>(read(location))

function read(from: { pathname: string; search: string; hash: string }): Place {
  return { path: from.pathname, query: new URLSearchParams(from.search), hash: from.hash.slice(1) }
}

/** Where one was in the list of sessions: its filters, and the session that was opened last. */
export const list = { query: '', row: '' }

/** The parts of the path: `/s/abc` is `['s', 'abc']`. */
export const parts = computed(() => place.value.path.split('/').filter(Boolean).map(decodeURIComponent))

/** Goes somewhere; `replace` leaves no entry to come back to. */
export function go(to: string, options: { replace?: boolean } = {}): void {
  const url = new URL(to, location.href)
  if (url.href === location.href) return
  const isSamePage = url.pathname === location.pathname
  if (options.replace) history.replaceState(null, '', url)
  else history.pushState(null, '', url)
  place.value = read(url)
  if (!isSamePage) {
    document.querySelector('main')?.scrollTo(0, 0)
    document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true })
  }
}

/** Changes parameters of the query in place; an empty one is left out. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const query = new URLSearchParams(place.peek().query)
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value)
    else query.delete(name)
  }
  const text = query.toString()
  go(place.peek().path + (text ? `?${text}` : '') + (place.peek().hash ? `#${place.peek().hash}` : ''), { replace: true })
}

/** Has links of our own lead to pages without loading anything. */
export function startRouter(): void {
  addEventListener('popstate', () => (place.value = read(location)))
  document.addEventListener('click', event => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element).closest('a')
    if (!link || link.target || link.origin !== location.origin || link.hasAttribute('download')) return
    if (link.pathname.startsWith('/api/')) return
    event.preventDefault()
    go(link.href)
  })
}

/** The address of a session, at a record of it, in which words are marked. */
export function sessionAddress(id: string, uuid?: string | null, words: readonly string[] = []): string {
  const query = uuid && words.length ? `?${new URLSearchParams(words.map(word => ['mark', word]))}` : ''
  return `/s/${id}${query}${uuid ? `#${uuid}` : ''}`
}
