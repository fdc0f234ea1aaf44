// The world: a room for each project, an agent for each session, in three dimensions or in two, now or on another day.

import { useComputed, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Failure, get } from '../api/client.ts'
import { isoDay } from '../format.ts'
import { bind } from '../keys.ts'
import { inWords, type State } from '../live/fold.ts'
import { kept } from '../live/kept.ts'
import { needing, now, sessions, version } from '../live/store.ts'
import { go, place, sessionAddress, setQuery } from '../router.ts'
import { Button, ErrorLine, StateDot } from '../ui/parts.tsx'
import { theme } from '../ui/theme.ts'
import { actorsOf } from './actors.ts'
import { ReplayBar } from './bar.tsx'
import { emptyWorld, scene, sync } from './crew.ts'
import type { Engine } from './engine.ts'
import { Flat } from './flat.tsx'
import { offerHook } from './hook.ts'
import { Playing } from './playing.ts'
import { hasWebGl, prefersStill } from './probe.ts'
import type { Actor, Agent } from './types.ts'
import '../style/world.css'

/** `auto` is 3D, unless the browser cannot or the person wants less motion. */
const view = kept<'auto' | '3d' | '2d'>('world.view', 'auto')

export function World() {
  const isLost = useSignal(false)
  const staged = useSignal<Actor[] | undefined>(undefined)
  const replayed = useSignal<{ actors: Actor[]; at: number } | undefined>(undefined)
  const engine = useRef<Engine | undefined>(undefined)
  const chosen = useSignal<Agent | undefined>(undefined)
  const playing = useSignal<Playing | undefined>(undefined)
  const failure = useSignal<string | undefined>(undefined)
  const is3d = hasWebGl() && !isLost.value && (view.value === '3d' || (view.value === 'auto' && !prefersStill()))
  const actors = useComputed(() => staged.value ?? replayed.value?.actors ?? (void version.value, actorsOf(sessions.value)))
  const at = useComputed(() => (staged.value ? Date.now() : (replayed.value?.at ?? now.value)))

  useReplay(playing, replayed, failure)
  useSignalEffect(() => {
    // Read first: what is not read while there is no engine yet would not be followed.
    const [shown, then] = [actors.value, at.value]
    engine.current?.show(shown, then)
    if (replayed.value) engine.current?.setHour(new Date(at.value).getHours() + new Date(at.value).getMinutes() / 60)
  })
  useEffect(() => offerHook(() => engine.current, value => (staged.value = value)), [])
  useKeys(engine, playing)

  const flat = useComputed(() => {
    const world = emptyWorld()
    sync(world, actors.value, at.value)
    return scene(world)
  })
  const byId = useComputed(() => new Map(actors.value.map(actor => [actor.id, actor])))
  const isComing = place.value.query.has('replay') && !playing.value && !failure.value
  const waits = flat.value.agents.filter(agent => agent.state === 'waiting_permission').length
  return (
    <div class={playing.value ? 'world replaying' : 'world'}>
      <h1 class="hidden">World</h1>
      {is3d ? (
        <Scene
          engine={engine}
          summary={`${flat.value.agents.length} agents in ${flat.value.rooms.length} rooms, ${waits} waiting for you`}
          ready={made => made.show(actors.peek(), at.peek())}
          choose={agent => (chosen.value = agent)}
          lost={() => (isLost.value = true)}
        />
      ) : (
        <Flat rooms={flat.value.rooms} agents={flat.value.agents} actors={byId.value} />
      )}
      {is3d && (isComing || !flat.value.rooms.length) && (
        <div class="world-empty card">
          {isComing ? (
            <p role="status">The day is being read…</p>
          ) : (
            <>
              <p>Nobody is here now. Sessions come in when they do something.</p>
              <button type="button" class="button" onClick={() => setQuery({ replay: 'latest' })}>
                Play the last day
              </button>
            </>
          )}
        </div>
      )}
      <div class="world-tools">
        {isLost.value && (
          <span class="card world-note">
            The graphics card was lost. <Button onClick={() => (isLost.value = false)}>Try again</Button>
          </span>
        )}
        {waits > 0 && is3d && (
          <Button kind="danger" onClick={() => visitWaiting(engine.current)}>
            {waits} waiting · fly there
          </Button>
        )}
        <ReplayMenu shown={playing.value?.replay.since} />
        {is3d && <Button label="Show all rooms" keys="0" icon="world" onClick={() => engine.current?.showAll()} />}
        <Button pressed={!is3d} disabled={!hasWebGl()} onClick={() => (view.value = is3d ? '2d' : '3d')}>
          {is3d ? 'List' : '3D'}
        </Button>
      </div>
      {is3d && flat.value.rooms.length > 0 && <Legend />}
      {chosen.value && is3d && <Card agent={chosen.value} actor={byId.value.get(chosen.value.session)} close={() => (chosen.value = undefined)} />}
      {playing.value && <ReplayBar playing={playing.value} close={() => setQuery({ replay: undefined, session: undefined })} />}
      {failure.value && (
        <div class="world-failure">
          <ErrorLine error={{ message: failure.value }} />
        </div>
      )}
      <p class="hidden" role="status" aria-live="polite">
        {needing.value.length > 0 && `${needing.value.length} sessions need you`}
      </p>
    </div>
  )
}

