// The palette: sessions by title, hits of the search, pages and commands, from everywhere.

import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { get, isCancelled, type Schemas } from '../api/client.ts'
import { bound } from '../keys.ts'
import { liveSession, needing, now, rows } from '../live/store.ts'
import { age, plain } from '../format.ts'
import { go, sessionAddress } from '../router.ts'
import { theme } from '../ui/theme.ts'
import { Icon, type IconName } from '../ui/icons.tsx'
import { StateSign } from '../ui/sign.tsx'
import type { State } from '../live/fold.ts'
import { marked } from '../pages/hit.ts'
import { paletteOpen } from './open.ts'
import { rank, score } from './score.ts'
import '../style/palette.css'

interface Choice {
  key: string
  group: string
  title: string
  note: string
  state?: State | null | undefined
  icon?: IconName
  run: () => void
}

/** How many of each group are shown. */
const SHOWN = 7
/** How many commands are shown before anything is typed: all pages are among them. */
const UNTYPED = 14

export function Palette() {
  const text = useSignal('')
  /** What the person went to; what else is found may come before it. */
  const chosen = useSignal<string | undefined>(undefined)
  const hits = useSignal<Schemas['SearchHit'][]>([])
  const dialog = useRef<HTMLDialogElement>(null)
  const close = () => (paletteOpen.value = false)
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null
    dialog.current?.showModal()
    return () => before?.focus?.()
  }, [])
  useEffect(() => {
    const query = text.value.trim()
    chosen.value = undefined
    if (query.length < 2) return void (hits.value = [])
    const controller = new AbortController()
    const timer = setTimeout(() => {
      get('/api/v1/search', { query: { query, limit: 6, max_age_seconds: 5 }, signal: controller.signal })
        .then(answer => (hits.value = answer.hits))
        .catch(error => isCancelled(error) || (hits.value = []))
    }, 80)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [text.value])
  const choices = useComputed(() => {
    const [sessions, commands] = [sessionChoices(text.value), commandChoices(text.value)]
    // On a phone it is the way to the pages that the bar has no room for.
    const isMenu = !text.value.trim() && matchMedia('(max-width: 820px)').matches
    return [...(isMenu ? [...commands, ...sessions] : [...sessions, ...commands]), ...hitChoices(hits.value)]
  })
  const at = useComputed(() => Math.max(0, choices.value.findIndex(choice => choice.key === chosen.value)))
  const move = (by: number) => {
    const all = choices.value
    chosen.value = all[(at.value + by + all.length) % all.length]?.key
  }
  const choose = (choice: Choice | undefined) => {
    if (!choice) return
    close()
    choice.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || (event.ctrlKey && event.key === 'n')) move(1)
    else if (event.key === 'ArrowUp' || (event.ctrlKey && event.key === 'p')) move(-1)
    else if (event.key === 'Enter') choose(choices.value[at.value])
    else return
    event.preventDefault()
    dialog.current?.querySelector(`#choice-${at.value}`)?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <dialog ref={dialog} class="palette" aria-label="Go to" onClose={close} onClick={event => event.target === dialog.current && close()} onKeyDown={onKeyDown}>
      <div class="palette-field">
        <Icon name="search" />
        <input
          autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls="choices"
          aria-activedescendant={`choice-${at.value}`}
          aria-label="A session, a page, a command, or words that were said"
          placeholder="A session, a page, a command, or words that were said"
          value={text.value}
          onInput={event => (text.value = event.currentTarget.value)}
        />
        <kbd>Esc</kbd>
      </div>
      <ul id="choices" role="listbox" aria-label="Choices">
        {choices.value.map((choice, place) => (
          <li
            key={choice.key}
            id={`choice-${place}`}
            role="option"
            aria-selected={place === at.value}
            class={choices.value[place - 1]?.group === choice.group ? '' : 'begins'}
            data-group={choice.group}
            onClick={() => choose(choice)}
            onMouseMove={() => (chosen.value = choice.key)}
          >
            {choice.icon ? <Icon name={choice.icon} /> : <StateSign state={choice.state} />}
            <span class="palette-title">{choice.title}</span>
            <span class="palette-note">{choice.note}</span>
          </li>
        ))}
        {!choices.value.length && <li class="dim palette-none">Nothing matches</li>}
      </ul>
    </dialog>
  )
}

