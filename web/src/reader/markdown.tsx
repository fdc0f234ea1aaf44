// Markdown of a transcript as HTML: cleaned, so that nothing in it can act, with code coloured when it is seen.

import DOMPurify from 'dompurify'
import { Marked } from 'marked'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { colour } from './colours.ts'
import '../style/prose.css'

const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  // HTML in a transcript is something that was talked about; it is shown as it was written.
  renderer: { html: ({ text }) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;') },
})

const ALLOWED = {
  FORBID_TAGS: ['style', 'form', 'input', 'button', 'iframe', 'object', 'svg', 'math', 'video', 'audio', 'picture', 'source'],
  FORBID_ATTR: ['style', 'id', 'name', 'srcset'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#|\/(?!\/))/i,
}

DOMPurify.addHook('afterSanitizeAttributes', node => {
  if (node.tagName === 'A') {
    node.setAttribute('rel', 'noopener noreferrer')
    node.setAttribute('target', '_blank')
  }
  // A picture from elsewhere would tell its server that somebody reads.
  if (node.tagName === 'IMG') node.replaceWith(document.createTextNode(node.getAttribute('alt') || '(picture)'))
  if (node.tagName === 'PRE' || node.tagName === 'TABLE') node.setAttribute('tabindex', '0')
})

export function html(text: string): string {
  return DOMPurify.sanitize(marked.parse(text) as string, ALLOWED)
}

export function Markdown({ text }: { text: string }) {
  const holder = useRef<HTMLDivElement>(null)
  const inner = useMemo(() => html(text), [text])
  useEffect(() => {
    for (const code of holder.current?.querySelectorAll('pre > code') ?? []) {
      const language = /language-([\w+#-]+)/.exec(code.className)?.[1]
      void colour(code.textContent ?? '', language).then(coloured => {
        if (coloured && code.isConnected) code.innerHTML = coloured
      })
    }
  }, [inner])
  return <div ref={holder} class="prose" dangerouslySetInnerHTML={{ __html: inner }} />
}
