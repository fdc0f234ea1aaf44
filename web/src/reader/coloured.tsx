// Code that gets its colours when the worker has made them.

import { useEffect, useRef } from 'preact/hooks'
import { colour } from './colours.ts'

export function Coloured({ text, language }: { text: string; language: string | undefined }) {
  const holder = useRef<HTMLElement>(null)
  useEffect(() => {
    let isWanted = true
    void colour(text, language).then(html => {
      if (html && isWanted && holder.current) holder.current.innerHTML = html
    })
    return () => {
      isWanted = false
    }
  }, [text, language])
  // Another text is another element: what the worker wrote into this one is not the page's to change.
  return (
    <code ref={holder} key={text}>
      {text}
    </code>
  )
}
