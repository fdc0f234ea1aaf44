// The schedule: jobs, when they are due, how they went, and a form for new ones.

import { useSignal } from '@preact/signals'
import { get, patch, post, remove, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { duration, money, shortPath } from '../format.ts'
import { now } from '../live/store.ts'
import { Select } from '../chat/composer.tsx'
import { MODELS, MODES } from '../chat/options.ts'
import { Age, Button, Empty, ErrorLine, focusOn, Head, Loading } from '../ui/parts.tsx'
import { attempt, toast } from '../ui/toast.tsx'
import { changedSchedule, scheduleBody, scheduleInWords, whenOf, type When } from './schedule.ts'
import '../style/settings.css'
import '../style/cron.css'

type Job = Schemas['CronJob']

export function Cron() {
  const jobs = useResource(signal => get('/api/v1/cron/jobs', { signal }), [])
  const history = useResource(signal => get('/api/v1/cron/history', { query: { limit: 40 }, signal }), [])
  const isAdding = useSignal(false)
  const reload = () => {
    jobs.reload()
    history.reload()
  }
  const found = jobs.state.value.data
  return (
    <>
      <Head title="Schedule" note={found && (found.daemon ? 'Jobs run while this server is running' : 'Nothing is running jobs right now')}>
        <Button kind="main" icon="plus" onClick={() => (isAdding.value = !isAdding.value)}>
          New job
        </Button>
      </Head>
      <div class="content narrow">
        {jobs.state.value.error && <ErrorLine error={jobs.state.value.error} retry={reload} />}
        {!found && !jobs.state.value.error && <Loading lines={5} />}
        {isAdding.value && (
          <JobForm
            done={() => {
              isAdding.value = false
              reload()
            }}
            cancel={() => (isAdding.value = false)}
          />
        )}
        {found && !found.jobs.length && !isAdding.value && (
          <Empty title="No jobs">A job gives a session a task at set times: tests every night, a summary every Friday.</Empty>
        )}
        <ul class="jobs">
          {found?.jobs.map(job => (
            <JobRow key={job.id} job={job} reload={reload} />
          ))}
        </ul>
        {(history.state.value.data?.runs.length ?? 0) > 0 && (
          <section class="section">
            <h2>Recent runs</h2>
            <table>
              <thead>
                <tr>
                  <th>Job</th>
                  <th>Outcome</th>
                  <th class="number">Cost</th>
                  <th class="number">When</th>
                </tr>
              </thead>
              <tbody>
                {history.state.value.data!.runs.map((run, at) => (
                  <RunRow key={at} run={run as unknown as Record<string, unknown>} />
                ))}
              </tbody>
            </table>
          </section>
        )}
      </div>
    </>
  )
}

function JobRow({ job, reload }: { job: Job; reload: () => void }) {
  const does = (work: () => Promise<unknown>, done: string) => () => void attempt(work, done).then(reload)
  const path = { job: job.name }
  const isEdited = useSignal(false)
  const close = () => (isEdited.value = false)
  if (isEdited.value) {
    return (
      <li>
        <JobForm job={job} done={() => (close(), reload())} cancel={close} />
      </li>
    )
  }
  return (
    <li class={job.enabled ? 'job' : 'job off'}>
      <div class="job-head">
        <b>{job.name}</b>
        <span class="tag">{scheduleInWords(job.schedule)}</span>
        <span class="dim">{shortPath(job.directory)}</span>
        <span class="grow" />
        {job.enabled && job.next && <span class="dim">next in {duration(Math.max(0, Date.parse(job.next) - now.value))}</span>}
        {!job.enabled && <span class="dim">off</span>}
      </div>
      <p class="job-task">{taskOf(job)}</p>
      <div class="inline">
        <Button onClick={does(() => post('/api/v1/cron/jobs/{job}/run', { path }), 'Started')}>Run now</Button>
        {job.enabled ? (
          <Button onClick={does(() => post('/api/v1/cron/jobs/{job}/disable', { path }), 'Switched off')}>Switch off</Button>
        ) : (
          <Button onClick={does(() => post('/api/v1/cron/jobs/{job}/enable', { path }), 'Switched on')}>Switch on</Button>
        )}
        <Button onClick={() => (isEdited.value = true)}>Change</Button>
        <Button kind="danger" onClick={() => confirm(`Remove the job ${job.name}?`) && does(() => remove('/api/v1/cron/jobs/{job}', { path }), 'Removed')()}>
          Remove
        </Button>
        {job.last_run && <LastRun run={job.last_run as unknown as Record<string, unknown>} />}
      </div>
    </li>
  )
}

function taskOf({ payload }: Job): string {
  return payload.kind === 'agent_turn' ? payload.message : payload.text
}

function LastRun({ run }: { run: Record<string, unknown> }) {
  const session = typeof run.session_id === 'string' ? run.session_id : undefined
  const word = run.status === 'over' ? String(run.outcome) : String(run.status)
  return (
    <span class="dim">
      last: {session ? <a href={`/s/${session}`}>{word}</a> : word}
    </span>
  )
}

function RunRow({ run }: { run: Record<string, unknown> }) {
  const session = typeof run.session_id === 'string' ? run.session_id : undefined
  const when = run.ended ?? run.since ?? run.started ?? run.due
  return (
    <tr>
      <td>{String(run.name ?? run.job ?? '')}</td>
      <td>
        {session ? <a href={`/s/${session}`}>{String(run.outcome ?? run.status)}</a> : String(run.outcome ?? run.status)} <span class="dim">{String(run.message ?? '')}</span>
      </td>
      <td class="number" title="As Claude Code says">
        {typeof run.cost_usd === 'number' ? money(run.cost_usd, true) : ''}
      </td>
      <td class="number">
        <Age at={typeof when === 'string' ? Date.parse(when) : undefined} />
      </td>
    </tr>
  )
}

const NIGHTLY: When = { kind: 'daily', time: '04:00', weekday: '1', every: '1h', cron: '0 4 * * *', at: '' }

/** A new job, or what is changed in one: its history stays, and so do its permissions and its budget. */
function JobForm({ job, done, cancel }: { job?: Job; done: () => void; cancel: () => void }) {
  const turn = job?.payload.kind === 'agent_turn' ? job.payload : undefined
  const before = job ? whenOf(job.schedule, NIGHTLY) : NIGHTLY
  const fields = useSignal({ name: job?.name ?? '', task: job ? taskOf(job) : '', directory: job?.directory ?? '', model: turn?.model ?? '', permission_mode: '', budget: '' })
  const when = useSignal<When>(before)
  const projects = useResource(signal => get('/api/v1/projects', { signal }), [])
  const set = (name: string) => (event: { currentTarget: { value: string } }) => (fields.value = { ...fields.value, [name]: event.currentTarget.value })
  const setWhen = (name: string) => (event: { currentTarget: { value: string } }) => (when.value = { ...when.value, [name]: event.currentTarget.value } as When)
  const change = async () => {
    const { name, task, directory, model } = fields.value
    const payload = turn ? { kind: 'agentTurn', message: task, model: model || null, thinking: turn.thinking, timeoutSeconds: turn.timeout_seconds } : { kind: 'systemEvent', text: task }
    const isMoved = JSON.stringify(when.value) !== JSON.stringify(before)
    const schedule = isMoved ? changedSchedule(when.value) : undefined
    if (isMoved && !schedule) return void toast(`“${when.value.every}” is no span; write 30m, 2h or 1d`, true)
    const body = { payload, ...(name === job!.name ? {} : { name }), ...(directory === job!.directory ? {} : { directory }), ...(schedule ? { schedule } : {}) }
    if (await attempt(async () => (await patch('/api/cron/jobs/{job}', { path: { job: job!.name }, body }), true), 'Changed')) done()
  }
  const save = async () => {
    if (job) return change()
    const { name, task, directory, model, permission_mode, budget } = fields.value
    const optional = { ...(model ? { model } : {}), ...(permission_mode ? { permission_mode } : {}), ...(budget ? { budget_usd: Number(budget) } : {}) }
    const body = { name, task, directory: directory || projects.state.value.data?.projects[0]?.path, ...scheduleBody(when.value), ...optional }
    if (await attempt(async () => (await post('/api/v1/cron/jobs', { body: body as never }), true), 'Added')) done()
  }
  return (
    <form
      class="card job-form"
      aria-label={job ? `Change ${job.name}` : 'New job'}
      onSubmit={event => {
        event.preventDefault()
        void save()
      }}
    >
      <label class="labelled">
        Name
        <input class="field" required ref={focusOn} value={fields.value.name} onInput={set('name')} placeholder="nightly-tests" />
      </label>
      <label class="labelled wide">
        Task
        <textarea class="field" required rows={3} value={fields.value.task} onInput={set('task')} placeholder="Run the tests and fix what fails" />
      </label>
      <label class="labelled wide">
        Directory
        <input class="field" list="job-projects" value={fields.value.directory} onInput={set('directory')} placeholder={projects.state.value.data?.projects[0]?.path} />
        <datalist id="job-projects">
          {projects.state.value.data?.projects.map(project => (
            <option key={project.path} value={project.path} />
          ))}
        </datalist>
      </label>
      <label class="labelled">
        When
        <select class="field" value={when.value.kind} onChange={setWhen('kind')}>
          <option value="daily">Every day</option>
          <option value="weekly">Every week</option>
          <option value="every">At an interval</option>
          <option value="once">Once</option>
          <option value="cron">Cron expression</option>
        </select>
      </label>
      {when.value.kind === 'weekly' && (
        <label class="labelled">
          Day
          <select class="field" value={when.value.weekday} onChange={setWhen('weekday')}>
            {['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'].map((name, at) => (
              <option key={name} value={at}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {(when.value.kind === 'daily' || when.value.kind === 'weekly') && (
        <label class="labelled">
          Time
          <input class="field" type="time" required value={when.value.time} onInput={setWhen('time')} />
        </label>
      )}
      {when.value.kind === 'every' && (
        <label class="labelled">
          Every
          <input class="field" required value={when.value.every} onInput={setWhen('every')} placeholder="30m, 2h, 1d" />
        </label>
      )}
      {when.value.kind === 'once' && (
        <label class="labelled">
          At
          <input class="field" type="datetime-local" required value={when.value.at} onInput={setWhen('at')} />
        </label>
      )}
      {when.value.kind === 'cron' && (
        <label class="labelled">
          Expression
          <input class="field" required value={when.value.cron} onInput={setWhen('cron')} />
        </label>
      )}
      <label class="labelled">
        Model
        <Select label="Model" value={fields.value.model} options={MODELS} onChange={value => (fields.value = { ...fields.value, model: value })} />
      </label>
      {!job && (
        <>
          <label class="labelled">
            Permissions
            <Select label="Permissions" value={fields.value.permission_mode} options={MODES} onChange={value => (fields.value = { ...fields.value, permission_mode: value })} />
          </label>
          <label class="labelled">
            At most, in US dollars
            <input class="field" type="number" min="0" step="0.01" value={fields.value.budget} onInput={set('budget')} />
          </label>
        </>
      )}
      <div class="inline wide">
        <Button kind="main" type="submit">
          {job ? 'Save' : 'Add the job'}
        </Button>
        <Button kind="quiet" onClick={cancel}>
          Cancel
        </Button>
      </div>
    </form>
  )
}