interface SceneProps {
  engine: { current: Engine | undefined }
  summary: string
  ready: (engine: Engine) => void
  choose: (agent: Agent | undefined) => void
  lost: () => void
}

function Scene({ engine, summary, ready, choose, lost }: SceneProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const labels = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let isGone = false
    void import('./engine.ts').then(({ Engine }) => {
      if (isGone || !canvas.current || !labels.current) return
      const open = (agent: Agent) => choose(agent)
      try {
        engine.current = new Engine(canvas.current, labels.current, { choose, open, lost, back: () => {} }, prefersStill())
      } catch {
        return lost()
      }
      engine.current.setNight(document.documentElement.dataset.theme === 'dark')
      ready(engine.current)
    })
    return () => {
      isGone = true
      engine.current?.dispose()
      engine.current = undefined
    }
  }, [])
  useEffect(() => {
    const watcher = new MutationObserver(() => engine.current?.setNight(document.documentElement.dataset.theme === 'dark'))
    watcher.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => watcher.disconnect()
  }, [theme.value])
  return (
    <div class="scene">
      <canvas ref={canvas} role="img" aria-label={`The office: ${summary}. [ and ] go from agent to agent, o opens one, 2 shows a list.`} tabIndex={0} />
      <div ref={labels} class="labels" aria-hidden="true" />
    </div>
  )
}

function Card({ agent, actor, close }: { agent: Agent; actor: Actor | undefined; close: () => void }) {
  const state: State = actor?.state ?? agent.state
  return (
    <aside class="agent-card card" aria-label={agent.name} aria-live="polite">
      <header>
        <StateDot state={state} />
        <b>{agent.name}</b>
        <Button kind="quiet" icon="close" label="Close" onClick={close} />
      </header>
      <p class="dim">{agent.room}</p>
      <p>{inWords({ state, ...(actor?.detail ? { detail: actor.detail } : {}) })}</p>
      {(actor?.subagents.length ?? 0) > 0 && (
        <ul class="flat-subs">
          {actor!.subagents.map(sub => (
            <li key={sub.id}>{sub.name}</li>
          ))}
        </ul>
      )}
      <a class="button main" href={sessionAddress(agent.session, agent.uuid)}>
        Open {agent.uuid ? 'at this moment' : 'the session'}
      </a>
    </aside>
  )
}

/** What the colours mean. */
function Legend() {
  const entries = [
    ['waiting', 'needs you'],
    ['idle', 'your turn'],
    ['active', 'works'],
    ['supervising', 'has sub-agents at work'],
    ['sleeping', 'idle'],
  ] as const
  return (
    <ul class="world-legend" aria-label="Colours">
      {entries.map(([look, what]) => (
        <li key={look}>
          <i class={`look-${look}`} /> {what}
        </li>
      ))}
    </ul>
  )
}

