// One call of a tool: a line with the field that matters, which opens to what it did.

import { useEffect, useState } from 'preact/hooks'
import { get } from '../api/client.ts'
import { fieldOf, startsAgent, toolName, type Field } from '../chat/field.ts'
import { count, duration, plain } from '../format.ts'
import { isWorking, waitsForAnswer } from '../live/fold.ts'
import { requestsOf, liveSession } from '../live/store.ts'
import { Icon } from '../ui/icons.tsx'
import { loaded } from '../ui/loaded.tsx'
import { fetchModule } from '../ui/module.ts'
import { Button } from '../ui/parts.tsx'
import { attempt, copy } from '../ui/toast.tsx'
import { Coloured } from './coloured.tsx'
import { languageOf } from './colours.ts'
import { Diff, totals, useHunks } from './diff.tsx'
import type { Result, Tool } from './items.ts'
import { Markdown } from './markdown.tsx'
import { Path } from './path.tsx'
import { Picture } from './picture.tsx'

const Subagent = loaded(() => import('./subagent.tsx'), 'Subagent', { waiting: () => null })

/** Changes are open from the beginning: they are what a session is about. */
const OPEN = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit', 'ExitPlanMode'])
/** Longer output is folded. */
const LINES = 14
/** Slower calls show how long they took, in milliseconds. */
export const SLOW = 2000

export function ToolCall({ item, session }: { item: Tool; session: string }) {
  const { result } = item
  const [chosen, setOpen] = useState<boolean>()
  // A plan that waits for a yes is shown by the card that asks.
  const isOpen = chosen ?? (OPEN.has(item.name) && (item.name !== 'ExitPlanMode' || Boolean(result)))
  const hunks = useHunks(result?.patch, item.input)
  const field = fieldOf(item.name, item.input)
  const changed = totals(hunks)
  const isPath = /path$/.test(Object.keys((item.input ?? {}) as object)[0] ?? '') || ['Read', 'Edit', 'Write', 'MultiEdit'].includes(item.name)
  return (
    <div class={`tool${result?.is_error ? ' failed' : ''}${isOpen ? ' open' : ''}`}>
      <button type="button" class="tool-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? 'down' : 'right'} />
        <b>{toolName(item.name)}</b>
        <span class={`tool-field${field.isCode ? ' code' : ''}${isPath ? ' path' : ''}`} title={field.value.slice(0, 400)}>
          {isPath ? <Path path={field.value} /> : firstLine(field)}
        </span>
        {field.label && <span class="tag">{field.label}</span>}
        {changed.added + changed.removed > 0 && (
          <span class="changed">
            <ins>+{changed.added}</ins> <del>−{changed.removed}</del>
          </span>
        )}
        {result?.is_refused ? <span class="bad">refused</span> : result?.is_error && <span class="bad">failed</span>}
        {!result && <Pending session={session} tool={item.name} />}
        {(item.ms ?? 0) >= SLOW && <span class="age">{duration(item.ms!)}</span>}
      </button>
      {isOpen && <Body item={item} session={session} hunks={hunks} />}
    </div>
  )
}

/** What has become of a call without a result. */
function Pending({ session, tool }: { session: string; tool: string }) {
  const activity = liveSession(session)?.activity
  const isThis = activity?.tool === tool
  const isAsked = requestsOf(session)?.requests.some(request => request.tool === tool)
  if (isAsked || (isThis && waitsForAnswer(activity))) return <span class="bad">waits for you</span>
  return <span class="dim">{isThis && isWorking(activity.state) ? 'running…' : 'no result'}</span>
}

/** Of a command its first line as it is, of anything else without the signs of Markdown. */
function firstLine({ value, isCode }: Field): string {
  const line = value.split('\n')[0] ?? ''
  return isCode ? line : plain(line).trim()
}

function Body({ item, session, hunks }: { item: Tool; session: string; hunks: ReturnType<typeof useHunks> }) {
  const input = (item.input ?? {}) as Record<string, unknown>
  const { result } = item
  const agent = result?.agent
  const isTask = startsAgent(item.name)
  return (
    <div class="tool-body">
      {hunks.length > 0 && <Diff hunks={hunks} isNumbered={Boolean(result?.patch?.length)} />}
      {item.name === 'Write' && !hunks.length && typeof input.content === 'string' && (
        <Code text={input.content} language={languageOf(String(input.file_path ?? ''))} />
      )}
      {item.name === 'Bash' && typeof input.command === 'string' && <Code text={input.command} language="bash" />}
      {item.name === 'ExitPlanMode' && typeof input.plan === 'string' && <Markdown text={input.plan} />}
      {item.name === 'TodoWrite' && Array.isArray(input.todos) && <Todos todos={input.todos} />}
      {isTask && typeof input.prompt === 'string' && <Output text={input.prompt} />}
      {!KNOWN.has(item.name) && !isTask && Object.keys(input).length > 0 && <Code text={JSON.stringify(input, null, 2)} language="json" />}
      {result?.pictures?.map(number => <Picture key={number} session={session} offset={item.resultOffset} number={number} />)}
      {agent && <Subagent session={session} agent={agent} />}
      {result && !(hunks.length && !result.is_error) && item.name !== 'TodoWrite' && (
        <Answer result={result} item={item} session={session} isMarkdown={isTask || item.name === 'WebFetch'} />
      )}
    </div>
  )
}

