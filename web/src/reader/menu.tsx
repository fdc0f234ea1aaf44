// What else can be done with a session: a menu that is walked with the arrow keys and closes when one goes elsewhere.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

interface Props {
  label: string
  entries: readonly (readonly [string, () => void])[]
}

export function Menu({ label, entries }: Props) {
  const isOpen = useSignal(false)
  const holder = useRef<HTMLDivElement>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const close = () => {
    isOpen.value = false
    opener.current?.focus()
  }
  useEffect(() => {
    if (!isOpen.value) return
    entryAt(holder.current, 0)?.focus()
    const leave = (event: Event) => {
      if (!holder.current?.contains(event.target as Node)) isOpen.value = false
    }
    const kinds = ['pointerdown', 'focusin'] as const
    for (const kind of kinds) document.addEventListener(kind, leave)
    return () => {
      for (const kind of kinds) document.removeEventListener(kind, leave)
    }
  }, [isOpen.value])
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isOpen.value) return
    const at = [...(holder.current?.querySelectorAll('[role=menuitem]') ?? [])].indexOf(document.activeElement!)
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }
    if (event.key === 'Escape') close()
    else if (event.key in steps) entryAt(holder.current, steps[event.key]!)?.focus()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div ref={holder} class="menu" onKeyDown={onKeyDown}>
      <button ref={opener} type="button" class="button quiet bare" aria-haspopup="menu" aria-expanded={isOpen.value} aria-label={label} title={label} onClick={() => (isOpen.value = !isOpen.value)}>
        ⋯
      </button>
      {isOpen.value && (
        <ul role="menu" aria-label={label} class="menu-list">
          {entries.map(([name, act]) => (
            <li key={name} role="none">
              <button
                type="button"
                role="menuitem"
                tabIndex={-1}
                onClick={() => {
                  close()
                  act()
                }}
              >
                {name}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** An entry by its place, which goes round at both ends. */
function entryAt(holder: HTMLElement | null, place: number): HTMLElement | undefined {
  const all = [...(holder?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]
  return all.at(all.length ? place % all.length : 0)
}
