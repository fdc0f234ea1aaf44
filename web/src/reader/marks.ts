// Highlights words in a conversation without changing its elements: those of the search that led here, and those that are looked for.

/** The most places that are marked. */
const MOST = 2000

/** Marks these words below an element, in place of what was marked before; a browser that cannot do that marks nothing. */
export function mark(below: Element | null | undefined, words: readonly string[]): void {
  if (typeof Highlight === 'undefined') return
  const ranges = new Highlight()
  const wanted = words.map(word => word.trim().toLowerCase()).filter(Boolean)
  const texts = below && wanted.length ? document.createTreeWalker(below, NodeFilter.SHOW_TEXT) : undefined
  while (texts?.nextNode() && ranges.size < MOST) {
    const node = texts.currentNode as Text
    const text = node.data.toLowerCase()
    // A letter that is longer in lower case would move what comes after it.
    if (text.length !== node.data.length) continue
    for (const word of wanted) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = document.createRange()
        range.setStart(node, at)
        range.setEnd(node, at + word.length)
        ranges.add(range)
      }
    }
  }
  CSS.highlights.set('match', ranges)
}
