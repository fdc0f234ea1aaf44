// Keeps the reader's place. The anchor is a record, not a number of pixels: what is added above or opened elsewhere moves
// nothing that is being read.

export interface Anchor {
  key: string
  top: number
}

/** The first item that begins on the screen, and how far from its top. */
export function anchorOf(scroller: HTMLElement): Anchor | undefined {
  const top = scroller.getBoundingClientRect().top
  for (const item of scroller.querySelectorAll<HTMLElement>('[data-key]')) {
    const place = item.getBoundingClientRect()
    if (place.bottom > top) return { key: item.dataset.key!, top: place.top - top }
  }
  return undefined
}

/** Moves so that the anchor is where it was; false where it is not there any more. */
export function restore(scroller: HTMLElement, anchor: Anchor): boolean {
  const item = scroller.querySelector<HTMLElement>(`[data-key="${CSS.escape(anchor.key)}"]`)
  if (!item) return false
  const moved = item.getBoundingClientRect().top - scroller.getBoundingClientRect().top - anchor.top
  if (Math.abs(moved) > 0.5) scroller.scrollTop += moved
  return true
}

/** Whether the end is more than a screen away. */
export function isFarFromEnd({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean {
  return scrollHeight - scrollTop > 2 * clientHeight
}

/** Goes to a record; false where it is not there. */
export function showRecord(scroller: HTMLElement, uuid: string): boolean {
  const own = scroller.querySelectorAll<HTMLElement>(`[data-uuid^="${CSS.escape(uuid)}"]`)
  const item = own[0] ?? scroller.querySelector<HTMLElement>(`[data-result^="${CSS.escape(uuid)}"]`)
  if (!item) return false
  // What is cited is read: a thought, and what a tool printed, are open then.
  if (own.length < 2) item.querySelector<HTMLElement>('.thinking-head[aria-expanded=false], .tool-head[aria-expanded=false]')?.click()
  scroller.querySelector('.found')?.classList.remove('found')
  item.classList.add('found')
  const margin = Math.min(120, scroller.clientHeight / 4)
  scroller.scrollTop += item.getBoundingClientRect().top - scroller.getBoundingClientRect().top - margin
  return true
}

/** Whether the end is on the screen. */
export function isAtEnd(scroller: HTMLElement): boolean {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 60
}

/** The next item of a kind: from the one that has the focus and is seen, else from the top of the screen, or from the end. */
export function neighbour(scroller: HTMLElement, selector: string, by: number): HTMLElement | undefined {
  const all = [...scroller.querySelectorAll<HTMLElement>(selector)]
  const screen = scroller.getBoundingClientRect()
  const focused = document.activeElement?.closest<HTMLElement>('[data-key]')
  const place = focused && scroller.contains(focused) ? focused.getBoundingClientRect() : undefined
  if (place && place.bottom > screen.top && place.top < screen.bottom) {
    const side = by > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING
    const beyond = (item: HTMLElement) => Boolean(focused!.compareDocumentPosition(item) & side)
    return by > 0 ? all.find(beyond) : all.findLast(beyond)
  }
  if (by < 0 && isAtEnd(scroller)) return all.at(-1)
  const top = (item: HTMLElement) => item.getBoundingClientRect().top - screen.top - 24
  return by > 0 ? all.find(item => top(item) > 4) : all.findLast(item => top(item) < -4)
}
