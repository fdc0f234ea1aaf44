// Workers: the processes of Claude Code that Backstory started, what they do, and what stops them.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { get, remove, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { money } from '../format.ts'
import { rowsById, version } from '../live/store.ts'
import type { State } from '../live/fold.ts'
import { Age, Button, Empty, ErrorLine, Head, Loading } from '../ui/parts.tsx'
import { StateSign } from '../ui/sign.tsx'
import { attempt } from '../ui/toast.tsx'
import '../style/workers.css'

type Worker = Schemas['WorkersAnswer']['workers'][number]

const STATES: Record<Worker['status'], [State, string]> = {
  queued: ['idle', 'waits for the directory'],
  starting: ['thinking', 'starting'],
  running: ['thinking', 'working'],
  waiting_permission: ['waiting_permission', 'needs you'],
  idle: ['waiting_input', 'your turn'],
  finished: ['ended', 'finished'],
  stopped: ['ended', 'stopped'],
  failed: ['failed', 'failed'],
  lost: ['lost', 'process lost'],
}

export function Workers() {
  const { state, reload } = useResource(signal => get('/api/v1/workers', { signal }), [])
  const showsEnded = useSignal(false)
  // What changes for a session may have changed its worker.
  useEffect(() => {
    const timer = setTimeout(reload, 800)
    return () => clearTimeout(timer)
  }, [version.value])
  const all = state.value.data?.workers
  const live = all?.filter(worker => !hasEnded(worker)) ?? []
  const ended = all?.filter(hasEnded) ?? []
  const shown = showsEnded.value ? [...live, ...ended] : live
  return (
    <>
      <Head title="Workers" note="Claude Code processes that Backstory started">
        {ended.length > 0 && (
          <Button pressed={showsEnded.value} onClick={() => (showsEnded.value = !showsEnded.value)}>
            {ended.length} ended
          </Button>
        )}
        <a class="button main" href="/new">
          New session
        </a>
      </Head>
      <div class="content">
        {state.value.error && <ErrorLine error={state.value.error} retry={reload} />}
        {!all && !state.value.error && <Loading lines={5} />}
        {all && !shown.length && (
          <Empty title="No worker runs">
            A worker is a session that Backstory runs for you, here or by <code>backstory run "mend the gate"</code>. It goes on when this page is closed, and what it
            asks is answered on Home. <a href="/new">Start one</a>.
          </Empty>
        )}
        {shown.length > 0 && (
          <div role="table" aria-label="Workers" class="workers">
            <div role="row" class="worker heads">
              {['State', 'Task', 'Model', 'Process', 'Asked by', 'Cost', 'Started', ''].map(name => (
                <span key={name} role="columnheader">
                  {name}
                </span>
              ))}
            </div>
            {shown.map(worker => (
              <WorkerRow key={worker.worker} worker={worker} reload={reload} />
            ))}
          </div>
        )}
      </div>
    </>
  )
}

function WorkerRow({ worker, reload }: { worker: Worker; reload: () => void }) {
  const [state, words] = STATES[worker.status]
  const isStopping = useSignal(false)
  const title = rowsById.value.get(worker.session_id)?.title ?? worker.task.split('\n')[0]!
  const stop = async () => {
    isStopping.value = true
    await attempt(async () => (await remove('/api/v1/workers/{worker}', { path: { worker: worker.worker } }), true), `Stopped ${title}`)
    isStopping.value = false
    reload()
  }
  return (
    <div role="row" class="worker">
      <span role="cell">
        <StateSign state={state} title={words} /> <span class="worker-state">{words}</span>
      </span>
      <span role="cell" class="worker-task">
        <a href={`/s/${worker.session_id}`} title={worker.task} dir="auto">
          {title}
        </a>
        <span class="dim" title={worker.directory}>
          {worker.directory.split('/').pop()}
        </span>
      </span>
      <span role="cell">{worker.model ?? ''}</span>
      <span role="cell">{worker.pid ?? ''}</span>
      <span role="cell">{worker.agent_id ?? 'you'}</span>
      <span role="cell">{worker.cost_usd ? money(worker.cost_usd, true) : ''}</span>
      <span role="cell">
        <Age at={worker.started ? Date.parse(worker.started) : Date.parse(worker.created)} />
      </span>
      <span role="cell">
        {!hasEnded(worker) && (
          <Button disabled={isStopping.value} label={`Stop ${title}`} onClick={() => void stop()}>
            Stop
          </Button>
        )}
      </span>
    </div>
  )
}

function hasEnded({ status }: Worker): boolean {
  return status === 'finished' || status === 'stopped' || status === 'failed' || status === 'lost'
}