/** Chooses a day to play; `shown` is the moment at which the one that plays begins. */
function ReplayMenu({ shown }: { shown: number | undefined }) {
  const named = place.value.query.get('replay') ?? ''
  const value = shown === undefined ? named : isoDay(shown)
  return (
    <label class="replay-day">
      Replay
      <input class="field" type="date" aria-label="Replay a day" max={isoDay(Date.now())} value={/^\d{4}-\d\d-\d\d$/.test(value) ? value : ''} onChange={event => setQuery({ replay: event.currentTarget.value || undefined, session: undefined })} />
    </label>
  )
}

/** Loads the day that the address names, and plays it. */
function useReplay(playing: { value: Playing | undefined; peek: () => Playing | undefined }, replayed: { value: { actors: Actor[]; at: number } | undefined }, failure: { value: string | undefined }) {
  const { query } = place.value
  const wanted = query.get('replay')
  const session = query.get('session') ?? undefined
  useEffect(() => {
    failure.value = undefined
    if (!wanted) return
    const controller = new AbortController()
    void load(wanted, session, controller.signal)
      .then(day => {
        if (!day.changes.length) return void (failure.value = 'No session did anything in that time.')
        playing.value = new Playing(day, (actors, at) => (replayed.value = { actors, at }))
      })
      .catch(error => {
        if (!controller.signal.aborted) failure.value = error instanceof Failure ? error.message : String(error)
      })
    return () => {
      controller.abort()
      playing.peek()?.close()
      playing.value = undefined
      replayed.value = undefined
    }
  }, [wanted, session])
}

async function load(wanted: string, session: string | undefined, signal: AbortSignal) {
  let since = wanted
  if (wanted === 'latest') {
    const { rows } = await get('/api/v1/rows', { signal })
    const last = rows.reduce((latest, row) => Math.max(latest, row.last ?? 0), 0)
    since = new Date(new Date(last || Date.now()).setHours(0, 0, 0, 0)).toISOString()
  } else if (/^\d{4}-\d\d-\d\d$/.test(wanted)) since = new Date(`${wanted}T00:00:00`).toISOString()
  const long = session ? { until: new Date(Date.parse(since) + 7 * 86_400_000).toISOString(), session } : {}
  return get('/api/v1/replay', { query: { since, ...long } as never, signal })
}

function visitWaiting(engine: Engine | undefined): void {
  const agent = engine?.next(one => one.state === 'waiting_permission')
  if (agent) engine!.visit(agent)
}

function useKeys(engine: { current: Engine | undefined }, playing: { peek: () => Playing | undefined }): void {
  const bindings = useMemo(() => {
    const move = (right: number, forward: number) => () => engine.current?.pan(right, forward)
    const visit = (by: number) => () => {
      const agent = engine.current?.next(() => true, by)
      if (agent) engine.current!.visit(agent)
    }
    const open = () => {
      const agent = engine.current?.world.agents.get(engine.current.chosen ?? '')
      if (agent) go(sessionAddress(agent.session, agent.uuid))
    }
    return [
      { keys: 'w, up', what: 'Forward', run: move(0, 1) },
      { keys: 's, down', what: 'Back', run: move(0, -1) },
      { keys: 'a, left', what: 'Left', run: move(-1, 0) },
      { keys: 'd, right', what: 'Right', run: move(1, 0) },
      { keys: '+, =', what: 'Nearer', run: () => engine.current?.zoom(0.8) },
      { keys: '-', what: 'Farther', run: () => engine.current?.zoom(1.25) },
      { keys: '0', what: 'Show all rooms', run: () => engine.current?.showAll() },
      { keys: ']', what: 'Next agent', run: visit(1) },
      { keys: '[', what: 'Previous agent', run: visit(-1) },
      { keys: 'o', what: 'Open the agent’s session', run: open },
      { keys: 'v', what: 'Fly to the next one that waits', run: () => visitWaiting(engine.current) },
      { keys: '2', what: 'List instead of 3D', run: () => (view.value = '2d') },
      { keys: '3', what: '3D', run: () => (view.value = '3d') },
      { keys: ' ', what: 'Play or pause', run: () => togglePlay(playing.peek()) },
      { keys: 'escape', what: 'Back to now', run: () => setQuery({ replay: undefined, session: undefined }) },
    ]
  }, [])
  useEffect(() => bind('World', bindings), [])
}

function togglePlay(playing: Playing | undefined): void {
  if (playing) playing.isPlaying.value = !playing.isPlaying.peek()
}
