// Settings: how it looks, when it calls, who may come in, and what is connected and found.

import { useSignal } from '@preact/signals'
import { get, post, remove, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { askForNotices, wantsNotices } from '../live/notices.ts'
import { shortPath } from '../format.ts'
import { Button, ErrorLine, Head, Loading } from '../ui/parts.tsx'
import { theme, type Theme } from '../ui/theme.ts'
import { attempt, copy, toast } from '../ui/toast.tsx'
import '../style/settings.css'

export function Settings() {
  return (
    <>
      <Head title="Settings" />
      <div class="content narrow settings">
        <Look />
        <Notices />
        <Connections />
        <Tokens />
        <Found />
      </div>
    </>
  )
}

function Look() {
  const names: [Theme, string][] = [
    ['system', 'Same as the system'],
    ['light', 'Light'],
    ['dark', 'Dark'],
  ]
  return (
    <section class="section">
      <h2>Appearance</h2>
      <fieldset class="inline">
        <legend class="hidden">Appearance</legend>
        {names.map(([name, label]) => (
          <label key={name} class="choice">
            <input type="radio" name="theme" checked={theme.value === name} onChange={() => (theme.value = name)} /> {label}
          </label>
        ))}
      </fieldset>
    </section>
  )
}

function Notices() {
  const turn = async () => {
    if (wantsNotices.value) wantsNotices.value = false
    else if (!(await askForNotices())) toast('The browser does not allow notifications for this address.', true)
  }
  return (
    <section class="section">
      <h2>Notifications</h2>
      <p class="dim">When a session needs you while this page is in the background. Nothing is sent anywhere: the browser shows it itself.</p>
      <Button pressed={wantsNotices.value} onClick={() => void turn()}>
        {wantsNotices.value ? 'On' : 'Turn on'}
      </Button>
    </section>
  )
}

function Connections() {
  const { state, reload } = useResource(signal => get('/api/connections', { signal }), [])
  const found = state.value.data?.connections as Record<string, unknown>[] | undefined
  return (
    <section class="section" id="connections">
      <h2>Connections</h2>
      {state.value.error && <ErrorLine error={state.value.error} retry={reload} />}
      {!found && !state.value.error && <Loading lines={2} />}
      <ul class="list">
        {found?.map(one => (
          <li key={String(one.id)}>
            <b>{String(one.name ?? one.id)}</b>
            <span class={one.status === 'connected' ? 'good' : 'dim'}>{String(one.status ?? '')}</span>
            {typeof one.error === 'string' && one.error && <span class="bad">{one.error}</span>}
          </li>
        ))}
      </ul>
    </section>
  )
}

const SCOPES: Record<Schemas['TokenScope'], string> = { read: 'may read', act: 'may read and start work', admin: 'may do everything' }

function Tokens() {
  const { state, reload } = useResource(signal => get('/api/v1/tokens', { signal }), [])
  const name = useSignal('')
  const scope = useSignal<Schemas['TokenScope']>('act')
  const made = useSignal<string | undefined>(undefined)
  const add = async () => {
    const token = await attempt(() => post('/api/v1/tokens', { body: { name: name.value, scope: scope.value } }))
    if (!token) return
    made.value = `${location.origin}/?token=${token.token}`
    name.value = ''
    reload()
  }
  return (
    <section class="section">
      <h2>Access</h2>
      <p class="dim">
        A link with a token signs another browser in. A phone reaches this address through a tunnel that you trust, or over HTTPS with your certificate; see{' '}
        <code>docs/dashboard.md</code>.
      </p>
      {state.value.error && <ErrorLine error={state.value.error} />}
      <ul class="list">
        {state.value.data?.tokens.map(token => (
          <li key={`${token.name} ${token.created}`}>
            <b>{token.name}</b> <span class="dim">{token.expires ? 'browser' : 'token'} · {SCOPES[token.scope]}</span>
            <span class="grow" />
            <Button kind="quiet" onClick={() => void attempt(() => remove('/api/v1/tokens/{name}', { path: { name: token.name } }), 'Revoked').then(reload)}>
              Revoke
            </Button>
          </li>
        ))}
      </ul>
      <form
        class="inline"
        onSubmit={event => {
          event.preventDefault()
          void add()
        }}
      >
        <input class="field" required pattern="[\w\-]+" aria-label="Name of a new token" placeholder="phone" value={name.value} onInput={event => (name.value = event.currentTarget.value)} />
        <select class="field" aria-label="What it is good for" value={scope.value} onChange={event => (scope.value = event.currentTarget.value as Schemas['TokenScope'])}>
          <option value="read">may read</option>
          <option value="act">may read and start work</option>
          <option value="admin">may do everything</option>
        </select>
        <Button type="submit">Make a link</Button>
      </form>
      {made.value && (
        <p class="made">
          <code>{made.value}</code> <Button onClick={() => void copy(made.value!, 'the link')}>Copy</Button>
          <span class="dim">It is shown this once.</span>
        </p>
      )}
    </section>
  )
}

/** A sentence whose words between backticks are code. */
function InCode({ text }: { text: string }) {
  return <>{text.split('`').map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part))}</>
}

function Found() {
  const { state, reload } = useResource(signal => get('/api/v1/doctor', { signal }), [])
  const report = state.value.data
  return (
    <section class="section">
      <h2>Installation</h2>
      {state.value.error && <ErrorLine error={state.value.error} retry={reload} />}
      {!report && !state.value.error && <Loading lines={3} />}
      {report && (
        <>
          <ul class="list">
            {report.config_folders.map((folder, at) => (
              <li key={at}>
                <code>{shortPath(String((folder as Record<string, unknown>).path ?? ''))}</code>
              </li>
            ))}
          </ul>
          {report.findings.map(finding => (
            <p key={finding.what} class={finding.severity === 'problem' ? 'error' : 'advice-line'}>
              <InCode text={finding.what} /> <span class="dim"><InCode text={finding.next_step ?? ''} /></span>
            </p>
          ))}
          {!report.findings.length && <p class="good">Nothing is wrong.</p>}
        </>
      )}
    </section>
  )
}
