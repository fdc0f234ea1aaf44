// Where one writes to a session: to its worker, or to a new one that continues it, or a fork of it.

import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { post, remove, type Schemas } from '../api/client.ts'
import { go } from '../router.ts'
import { Button } from '../ui/parts.tsx'
import { attempt } from '../ui/toast.tsx'
import { forkPlace } from './fork-place.ts'
import { isOver, type Worker } from './worker.ts'
import { MODES, MODELS } from './options.ts'

type Run = Schemas['RunRequest']
type Mode = NonNullable<Schemas['WorkerChange']['permission_mode']>

interface Props {
  session: string
  worker: Worker | undefined
  isBusy: boolean
  /** Why nothing can be sent. */
  obstacle: string | undefined
  onSent: () => void
}

export function Composer({ session, worker, isBusy, obstacle, onSent }: Props) {
  const text = useSignal('')
  const isFork = useSignal(false)
  const model = useSignal('')
  const mode = useSignal('')
  const isSending = useSignal(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const isLiving = !isOver(worker)
  const number = isLiving ? worker!.worker : undefined
  const current = isLiving ? worker!.permission_mode : 'default'
  const place = forkPlace.value?.session === session ? forkPlace.value : undefined
  const setFork = (wanted: boolean) => {
    isFork.value = wanted
    if (!wanted) forkPlace.value = undefined
  }
  useLayoutEffect(() => void (place && (isFork.value = true)), [place])
  // Where nothing could be written before, it can from now on: what is typed at once is not lost.
  useLayoutEffect(() => void (place && isFork.value && field.current?.focus()), [place, isFork.value])
  useEffect(() => void (model.value = ''), [number])
  // It is another one, too, when a plan was approved or the command line has changed it.
  useEffect(() => void (mode.value = current === 'default' ? '' : current), [number, current])
  // A living worker goes on with what is chosen; another one is started with it.
  const change = async (own: { value: string }, value: string, wanted: Schemas['WorkerChange']) => {
    const before = own.value
    own.value = value
    if (number === undefined) return
    const isDone = await attempt(() => post('/api/v1/workers/{worker}/options', { path: { worker: number }, body: wanted }).then(() => true))
    if (!isDone) own.value = before
  }
  const send = async () => {
    const message = text.value.trim()
    if (!message || isSending.value) return
    isSending.value = true
    const sent = await attempt(async () => {
      if (isFork.value || ((model.value || mode.value) && !isLiving)) {
        const options = { ...(model.value ? { model: model.value } : {}), ...(mode.value ? { permission_mode: mode.value } : {}) }
        const which = isFork.value ? { fork: session, ...(place ? { at: place.uuid } : {}) } : { resume: session }
        return (await post('/api/v1/workers', { body: { task: message, ...which, ...options } as Run })).session_id
      }
      return (await post('/api/v1/sessions/{session}/messages', { path: { session }, body: { message } })).session_id
    })
    isSending.value = false
    if (!sent) return
    text.value = ''
    if (place) setFork(false)
    if (field.current) field.current.style.height = ''
    if (sent !== session) go(`/s/${sent}`)
    else onSent()
  }
  return (
    <form
      class="composer"
      aria-label="Write to this session"
      onSubmit={event => {
        event.preventDefault()
        void send()
      }}
    >
      {place && (
        <p class="composer-place">
          <span>In a fork that ends at “{beginning(place.text)}”</span>
          <Button kind="quiet" icon="close" label="Do not fork" onClick={() => setFork(false)} />
        </p>
      )}
      <textarea
        dir="auto"
        ref={field}
        class="composer-text"
        rows={1}
        aria-label="Message"
        placeholder={obstacle && !isFork.value ? obstacle : isFork.value ? 'Continue in a fork of this session…' : isLiving ? 'Message…' : 'Continue this session…'}
        disabled={Boolean(obstacle) && !isFork.value}
        value={text.value}
        onInput={event => {
          text.value = event.currentTarget.value
          event.currentTarget.style.height = 'auto'
          event.currentTarget.style.height = `${Math.min(260, event.currentTarget.scrollHeight)}px`
        }}
        onKeyDown={event => {
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault()
            void send()
          } else if (event.key === 'Escape') {
            if (number !== undefined && isBusy && !text.value) void interrupt(number)
            else event.currentTarget.blur()
          }
        }}
      />
      <div class="composer-tools">
        <label class="check">
          <input type="checkbox" checked={isFork.value} onChange={event => setFork(event.currentTarget.checked)} /> In a fork
        </label>
        <Select label="Model" value={model.value} options={MODELS} onChange={value => void change(model, value, { model: value || 'default' })} />
        <Select label="Permissions" value={mode.value} options={MODES} onChange={value => void change(mode, value, { permission_mode: (value || 'default') as Mode })} />
        <span class="grow" />
        {isLiving && !isBusy && (
          <Button kind="quiet" label="End the worker; the session stays" onClick={() => void attempt(() => remove('/api/v1/workers/{worker}', { path: { worker: number! } }), 'Ended')}>
            End
          </Button>
        )}
        {isLiving && isBusy && (
          <Button icon="stop" label="Interrupt this turn" keys="Esc" onClick={() => void interrupt(number!)}>
            Interrupt
          </Button>
        )}
        <Button kind="main" type="submit" icon="send" disabled={!text.value.trim() || isSending.value}>
          {isSending.value ? 'Sending…' : 'Send'}
        </Button>
      </div>
    </form>
  )
}

/** Ends the turn; the worker waits for the next message. */
function interrupt(worker: number): Promise<unknown> {
  return attempt(() => post('/api/v1/workers/{worker}/interrupt', { path: { worker } }), 'Interrupted')
}

/** The first line of a text, without the marks that Markdown has at its head. */
function beginning(text: string): string {
  return text.replace(/^[#>*\s-]+/, '').split('\n')[0] ?? ''
}

export function Select({ label, value, options, onChange }: { label: string; value: string; options: readonly (readonly [string, string])[]; onChange: (value: string) => void }) {
  return (
    <select class="field small" aria-label={label} value={value} onChange={event => onChange(event.currentTarget.value)}>
      {options.map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  )
}
