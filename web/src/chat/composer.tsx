// Where one writes to a session: to its worker, or to a new one that continues it, or a fork of it.

import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { post, remove, type Schemas } from '../api/client.ts'
import { go } from '../router.ts'
import { Button } from '../ui/parts.tsx'
import { attempt } from '../ui/toast.tsx'
import { isOver, type Worker } from './worker.ts'
import { MODES, MODELS } from './options.ts'

type Run = Schemas['RunRequest']

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
  const send = async () => {
    const message = text.value.trim()
    if (!message || isSending.value) return
    isSending.value = true
    const sent = await attempt(async () => {
      if (isFork.value || ((model.value || mode.value) && !isLiving)) {
        const options = { ...(model.value ? { model: model.value } : {}), ...(mode.value ? { permission_mode: mode.value } : {}) }
        const which = isFork.value ? { fork: session } : { resume: session }
        return (await post('/api/v1/workers', { body: { task: message, ...which, ...options } as Run })).session_id
      }
      return (await post('/api/v1/sessions/{session}/messages', { path: { session }, body: { message } })).session_id
    })
    isSending.value = false
    if (!sent) return
    text.value = ''
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
      <textarea
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
          } else if (event.key === 'Escape') event.currentTarget.blur()
        }}
      />
      <div class="composer-tools">
        <label class="check">
          <input type="checkbox" checked={isFork.value} onChange={event => (isFork.value = event.currentTarget.checked)} /> In a fork
        </label>
        {!isLiving && <Select label="Model" value={model.value} options={MODELS} onChange={value => (model.value = value)} />}
        {!isLiving && <Select label="Mode" value={mode.value} options={MODES} onChange={value => (mode.value = value)} />}
        <span class="grow" />
        {isLiving && isBusy && (
          <Button icon="stop" onClick={() => void attempt(() => remove('/api/v1/workers/{worker}', { path: { worker: worker!.worker } }), 'Stopped')}>
            Stop
          </Button>
        )}
        <Button kind="main" type="submit" icon="send" disabled={!text.value.trim() || isSending.value}>
          {isSending.value ? 'Sending…' : 'Send'}
        </Button>
      </div>
    </form>
  )
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
