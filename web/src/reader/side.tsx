// The column beside a session: its prompts, how long things took, what it changed, and what is known of it.

import { useSignal } from '@preact/signals'
import type { Schemas } from '../api/client.ts'
import { MODES } from '../chat/options.ts'
import { toolName } from '../chat/field.ts'
import { clock, count, dayName, duration, isoDay, moment, money, plural, shortPath } from '../format.ts'
import { now, rows } from '../live/store.ts'
import { go, sessionAddress } from '../router.ts'
import { Button, Empty, Loading } from '../ui/parts.tsx'
import { Directory, Path } from './path.tsx'

type Session = Schemas['Session']
type Outline = Schemas['OutlineAnswer']
type Tab = 'prompts' | 'timing' | 'files' | 'about'

const TABS: [Tab, string][] = [
  ['prompts', 'Prompts'],
  ['timing', 'Timing'],
  ['files', 'Changes'],
  ['about', 'About'],
]

interface Props {
  session: Session
  outline: Outline | undefined
  /** Closes the column, where it lies over the messages. */
  close: (() => void) | undefined
}

export function Side({ session, outline, close }: Props) {
  const tab = useSignal<Tab>('prompts')
  const goTo = (uuid: string | null | undefined) => {
    go(sessionAddress(session.session_id, uuid))
    close?.()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!by) return
    event.preventDefault()
    const at = TABS.findIndex(([name]) => name === tab.value) + by
    tab.value = TABS.at(at % TABS.length)![0]
    document.getElementById(`tab-${tab.value}`)?.focus()
  }
  return (
    <aside class="side" aria-label="About this session">
      <div class="tabs">
        <div role="tablist" onKeyDown={onKeyDown}>
          {TABS.map(([name, label]) => (
            <button key={name} type="button" role="tab" id={`tab-${name}`} tabIndex={tab.value === name ? 0 : -1} aria-selected={tab.value === name} aria-controls="side-panel" onClick={() => (tab.value = name)}>
              {label}
            </button>
          ))}
        </div>
        {close && <Button kind="quiet" icon="close" label="Close" keys="Esc" onClick={close} />}
      </div>
      <div class="side-panel" id="side-panel" role="tabpanel" aria-labelledby={`tab-${tab.value}`} tabIndex={0}>
        {tab.value === 'about' ? (
          <About session={session} />
        ) : !outline ? (
          <Loading lines={5} />
        ) : tab.value === 'prompts' ? (
          <Prompts outline={outline} goTo={goTo} />
        ) : tab.value === 'timing' ? (
          <Timing outline={outline} goTo={goTo} />
        ) : (
          <Directory.Provider value={session.cwd ?? undefined}>
            <Files outline={outline} />
          </Directory.Provider>
        )}
      </div>
    </aside>
  )
}

interface Listed {
  outline: Outline
  goTo: (uuid: string | null | undefined) => void
}

function Prompts({ outline, goTo }: Listed) {
  if (!outline.prompts.length) return <Empty title="No prompts" />
  const days = outline.prompts.map(prompt => (prompt.at ? isoDay(Date.parse(prompt.at)) : ''))
  // Where all is of one day, the head of the session says which.
  const hasDays = new Set(days.filter(Boolean)).size > 1
  return (
    <ol class="outline">
      {outline.prompts.map((prompt, at) => (
        <li key={prompt.offset} class={prompt.left_for ? 'left' : ''}>
          {hasDays && prompt.at && days[at] !== days[at - 1] && <h3>{dayName(Date.parse(prompt.at), now.value)}</h3>}
          <button type="button" onClick={() => goTo(prompt.uuid)} title={prompt.text}>
            <time>{prompt.at ? clock(prompt.at) : ''}</time>
            <span dir="auto">{prompt.text}</span>
            {prompt.left_for && <i class="tag">left</i>}
          </button>
        </li>
      ))}
    </ol>
  )
}

