// Everything that a worker asks to do, in a part that scrolls by itself; it says whether its end was seen.

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Diff, useHunks } from '../reader/diff.tsx'
import { Button } from '../ui/parts.tsx'
import { askedOf, type Change } from './asked.ts'
import '../style/ask.css'

/** How far from its end a part may be to count as read, in pixels. */
const NEAR = 6

/** What a tool would be called with. */
export function Input({ tool, input }: { tool: string; input: unknown }) {
  const asked = useMemo(() => askedOf(tool, input), [tool, input])
  return (
    <>
      {asked.heads.map(({ value, isCode }) => (
        <pre key={value} class={isCode ? 'asked-code' : 'asked-path'}>
          {value}
        </pre>
      ))}
      {asked.fields.length > 0 && (
        <dl class="asked-fields">
          {asked.fields.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {asked.changes.length > 0 && <Changes changes={asked.changes} />}
    </>
  )
}

function Changes({ changes }: { changes: readonly Change[] }) {
  const edits = useMemo(() => ({ edits: changes }), [changes])
  const hunks = useHunks(undefined, edits)
  const plain = useMemo(() => changes.map(plainHunk), [changes])
  return <Diff hunks={hunks.length ? hunks : plain} isNumbered={false} />
}

/** A change as it is known before the lines of both texts are compared, and where that fails. */
function plainHunk({ old_string, new_string }: Change) {
  const lines = (text: string, sign: string) => (text ? text.split('\n').map(line => sign + line) : [])
  return { old_start: 1, new_start: 1, lines: [...lines(old_string, '-'), ...lines(new_string, '+')] }
}

/** A part whose end has to be seen: it scrolls, or is opened whole. */
export function Seen({ label, children, onSeen }: { label: string; children: ComponentChildren; onSeen: (isSeen: boolean) => void }) {
  const part = useRef<HTMLDivElement>(null)
  const seen = useRef(0)
  const [isOpen, setOpen] = useState(false)
  const [isLong, setLong] = useState(false)
  useLayoutEffect(() => {
    const scroller = part.current!
    const look = () => {
      seen.current = Math.max(seen.current, scroller.scrollTop + scroller.clientHeight)
      setLong(scroller.scrollHeight > scroller.clientHeight + NEAR)
      // What came later, such as a plan, has to be seen as well.
      onSeen(seen.current >= scroller.scrollHeight - NEAR)
    }
    const watch = new ResizeObserver(look)
    watch.observe(scroller)
    watch.observe(scroller.firstElementChild!)
    scroller.addEventListener('scroll', look, { passive: true })
    look()
    return () => {
      watch.disconnect()
      scroller.removeEventListener('scroll', look)
    }
  }, [isOpen])
  return (
    <>
      <div ref={part} class={isOpen ? 'asked open' : 'asked'} tabIndex={0} role="group" aria-label={label}>
        <div class="asked-parts">{children}</div>
      </div>
      {isLong && !isOpen && (
        <Button kind="quiet" onClick={() => setOpen(true)}>
          Show all of it
        </Button>
      )}
    </>
  )
}
