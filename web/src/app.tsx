// The shell: where one can go, what needs the person, and the page of the address.

import { useSignalEffect } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { isSignedOut } from './api/client.ts'
import { bind } from './keys.ts'
import { edited } from './live/annotations.ts'
import { announced } from './live/notices.ts'
import { connection, liveSession, needing, rows } from './live/store.ts'
import { Home } from './pages/home.tsx'
import { openPalette, paletteOpen } from './palette/open.ts'
import { go, parts, place } from './router.ts'
import { Brand, Icon, type IconName } from './ui/icons.tsx'
import { Empty } from './ui/parts.tsx'
import { Boundary, loaded } from './ui/loaded.tsx'
import { toast, Toasts } from './ui/toast.tsx'

interface PageEntry {
  title: string
  show: ComponentType
}

const page = <M, K extends keyof M>(title: string, load: () => Promise<M>, name: K): PageEntry => ({
  title,
  show: loaded<M, K, object>(load, name),
})

const PAGES: Record<string, PageEntry> = {
  '': { title: 'Home', show: Home },
  sessions: page('Sessions', () => import('./pages/sessions.tsx'), 'Sessions'),
  s: page('Session', () => import('./reader/session.tsx'), 'SessionPage'),
  search: page('Search', () => import('./pages/search.tsx'), 'Search'),
  new: page('New session', () => import('./chat/start.tsx'), 'Start'),
  world: page('World', () => import('./world/page.tsx'), 'World'),
  projects: page('Projects', () => import('./pages/projects.tsx'), 'Projects'),
  cost: page('Insights', () => import('./pages/cost.tsx'), 'Cost'),
  workers: page('Workers', () => import('./pages/workers.tsx'), 'Workers'),
  cron: page('Schedule', () => import('./pages/cron.tsx'), 'Cron'),
  settings: page('Settings', () => import('./pages/settings.tsx'), 'Settings'),
  help: page('Help', () => import('./pages/help.tsx'), 'Help'),
}

const Annotate = loaded(() => import('./annotate/dialog.tsx'), 'Annotate', {
  waiting: () => null,
  failed: ({ again, ...wanted }) => useNotOpened(() => (edited.value = undefined), () => ((edited.value = wanted), again())),
})
const Palette = loaded(() => import('./palette/palette.tsx'), 'Palette', {
  waiting: () => null,
  failed: ({ again }) => useNotOpened(() => (paletteOpen.value = false), () => (openPalette(), again())),
})

/** Closes a dialog whose script did not come, with a note that opens it again. */
function useNotOpened(close: () => void, again: () => void): null {
  useEffect(() => {
    close()
    toast('This could not be opened: the server does not answer, or it was upgraded since the page was opened.', true, { label: 'Try again', run: again })
  }, [])
  return null
}

const LINKS: { to: string; label: string; icon: IconName; keys: string; minor?: boolean }[] = [
  { to: '/', label: 'Home', icon: 'home', keys: 'g h' },
  { to: '/sessions', label: 'Sessions', icon: 'list', keys: 'g s' },
  { to: '/search', label: 'Search', icon: 'search', keys: 'g f' },
  { to: '/world', label: 'World', icon: 'world', keys: 'g w' },
  { to: '/projects', label: 'Projects', icon: 'folder', keys: 'g p', minor: true },
  { to: '/cost', label: 'Insights', icon: 'cost', keys: 'g c', minor: true },
  { to: '/cron', label: 'Schedule', icon: 'clock', keys: 'g j', minor: true },
  { to: '/settings', label: 'Settings', icon: 'settings', keys: 'g ,', minor: true },
  { to: '/help', label: 'Help', icon: 'help', keys: '?', minor: true },
]

export function App() {
  const name = parts.value[0] ?? ''
  const entry = PAGES[name]
  useEffect(
    () =>
      bind('Everywhere', [
        { keys: 'mod+k', what: 'Go to a session, a page or a command', opensField: true, run: () => openPalette() },
        { keys: '/', what: 'Search all sessions', opensField: true, run: () => go('/search') },
        { keys: 'n', what: 'Start a session', opensField: true, run: () => go('/new') },
        { keys: '!', what: 'Go to the session that has waited longest', run: goToWaiting },
        ...LINKS.map(link => ({ keys: link.keys, what: link.label, run: () => go(link.to) })),
      ]),
    [],
  )
  useSignalEffect(() => {
    const count = needing.value.length
    const title = titleOf(parts.value)
    document.title = `${count ? `(${count}) ` : ''}${title} · Backstory`
  })
  const Page = entry?.show
  return (
    <div class={`shell page-${name || 'home'}`}>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the page
      </a>
      <Navigation active={name} />
      <main id="main" tabIndex={0}>
        <Trouble />
        {Page ? (
          <Boundary key={name === 's' ? place.value.path : name}>
            <Page />
          </Boundary>
        ) : (
          <Empty title="There is no such page">
            <a href="/">Home</a>
          </Empty>
        )}
      </main>
      {paletteOpen.value && <Palette />}
      {edited.value && <Annotate key={edited.value.id} {...edited.value} />}
      <p class="hidden" role="status" aria-live="polite">
        {announced.value}
      </p>
      <Toasts />
    </div>
  )
}

/** Why what one sees may be old. */
function Trouble() {
  if (isSignedOut.value)
    return (
      <p class="offline" role="alert">
        This browser is not signed in any more. Run <code>backstory serve link</code> on the machine that serves this page, and open what it prints.
      </p>
    )
  const words = { polling: 'No events are arriving, so this page checks every 15 seconds what is running.', offline: 'The server does not answer; what you see may be old. Trying again…', live: '', connecting: '' }[connection.value]
  return words ? (
    <p class="offline" role="status">
      {words}
    </p>
  ) : null
}

/** What the tab is called: a session by its own title. */
function titleOf([name = '', id = '']: readonly string[]): string {
  const session = name === 's' ? (rows.value?.find(row => row.id === id)?.title ?? liveSession(id)?.title) : undefined
  return session ?? PAGES[name]?.title ?? 'Not found'
}

function skip(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

function goToWaiting(): void {
  const first = needing.peek()[0]
  if (first) go(`/s/${first.id}`)
}

function Navigation({ active }: { active: string }) {
  const waiting = needing.value.length
  return (
    <nav class="nav" aria-label="Pages">
      <a class="brand" href="/" aria-label="Backstory, home">
        <Brand /> <span>Backstory</span>
      </a>
      <button class="jump" type="button" onClick={() => openPalette()}>
        <Icon name="search" /> <span>Go to…</span>
        <kbd>{/Mac/.test(navigator.platform) ? '⌘' : 'Ctrl'} K</kbd>
      </button>
      <ul>
        {LINKS.map(link => {
          const isHere = link.to.slice(1) === active || ((active === 's' || active === 'workers') && link.to === '/sessions')
          return (
            <li key={link.to} class={link.minor ? 'minor' : ''}>
              <a href={link.to} aria-current={isHere ? 'page' : undefined} title={`${link.label} (${link.keys})`}>
                <Icon name={link.icon} />
                <span>{link.label}</span>
                {link.to === '/' && waiting > 0 && (
                  <b class="badge" aria-label={`${waiting} need you`}>
                    {waiting}
                  </b>
                )}
              </a>
            </li>
          )
        })}
        <li class="more">
          <button type="button" onClick={() => openPalette()}>
            <Icon name="menu" />
            <span>More</span>
          </button>
        </li>
      </ul>
      <a class="button main start" href="/new">
        <Icon name="plus" /> New session
      </a>
    </nav>
  )
}
