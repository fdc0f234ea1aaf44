// Starts work: Backstory chooses the session that should have it and says why, and the person has the last word.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Failure, get, isCancelled, post, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { money, shortPath } from '../format.ts'
import { go, place, sessionAddress } from '../router.ts'
import { Button, ErrorLine, focusOn, Head } from '../ui/parts.tsx'
import { MODES, MODELS } from './options.ts'
import { Select } from './composer.tsx'
import { reasonFor, reasonOf } from './reason.ts'
import '../style/start.css'

type Pick = Schemas['PickAnswer']
type Run = Schemas['RunRequest']

export function Start() {
  const task = useSignal(place.peek().query.get('task') ?? '')
  const repo = useSignal(place.peek().query.get('repo') ?? '')
  const model = useSignal('')
  const mode = useSignal('')
  const worktree = useSignal(false)
  const choice = useSignal<'advised' | 'fresh' | string>('advised')
  const pick = useSignal<Pick | undefined>(undefined)
  const failure = useSignal<Failure | undefined>(undefined)
  const isStarting = useSignal(false)
  const projects = useResource(signal => get('/api/v1/projects', { signal }), [])
  const all = projects.state.value.data?.projects ?? []
  const directory = repo.value || all[0]?.path || ''
  useEffect(() => {
    pick.value = undefined
    choice.value = 'advised'
    if (task.value.trim().length < 8 || !directory) return
    const controller = new AbortController()
    const timer = setTimeout(() => {
      const body = { task: task.value, repo: directory } as Schemas['PickRequest']
      post('/api/v1/pick', { body, signal: controller.signal })
        .then(answer => (pick.value = answer))
        .catch(error => isCancelled(error) || (pick.value = undefined))
    }, 350)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [task.value, directory])
  const advised = pick.value?.action === 'resume' ? pick.value.session_id : undefined
  const chosen = choice.value === 'advised' ? advised : choice.value === 'fresh' ? undefined : choice.value
  const isBusy = pick.value?.action === 'queue'
  const isQueued = choice.value === 'advised' && isBusy && !worktree.value
  const start = async () => {
    isStarting.value = true
    failure.value = undefined
    try {
      const which = chosen ? { resume: chosen } : { fresh: true }
      const options = { ...(model.value ? { model: model.value } : {}), ...(mode.value ? { permission_mode: mode.value } : {}), ...(worktree.value ? { new_worktree: true } : {}) }
      const started = await post('/api/v1/workers', { body: { task: task.value, repo: directory, ...which, ...options } as Run })
      go(sessionAddress(started.session_id))
    } catch (error) {
      failure.value = error instanceof Failure ? error : new Failure(0, 'internal', String(error))
    } finally {
      isStarting.value = false
    }
  }
  return (
    <>
      <Head title="New session" />
      <form
        class="content narrow start-form"
        onSubmit={event => {
          event.preventDefault()
          if (task.value.trim()) void start()
        }}
      >
        <textarea
          dir="auto"
          ref={focusOn}
          class="field"
          rows={5}
          aria-label="What should be done"
          placeholder="What should be done?"
          value={task.value}
          onInput={event => {
            task.value = event.currentTarget.value
            failure.value = undefined
          }}
          onKeyDown={event => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && task.value.trim()) void start()
          }}
        />
        <div class="start-options">
          <label class="labelled grow">
            Repository
            <input class="field" list="projects" value={repo.value} placeholder={directory} onInput={event => (repo.value = event.currentTarget.value)} />
          </label>
          <datalist id="projects">
            {all.map(project => (
              <option key={project.path} value={project.path}>
                {project.name}
              </option>
            ))}
          </datalist>
          <label class="labelled">
            Model
            <Select label="Model" value={model.value} options={MODELS} onChange={value => (model.value = value)} />
          </label>
          <label class="labelled">
            Permissions
            <Select label="Permissions" value={mode.value} options={MODES} onChange={value => (mode.value = value)} />
          </label>
        </div>
        <label class="check">
          <input type="checkbox" checked={worktree.value} onChange={event => (worktree.value = event.currentTarget.checked)} />
          <span>
            In a new work tree <span class="dim">· a copy of the repository beside it, on a branch of its own{isBusy && !worktree.value && ': starts now, without waiting'}</span>
          </span>
        </label>
        {!pick.value && !failure.value && <p class="dim">Describe the task. Backstory looks for a session that already knows about it, and explains its choice.</p>}
        {pick.value && <Advice pick={pick.value} isApart={worktree.value} choice={choice.value} choose={value => (choice.value = value)} />}
        {failure.value && <ErrorLine error={failure.value} />}
        <div class="start-buttons">
          <Button kind="main" type="submit" icon="play" disabled={!task.value.trim() || isStarting.value}>
            {isStarting.value ? 'Starting…' : chosen ? 'Continue that session' : isQueued ? 'Start when it is free' : isBusy && worktree.value ? 'Start now in a new work tree' : 'Start a fresh session'}
          </Button>
          <span class="dim">
            {worktree.value && !chosen ? 'in a new work tree of' : 'in'} <code>{shortPath(directory)}</code>
            <span class="desk-only">
              {' '}
              · <kbd>Ctrl</kbd> <kbd>Enter</kbd>
            </span>
          </span>
        </div>
      </form>
    </>
  )
}

/** Which session should have the task, and why; each can be taken instead. */
function Advice({ pick, isApart, choice, choose }: { pick: Pick; isApart: boolean; choice: string; choose: (value: string) => void }) {
  const others = pick.scores.filter(one => one.session_id !== pick.session_id).slice(0, 3)
  const isQueue = pick.action === 'queue'
  const busy = pick.title ? `“${pick.title}”` : 'the other session'
  const cost = pick.resume_cost as { usd?: number } | null | undefined
  const radio = (value: string, title: string, note: string) => (
    <label class="choice">
      <input type="radio" name="choice" checked={choice === value} onChange={() => choose(value)} />
      <span>
        {title} {value === 'advised' && <span class="tag">{pick.ask ? 'a little likelier' : 'recommended'}</span>} <span class="dim">{note}</span>
      </span>
    </label>
  )
  return (
    <fieldset class="advice">
      <legend>Which session should do it?</legend>
      {pick.action === 'resume'
        ? radio('advised', `Continue “${pick.title ?? pick.session_id?.slice(0, 8)}”`, [reasonOf(pick), cost?.usd ? `costs ${money(cost.usd)} to resume` : ''].filter(Boolean).join(' · '))
        : isQueue && isApart
          ? radio('advised', 'A fresh session, now', `in a work tree of its own; ${busy} works on in the repository`)
          : radio('advised', isQueue ? `Wait for the session that works there now${pick.title ? `, “${pick.title}”` : ''}` : 'A fresh session', reasonOf(pick))}
      {pick.action === 'resume' && radio('fresh', 'A fresh session', 'knows nothing of what was said before')}
      {others.map(one => radio(one.session_id, `Continue “${one.title ?? one.session_id.slice(0, 8)}”`, reasonFor(one)))}
      {pick.notes.map(note => (
        <p key={note} class="dim">
          {note}
        </p>
      ))}
    </fieldset>
  )
}
