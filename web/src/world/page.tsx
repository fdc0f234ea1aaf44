// The world: a room for each project, an agent for each session, in three dimensions, as a map or as a list, now or on another day.

import { useComputed, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { isoDay, plural } from '../format.ts'
import { persisted } from '../live/persisted.ts'
import { needing, now, present, rows } from '../live/store.ts'
import { place, setQuery } from '../router.ts'
import { Icon } from '../ui/icons.tsx'
import { Broken, loaded } from '../ui/loaded.tsx'
import { fetchModule } from '../ui/module.ts'
import { Button, ErrorLine } from '../ui/parts.tsx'
import { theme } from '../ui/theme.ts'
import { actorsOf } from './actors.ts'
import { Card } from './card.tsx'
import { emptyWorld, isPresent, removeLeaving, scene, sync } from './crew.ts'
import { useReplay, type Missing, type Moment } from './day.ts'
import type { Engine } from './engine.ts'
import { Flat } from './flat.tsx'
import { offerHook } from './hook.ts'
import type { Playing } from './playing.ts'
import { hasWebGl, prefersReducedMotion } from './probe.ts'
import { useShortcuts, visitSession, visitWaiting, type View } from './shortcuts.ts'
import type { Actor, Agent } from './types.ts'
import '../style/world.css'

const ReplayBar = loaded(() => import('./bar.tsx'), 'ReplayBar', { waiting: () => null })
const Scene = loaded(
  async () => {
    const { Engine } = await fetchModule(() => import('./engine.ts'))
    return { Scene: (props: SceneProps) => <Canvas {...props} create={(...parts) => new Engine(...parts)} /> }
  },
  'Scene',
  {
    waiting: () => <div class="scene" />,
    failed: ({ again }) => (
      <div class="world-failure">
        <Broken again={again} />
      </div>
    ),
  },
)

const FloorPlan = loaded(() => import('./map.tsx'), 'FloorPlan', { waiting: () => <div class="scene" /> })

/** What the person chose; `auto` is 3D, unless the browser cannot or the person wants less motion. */
const chosenView = persisted<'auto' | View>('world.view', 'auto')

export function World() {
  const isLost = useSignal(false)
  const staged = useSignal<Actor[] | undefined>(undefined)
  const replayed = useSignal<Moment | undefined>(undefined)
  const engine = useRef<Engine | undefined>(undefined)
  const chosen = useSignal<Agent | undefined>(undefined)
  const playing = useSignal<Playing | undefined>(undefined)
  const failure = useSignal<Missing | undefined>(undefined)
  const tries = useSignal(0)
  const canBe3d = hasWebGl() && !isLost.value
  const wants3d = chosenView.value === '3d' || (chosenView.value === 'auto' && !prefersReducedMotion())
  const view: View = chosenView.value === 'list' ? 'list' : canBe3d && wants3d ? '3d' : 'map'
  const is3d = view === '3d'
  const show = (wanted: View) => {
    isLost.value = false
    chosenView.value = wanted
  }
  const actors = useComputed(() => staged.value ?? replayed.value?.actors ?? actorsOf(present.value, session => needing.value.includes(session)))
  const byId = useComputed(() => new Map(actors.value.map(actor => [actor.id, actor])))
  const at = useComputed(() => (staged.value ? Date.now() : (replayed.value?.at ?? now.value)))

  useReplay(playing, replayed, failure, tries.value)
  useSignalEffect(() => {
    // Read first: a signal that is not read while there is no engine would not be followed.
    const [shown, then] = [actors.value, at.value]
    engine.current?.show(shown, then)
    if (replayed.value) engine.current?.setHour(new Date(at.value).getHours() + new Date(at.value).getMinutes() / 60)
  })
  useEffect(() => offerHook(() => engine.current, value => (staged.value = value)), [])
  const leave = () => {
    if (engine.current) engine.current.choose(undefined)
    else chosen.value = undefined
  }
  // The card closes when its agent leaves.
  useSignalEffect(() => {
    if (chosen.value && !isHere(chosen.value, byId.value.get(chosen.value.session), at.value)) leave()
  })
  const back = () => (chosen.peek() && engine.current ? leave() : setQuery({ replay: undefined, session: undefined }))
  useShortcuts({ view, show, engine, playing, back })

  // One world that lasts, so that agents keep their desks.
  const still = useMemo(() => emptyWorld(), [])
  const flat = useComputed(() => {
    sync(still, actors.value, at.value)
    removeLeaving(still)
    return scene(still)
  })
  const isComing = place.value.query.has('replay') && !playing.value && !failure.value
  const isNobody = !flat.value.rooms.length && (!playing.value || !is3d)
  const waits = flat.value.agents.filter(agent => agent.state === 'waiting_permission').length
  return (
    <div class={`world${is3d ? '' : ' is-flat'}${playing.value ? ' replaying' : ''}`}>
      <h1 class="hidden">World</h1>
      <div class="world-tools">
        {isLost.value && (
          <span class="card world-note">
            The graphics card was lost. <Button onClick={() => (isLost.value = false)}>Try again</Button>
          </span>
        )}
        {waits > 0 && (
          <Button kind="danger" label={`${waits} waiting: go to the next one`} keys="v" onClick={() => visitWaiting(engine.current)}>
            {waits} waiting
          </Button>
        )}
        <ReplayMenu shown={playing.value?.replay.since} />
        {is3d && <Button label="Show all rooms" keys="0" icon="world" onClick={() => engine.current?.showAll()} />}
        <div class="segments" role="group" aria-label="Show as">
          {VIEWS.map(([name, label]) => (
            <button key={name} type="button" aria-pressed={view === name} disabled={name === '3d' && !hasWebGl()} onClick={() => show(name)}>
              {label}
            </button>
          ))}
        </div>
      </div>
      {is3d ? (
        <Scene
          engine={engine}
          summary={`${flat.value.agents.length} agents in ${flat.value.rooms.length} rooms, ${waits} waiting for you`}
          ready={made => made.show(actors.peek(), at.peek())}
          choose={agent => (chosen.value = agent)}
          lost={() => (isLost.value = true)}
        />
      ) : (
        <div class="world-plan">
          {view === 'map' ? (
            <FloorPlan rooms={flat.value.rooms} agents={flat.value.agents} actors={byId.value} />
          ) : (
            <Flat rooms={flat.value.rooms} agents={flat.value.agents} actors={byId.value} />
          )}
          {view === 'map' && flat.value.rooms.length > 0 && <Legend />}
        </div>
      )}
      {(isComing || isNobody) && <Nobody isComing={isComing} obstacle={playing.value ? 'Nobody is here at this moment.' : failure.value?.isEmpty ? failure.value.message : undefined} />}
      {is3d && flat.value.rooms.length > 0 && <Legend />}
      {chosen.value && is3d && <Card agent={chosen.value} room={flat.value.rooms.find(room => room.key === chosen.value!.room)?.name} actor={byId.value.get(chosen.value.session)} close={leave} />}
      {playing.value && (
        <ReplayBar playing={playing.value} close={() => setQuery({ replay: undefined, session: undefined })} />
      )}
      {failure.value && !(failure.value.isEmpty && isNobody) && (
        <div class="world-failure">
          <ErrorLine error={failure.value} {...(failure.value.isEmpty ? {} : { retry: () => void tries.value++ })} />
        </div>
      )}
      <p class="hidden" role="status" aria-live="polite">
        {needing.value.length > 0 && `${plural(needing.value.length, 'session')} ${needing.value.length === 1 ? 'needs' : 'need'} you`}
      </p>
    </div>
  )
}

const VIEWS: [View, string][] = [
  ['3d', '3D'],
  ['map', 'Map'],
  ['list', 'List'],
]

interface SceneProps {
  engine: { current: Engine | undefined }
  summary: string
  ready: (engine: Engine) => void
  choose: (agent: Agent | undefined) => void
  lost: () => void
}

function Canvas({ engine, summary, ready, choose, lost, create }: SceneProps & { create: (...parts: ConstructorParameters<typeof Engine>) => Engine }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const labels = useRef<HTMLDivElement>(null)
  useEffect(() => {
    try {
      engine.current = create(canvas.current!, labels.current!, { choose, open: visitSession, lost, back: () => {} }, prefersReducedMotion())
    } catch {
      return lost()
    }
    engine.current.setNight(document.documentElement.dataset.theme === 'dark')
    ready(engine.current)
    return () => {
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
      <canvas ref={canvas} role="img" aria-label={`The office: ${summary}. [ and ] go from agent to agent, Enter opens one, 2 shows a map and 1 a list.`} tabIndex={0} />
      <div ref={labels} class="labels" aria-hidden="true" />
    </div>
  )
}

/** In place of an office without anybody: why, and what there is to see. */
function Nobody({ isComing, obstacle }: { isComing: boolean; obstacle: string | undefined }) {
  return (
    <div class="world-empty card">
      {isComing ? (
        <p role="status">The day is being read…</p>
      ) : (
        <>
          <p role="status">{obstacle ?? 'Nobody is here now. Sessions appear when they do something and leave five minutes later.'}</p>
          {!obstacle && rows.value?.length !== 0 && (
            <button type="button" class="button" onClick={() => setQuery({ replay: 'latest' })}>
              Play the last day
            </button>
          )}
        </>
      )}
    </div>
  )
}

/** What the colours mean. */
function Legend() {
  const entries = [
    ['waiting', 'needs you'],
    ['error', 'failed'],
    ['idle', 'your turn'],
    ['active', 'working'],
    ['supervising', 'sub-agents working'],
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
      <Icon name="play" /> <span>Replay</span>
      <input class="field" type="date" aria-label="Replay a day" max={isoDay(Date.now())} value={/^\d{4}-\d\d-\d\d$/.test(value) ? value : ''} onChange={event => setQuery({ replay: event.currentTarget.value || undefined, session: undefined })} />
    </label>
  )
}

/** Whether an agent is still in the world. */
function isHere(agent: Agent, actor: Actor | undefined, at: number): boolean {
  return Boolean(actor && isPresent(actor, at) && (!agent.parent || actor.subagents.some(sub => agent.key === `${actor.id}/${sub.id}`)))
}