function sessionChoices(text: string): Choice[] {
  const waits = new Set(needing.value.map(session => session.id))
  const ranked = (rows.value ?? [])
    .map(row => ({ row, rank: rank(text, [row.title ?? '', row.project ?? '', row.branch ?? '', row.id], waits.has(row.id)) }))
    .filter(one => one.rank > 0)
    .sort((one, other) => other.rank - one.rank || (other.row.last ?? 0) - (one.row.last ?? 0))
  return ranked.slice(0, SHOWN).map(({ row }) => ({
    key: row.id,
    group: 'Sessions',
    title: row.title ?? 'Untitled',
    note: [row.project, age(row.last, now.value)].filter(Boolean).join(' · '),
    state: waits.has(row.id) ? 'waiting_permission' : (liveSession(row.id)?.activity.state ?? row.state),
    run: () => go(sessionAddress(row.id)),
  }))
}

function commandChoices(text: string): Choice[] {
  const themes: [string, () => void][] = [
    ['Dark', () => (theme.value = 'dark')],
    ['Light', () => (theme.value = 'light')],
    ['Dark or light as the system says', () => (theme.value = 'system')],
  ]
  const others: [string, IconName, () => void][] = [
    ['Connections', 'link', () => go('/settings#connections')],
    ['Replay yesterday in the world', 'play', () => go('/world?replay=yesterday')],
    ...themes.map(([name, run]): [string, IconName, () => void] => [name, 'settings', run]),
  ]
  const keyed = bound().toSorted((one, other) => Number(other.name === 'Everywhere') - Number(one.name === 'Everywhere')).flatMap(layer =>
    layer.bindings
      .filter(binding => !/escape|down|up|mod\+k/.test(binding.keys))
      .map((binding): Choice => ({
        key: `key ${binding.keys} ${binding.what}`,
        group: 'Commands',
        title: binding.what,
        note: binding.keys.split(', ')[0]!,
        icon: 'right',
        run: () => binding.run(new KeyboardEvent('keydown')),
      })),
  )
  const unkeyed = others.map(([title, icon, run]): Choice => ({ key: title, group: 'Commands', title, note: '', icon, run }))
  const search: Choice[] = text.trim()
    ? [{ key: 'search', group: 'Commands', title: `Search for “${text.trim()}”`, note: 'all sessions', icon: 'search', run: () => go(`/search?q=${encodeURIComponent(text.trim())}`) }]
    : []
  const matching = [...keyed, ...unkeyed].filter(choice => score(text, [choice.title]) > 0)
  return [...matching.slice(0, text ? SHOWN : UNTYPED), ...search]
}

/** How much is shown before the first word that was found, in characters. */
const BEFORE = 16

/** The text of a hit from shortly before what was found in it. */
function around(hit: Schemas['SearchHit']): string {
  const parts = marked(hit.snippet ?? hit.title ?? '', hit.marks as unknown as [number, number][])
  const first = parts.findIndex(part => part.isMarked)
  const before = first > 0 ? parts[first - 1]!.text : ''
  const text = parts.slice(Math.max(0, first)).map(part => part.text).join('')
  return plain(`${before.length > BEFORE ? `…${before.slice(-BEFORE)}` : before}${text}`).replaceAll(/\s+/g, ' ').slice(0, 160)
}

function hitChoices(hits: readonly Schemas['SearchHit'][]): Choice[] {
  return hits
    .filter(hit => hit.session_id)
    .map((hit, place) => ({
      key: `hit ${place} ${hit.session_id}`,
      group: 'What was said',
      title: around(hit),
      note: hit.title ?? '',
      icon: 'document' as const,
      run: () => go(sessionAddress(hit.session_id!, hit.uuid)),
    }))
}