function Timing({ outline, goTo }: Listed) {
  const longest = Math.max(1, ...outline.tools.map(tool => tool.ms))
  if (!outline.tools.length) return <Empty title="No tool was used" />
  return (
    <>
      <h3>Time in tools</h3>
      <table class="bars">
        <thead class="hidden">
          <tr>
            <th>Tool</th>
            <th>Time</th>
            <th>Calls</th>
          </tr>
        </thead>
        <tbody>
          {outline.tools.slice(0, 14).map(tool => (
            <tr key={tool.name}>
              <td>
                {toolName(tool.name)}
                <meter min={0} max={longest} value={tool.ms} aria-label={`${toolName(tool.name)}: ${duration(tool.ms)}`} />
              </td>
              <td class="number">{duration(tool.ms)}</td>
              <td class="number dim" title={tool.failed ? `${tool.failed} failed` : undefined}>
                ×{tool.calls}
                {tool.failed > 0 && <span class="bad"> {tool.failed}✗</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <h3>Slowest calls</h3>
      <ol class="outline">
        {outline.slowest.map(call => (
          <li key={`${call.offset} ${call.ms}`}>
            <button type="button" onClick={() => goTo(call.uuid)}>
              <time>{duration(call.ms)}</time>
              <span>
                {toolName(call.name)}
                {call.detail && <i> {call.detail}</i>}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </>
  )
}

function Files({ outline }: { outline: Outline }) {
  if (!outline.files.length) return <Empty title="No file was changed" />
  const added = outline.files.reduce((sum, file) => sum + file.added, 0)
  const removed = outline.files.reduce((sum, file) => sum + file.removed, 0)
  return (
    <>
      <p class="side-sum">
        {plural(outline.files.length, 'file')} <ins>+{added}</ins> <del>−{removed}</del>
      </p>
      <ul class="files">
        {outline.files.map(file => (
          <li key={file.path} title={file.path}>
            <span class="path">
              <Path path={file.path} />
            </span>
            <ins>+{file.added}</ins>
            <del>−{file.removed}</del>
          </li>
        ))}
      </ul>
    </>
  )
}

function About({ session }: { session: Session }) {
  const forks = rows.value?.filter(row => row.fork_of === session.session_id) ?? []
  const facts: [string, preact.ComponentChildren][] = [
    ['Project', session.project && <a href={`/sessions?project=${encodeURIComponent(session.repo_path ?? session.project)}`}>{rows.value?.find(row => row.id === session.session_id)?.project ?? session.project}</a>],
    ['Directory', session.cwd && shortPath(session.cwd)],
    ['Branch', session.branch],
    ['Started', session.created && moment(session.created)],
    ['Last active', session.last_modified && moment(session.last_modified)],
    ['Deleted', session.deleted_at && `by ${moment(session.deleted_at)}; the archive has it`],
    ['Cost, estimated', session.cost_usd !== null && session.cost_usd !== undefined && money(session.cost_usd)],
    ['Cost by OpenClaw', session.total_cost_usd !== null && session.total_cost_usd !== undefined && money(session.total_cost_usd, true)],
    ['Tokens out', count(session.total_output_tokens)],
    ['Read from cache', count(session.cache_read_tokens)],
    ['Context', plural(session.context_tokens, 'token')],
    ['Compacted', session.compaction_count > 0 && plural(session.compaction_count, 'time')],
    ['Mode', MODES.find(([mode]) => mode && mode === session.permission_mode)?.[1] ?? session.permission_mode],
    ['Started by', session.entrypoint],
    ['Claude Code', session.version],
    ['OpenClaw agent', session.agent_id],
    ['Forked from', session.forked_from && <a href={sessionAddress(session.forked_from.session_id, session.forked_from.message_uuid)}>{rows.value?.find(row => row.id === session.forked_from?.session_id)?.title ?? session.forked_from.session_id.slice(0, 8)}</a>],
    ['Forks', forks.length > 0 && forks.map(row => <a key={row.id} class="fork-link" href={`/s/${row.id}`}>{row.title ?? row.id.slice(0, 8)}</a>)],
    ['Id', <code key="id">{session.session_id}</code>],
  ]
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
