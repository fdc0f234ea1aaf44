// Small parts that every page uses.

import type { ComponentChildren } from 'preact'
import type { Failure } from '../api/client.ts'
import { now } from '../live/store.ts'
import { age, clock, DAY, moment } from '../format.ts'
import { Icon, type IconName } from './icons.tsx'

/** A time as its age, with the whole of it on hover; under the name of its day an older one is a time of day. */
export function Age({ at, isUnderDay = false }: { at: number | null | undefined; isUnderDay?: boolean }) {
  if (!at) return <span class="age" />
  return (
    <time class="age" dateTime={new Date(at).toISOString()} title={moment(at)}>
      {isUnderDay && now.value - at > DAY ? clock(at) : age(at, now.value)}
    </time>
  )
}

/** Marks a session as a background job of Claude Code, with what has become of it where nothing else says that. */
export function JobTag({ state }: { state?: string }) {
  return (
    <span class="tag job" title="A background job of Claude Code (claude --bg)">
      job{state ? ` ${state}` : ''}
    </span>
  )
}

interface ButtonProps {
  children?: ComponentChildren
  icon?: IconName
  label?: string
  kind?: 'plain' | 'main' | 'danger' | 'quiet'
  disabled?: boolean
  pressed?: boolean
  expanded?: boolean | undefined
  keys?: string
  type?: 'button' | 'submit'
  onClick?: (event: MouseEvent) => void
}

/** A button; without words it needs a `label`. */
export function Button({ children, icon, label, kind = 'plain', disabled, pressed, expanded, keys, type = 'button', onClick }: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${kind}${children ? '' : ' bare'}`}
      disabled={disabled}
      aria-label={label}
      aria-pressed={pressed}
      aria-expanded={expanded}
      title={keys ? `${label ?? ''} (${keys})`.trim() : label}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

/** A filter that is set, and removed with a click. */
export function Chip({ name, value, remove }: { name: string; value: string; remove: () => void }) {
  return (
    <button type="button" class="chip" aria-label={`Remove the filter ${name} ${value}`} onClick={remove}>
      {name}: {value} <Icon name="close" />
    </button>
  )
}

/** Takes the focus when it appears; `autofocus` counts once for a page that is loaded. */
export function focusOn(part: HTMLElement | null): void {
  part?.focus()
}

/** A page's heading with what can be done beside it. */
export function Head({ title, note, children }: { title: ComponentChildren; note?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <header class="head">
      <h1>{title}</h1>
      {note && <p class="dim">{note}</p>}
      <div class="head-tools">{children}</div>
    </header>
  )
}

/** A sentence whose words between backticks are code. */
export function WithCode({ text }: { text: string }) {
  return <>{text.split('`').map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part))}</>
}

export function ErrorLine({ error, retry }: { error: Failure | { message: string }; retry?: () => void }) {
  return (
    <p class="error" role="alert">
      <WithCode text={error.message} /> {retry && <Button onClick={retry}>Try again</Button>}
    </p>
  )
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <div class="dim">{children}</div>}
    </div>
  )
}

/** In place of lists that are empty because nothing was ever said. */
export function NoSessions() {
  return (
    <Empty title="No sessions yet">
      Start <code>claude</code> in a repository, or <a href="/new">start one here</a>. Sessions are read from <code>~/.claude</code>, or from{' '}
      <code>CLAUDE_CONFIG_DIR</code>.
    </Empty>
  )
}

/** Grey lines in the place of what is loading. */
export function Loading({ lines = 6 }: { lines?: number }) {
  return (
    <div class="loading" aria-busy="true">
      <span class="hidden">Loading</span>
      {Array.from({ length: lines }, (_, at) => (
        <i key={at} class={`w${at % 4}`} />
      ))}
    </div>
  )
}

export function Keys({ children }: { children: string }) {
  return (
    <>
      {children.split(' ').map(key => (
        <kbd key={key}>{key}</kbd>
      ))}
    </>
  )
}
