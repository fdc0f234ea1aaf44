// Settings: how it looks, when it calls, who may come in, and what is connected and found.

import { useSignal } from '@preact/signals'
import { get, post, remove, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { isRefused, REFUSED, turnOffNotices, turnOnNotices, wantsNotices } from '../live/notices.ts'
import { now } from '../live/store.ts'
import { dayName, moment, plural, shortPath } from '../format.ts'
import { Button, ErrorLine, Head, Loading, WithCode } from '../ui/parts.tsx'
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
    if (wantsNotices.value) return turnOffNotices()
    const obstacle = await turnOnNotices()
    if (obstacle) toast(obstacle, true)
  }
  return (
    <section class="section">
      <h2>Notifications</h2>
      <p class="dim">When a session needs you while this page is in the background. Nothing is sent anywhere: the browser shows it itself.</p>
      {isRefused.value && <p class="error">{REFUSED}</p>}
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
  if (state.value.error?.status === 403)
    return (
      <section class="section">
        <h2>Access</h2>
        <p class="dim">
          This browser may not see who has access. <WithCode text="`backstory serve link --scope admin` prints a link for one that may do everything." />
        </p>
      </section>
    )
  const { tokens = [], yours } = state.value.data ?? {}
  const all = tokens.map((token, place) => ({ ...token, isHere: place === yours }))
  const names = [...new Set(all.map(token => token.name))]
  return (
    <section class="section">
      <h2>Access</h2>
      <p class="dim">
        A link with a token signs another browser in. A phone reaches this address through a tunnel that you trust, or over HTTPS with your certificate; see{' '}
        <code>docs/dashboard.md</code>.
      </p>
      {state.value.error && <ErrorLine error={state.value.error} />}
      <ul class="list">
        {names.map(name => (
          <Access key={name} name={name} all={all.filter(token => token.name === name)} reload={reload} />
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
          <span class="dim">It is shown only once.</span>
        </p>
      )}
    </section>
  )
}

/** What has come with one name: a token, and the browsers that its link signed in. They end together. */
function Access({ name, all, reload }: { name: string; all: (Schemas['Token'] & { isHere: boolean })[]; reload: () => void }) {
  const browsers = all.filter(token => token.expires).length
  const isHere = all.some(token => token.isHere)
  const revoke = async () => {
    if (isHere && !confirm(`This browser came with “${name}”. Revoke it, and sign this browser out?`)) return
    await attempt(() => remove('/api/v1/tokens/{name}', { path: { name } }), 'Revoked')
    reload()
  }
  return (
    <li>
      <b>{name}</b> <span class="dim">{[...new Set(all.map(token => SCOPES[token.scope]))].join(', ')}</span>
      <span class="grow" />
      <Button kind="quiet" label={`Revoke ${name}${browsers ? `, with ${plural(browsers, 'browser')}` : ''}`} onClick={() => void revoke()}>
        Revoke
      </Button>
      <ul class="token-uses">
        {all.map(token => (
          <li key={token.created}>
            {token.expires ? `Browser, signed in ${moment(token.created)}, until ${moment(token.expires)}` : `Link made ${moment(token.created)}`}
            {token.isHere ? <span class="tag own">this browser</span> : <LastUse at={token.last_used} />}
          </li>
        ))}
      </ul>
    </li>
  )
}

/** The day on which a token was last used. */
function LastUse({ at }: { at: string | null }) {
  return <span title={at ? moment(at) : undefined}> · {at ? `last used ${inSentence(dayName(Date.parse(at), now.value))}` : 'never used'}</span>
}

/** `Today` within a sentence; other days are names. */
function inSentence(day: string): string {
  return /^(Today|Yesterday)$/.test(day) ? day.toLowerCase() : day
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
              <WithCode text={finding.what} /> <span class="dim next-step"><WithCode text={finding.next_step ?? ''} /></span>
            </p>
          ))}
          {!report.findings.length && <p class="good">Nothing is wrong.</p>}
        </>
      )}
    </section>
  )
}