const KNOWN = new Set(['Bash', 'Edit', 'MultiEdit', 'Write', 'Read', 'Grep', 'Glob', 'ExitPlanMode', 'TodoWrite', 'WebFetch', 'WebSearch', 'Result'])

/** What Claude Code puts around an error of its own, for the model. */
const WRAPPED = /^\s*<tool_use_error>([^]*)<\/tool_use_error>\s*$/

function Answer({ result, item, session, isMarkdown }: { result: Result; item: Tool; session: string; isMarkdown: boolean }) {
  const [whole, setWhole] = useState<string>()
  const text = (whole ?? result.text).replace(WRAPPED, '$1')
  const isCut = whole === undefined && result.length > result.text.length
  const load = () =>
    attempt(async () => {
      const query = { around_offset: item.resultOffset, limit: 1, whole: true }
      const page = await get('/api/v1/sessions/{session}/blocks', { path: { session }, query })
      const found = page.messages.flatMap(message => message.blocks).find(block => block.type === 'tool_result' && block.id === result.id)
      if (found?.type === 'tool_result') setWhole(found.text)
    })
  if (!text.trim()) return <p class="dim tool-empty">No output</p>
  const path = String(((item.input ?? {}) as Record<string, unknown>).file_path ?? '')
  return (
    <>
      {isMarkdown ? <Markdown text={text} /> : item.name === 'Read' ? <Code text={text.replaceAll(/^\s*\d+[→\t]/gm, '')} language={languageOf(path)} isFolded /> : <Output text={text} />}
      {isCut && (
        <Button kind="quiet" onClick={() => void load()}>
          Show all {count(result.length)} characters
        </Button>
      )}
    </>
  )
}

function Folded({ lines, children, text }: { lines: number; children: preact.ComponentChildren; text: string }) {
  const [isOpen, setOpen] = useState(lines <= LINES + 4)
  return (
    <div class={isOpen ? 'output' : 'output folded'}>
      {children}
      <div class="output-tools">
        <Button kind="quiet" icon="copy" label="Copy" onClick={() => void copy(text, 'the text')} />
      </div>
      {!isOpen && (
        <button type="button" class="unfold" onClick={() => setOpen(true)}>
          {lines - LINES} more lines
        </button>
      )}
    </div>
  )
}

/** What a program printed, with its colours. */
function Output({ text }: { text: string }) {
  const lines = text.split('\n').length
  const [inner, setInner] = useState<string>()
  useEffect(() => {
    if (!text.includes('\u001b[')) return
    void fetchModule(() => import('ansi_up')).then(({ AnsiUp }) => {
      const ansi = new AnsiUp()
      ansi.use_classes = true
      setInner(ansi.ansi_to_html(text))
    }, noColours)
  }, [text])
  return (
    <Folded lines={lines} text={text}>
      {inner === undefined ? <pre tabIndex={0}>{text}</pre> : <pre tabIndex={0} dangerouslySetInnerHTML={{ __html: inner }} />}
    </Folded>
  )
}

/** Without its colours a text is still read. */
const noColours = () => {}

function Code({ text, language, isFolded = false }: { text: string; language: string | undefined; isFolded?: boolean }) {
  const lines = text.split('\n').length
  return (
    <Folded lines={isFolded || lines > 40 ? lines : 0} text={text}>
      <pre tabIndex={0}>
        <Coloured text={text} language={language} />
      </pre>
    </Folded>
  )
}

function Todos({ todos }: { todos: { content?: string; status?: string }[] }) {
  return (
    <ul class="todos">
      {todos.map((todo, at) => (
        <li key={at} class={todo.status}>
          <span aria-label={todo.status}>{todo.status === 'completed' ? '✓' : todo.status === 'in_progress' ? '→' : '○'}</span> {todo.content}
        </li>
      ))}
    </ul>
  )
}
