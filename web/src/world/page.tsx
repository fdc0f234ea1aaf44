// The world: a room for each project, an agent for each session, in three dimensions, as a map or as a list, now or on another day.

import { useComputed, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { isoDay, plural } from '../format.ts'
import { persisted } from '../live/persisted.ts'
import { needing, now, present, rows, rowsById } from '../live/store.ts'
import { place, setQuery } from '../router.ts'
import { Icon } from '../ui/icons.tsx'
import { Broken, loaded } from '../ui/loaded.tsx'
import { fetchModule } from '../ui/module.ts'
import { Button, ErrorLine } from '../ui/parts.tsx'
import { isDark, theme } from '../ui/theme.ts'
import { actorsOf, FirstSeen } from './actors.ts'
import type { Insets } from './camera.ts'
import { emptyWorld, isPresent, removeLeaving, sync } from './crew.ts'
import { useReplay, type Missing, type Moment } from './day.ts'
import type { Engine } from './engine.ts'
import { offerHook } from './hook.ts'
import { daylight } from './look.ts'
import type { Playing } from './playing.ts'
import { graphics, hasWebGl, prefersReducedMotion } from './probe.ts'
import { scene } from './scene.ts'
import { useShortcuts, visitNext, visitSession, type View } from './shortcuts.ts'
import { StatusBar } from './status.tsx'
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

const Queue = loaded(() => import('./queue.tsx'), 'Queue', { waiting: () => null })
const Card = loaded(() => import('./card.tsx'), 'Card', { waiting: () => null })
const Flat = loaded(() => import('./flat.tsx'), 'Flat', { waiting: () => <div class="scene" /> })
const FloorPlan = loaded(() => import('./map.tsx'), 'FloorPlan', { waiting: () => <div class="scene" /> })

/** What the person chose; `auto` is 3D, unless the browser cannot, is too slow, or the person wants less motion. */
const chosenView = persisted<'auto' | View>('world.view', 'auto')
/** How much is drawn: `auto` is all of it where there is a graphics card. */
const chosenDetail = persisted<'auto' | 'full'>('world.detail', 'auto')
/** With more than so many who need the person, there is a list of them beside the world. */
const LISTED = 3
const NARROW = 820
const seen = new FirstSeen()

export function World() {
  const isLost = useSignal(false)
  const isSlow = useSignal(false)
  const staged = useSignal<Actor[] | undefined>(undefined)
  const replayed = useSignal<Moment | undefined>(undefined)
  const engine = useRef<Engine | undefined>(undefined)
  const chosen = useSignal<Agent | undefined>(undefined)
  const hovered = useSignal<string | undefined>(undefined)
  const wantsList = useSignal<boolean | undefined>(undefined)
  const playing = useSignal<Playing | undefined>(undefined)
  const failure = useSignal<Missing | undefined>(undefined)
  const tries = useSignal(0)
  const canBe3d = hasWebGl() && !isLost.value
  const wants3d = chosenView.value === '3d' || (chosenView.value === 'auto' && !prefersReducedMotion() && !isSlow.value)
  const view: View = chosenView.value === 'list' ? 'list' : canBe3d && wants3d ? '3d' : 'map'
  const is3d = view === '3d'
  const show = (wanted: View) => {
    isLost.value = false
    chosenView.value = wanted
  }
  const actors = useComputed(
    () =>
      staged.value ??
      replayed.value?.actors ??
      actorsOf(
        present.value,
        session => needing.value.includes(session),
        id => rowsById.value.get(id),
        (session, task) => seen.of(session, task, now.peek()),
      ),
  )
  const byId = useComputed(() => new Map(actors.value.map(actor => [actor.id, actor])))
  const at = useComputed(() => (staged.value ? Date.now() : (replayed.value?.at ?? now.value)))

  useReplay(playing, replayed, failure, tries.value)
  useSignalEffect(() => {
    // Read first: a signal that is not read while there is no engine would not be followed.
    const [shown, then] = [actors.value, at.value]
    engine.current?.show(shown, then)
    engine.current?.setBrightness(brightnessAt(at.value, replayed.value !== undefined))
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

  // One world that lasts, so that agents keep their desks.
  const still = useMemo(() => emptyWorld(), [])
  const flat = useComputed(() => {
    sync(still, actors.value, at.value)
    removeLeaving(still)
    return scene(still)
  })
  const waits = flat.value.agents.filter(agent => agent.kind === 'needs').length
  const isListed = waits > 0 && !playing.value && (wantsList.value ?? (waits > LISTED && innerWidth > NARROW && is3d))
  const isListShown = isListed && !chosen.value
  const back = () => {
    if (chosen.peek() && engine.current) leave()
    else if (isListed && wantsList.peek()) wantsList.value = false
    else setQuery({ replay: undefined, session: undefined })
  }
  useShortcuts({ view, show, engine, playing, list: () => (wantsList.value = !isListed), back: useLatest(back) })
  const bar = useRef<HTMLDivElement>(null)
  const fit = (to: Engine | undefined) => {
    to?.setListed(isListed)
    to?.setInsets(insetsFor(bar.current?.offsetHeight ?? 0, Boolean(chosen.value || isListShown), Boolean(playing.value)))
    bar.current?.parentElement?.style.setProperty('--bar', `${bar.current.offsetHeight}px`)
  }
  const refit = useLatest(() => fit(engine.current))
  useEffect(() => {
    const watcher = new ResizeObserver(refit)
    watcher.observe(bar.current!)
    return () => watcher.disconnect()
  }, [])
  useEffect(() => fit(engine.current), [chosen.value, isListed, isListShown, playing.value])

  const isComing = place.value.query.has('replay') && !playing.value && !failure.value
  const isNobody = !flat.value.rooms.length && (!playing.value || !is3d)
  const keyed = (key: string) => engine.current?.world.agents.get(key)
  return (
    <div class={`world${is3d ? '' : ' is-flat'}${playing.value ? ' replaying' : ''}${isListShown ? ' with-list' : ''}`}>
      <h1 class="hidden">World</h1>
      <div ref={bar} class="world-bar">
        {flat.value.agents.length > 0 && <StatusBar agents={flat.value.agents} visit={kind => visitNext(engine.current, kind)} />}
        <div class="world-tools">
          {isLost.value && (
            <span class="card world-note">
              The graphics card was lost. <Button onClick={() => (isLost.value = false)}>Try again</Button>
            </span>
          )}
          {isSlow.value && !is3d && view === 'map' && (
            <span class="card world-note">
              Your browser draws 3D slowly. <Button onClick={() => show('3d')}>Try anyway</Button>
            </span>
          )}
          {waits > 0 && !playing.value && (
            <Button label="The list of those who need you" keys="q" pressed={isListed} icon="list" onClick={() => (wantsList.value = !isListed)} />
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
      </div>
      {is3d ? (
        <Scene
          engine={engine}
          summary={`${plural(flat.value.agents.length, 'agent')} in ${plural(flat.value.rooms.length, 'room')}, ${waits} waiting for you`}
          ready={made => {
            fit(made)
            made.setBrightness(brightnessAt(at.peek(), replayed.peek() !== undefined))
            made.show(actors.peek(), at.peek())
          }}
          brightness={() => brightnessAt(at.peek(), replayed.peek() !== undefined)}
          choose={agent => (chosen.value = agent)}
          hover={agent => (hovered.value = agent?.key)}
          lost={() => (isLost.value = true)}
          slow={() => (isSlow.value = true)}
        />
      ) : (
        <div class="world-plan">
          {view === 'map' ? (
            <FloorPlan rooms={flat.value.rooms} agents={flat.value.agents} actors={byId.value} now={at.value} isNumbered={isListed} hovered={hovered.value} />
          ) : (
            <Flat rooms={flat.value.rooms} agents={flat.value.agents} actors={byId.value} now={at.value} />
          )}
        </div>
      )}
      {(isComing || isNobody) && <Nobody isComing={isComing} obstacle={playing.value ? 'Nobody is here at this moment.' : failure.value?.isEmpty ? failure.value.message : undefined} />}
      {isListShown && (
        <Queue
          agents={flat.value.agents}
          actors={byId.value}
          hovered={hovered.value}
          point={key => (engine.current ? engine.current.point(key) : (hovered.value = key))}
          visit={key => {
            const agent = keyed(key)
            if (agent) engine.current!.flyTo(agent)
          }}
          close={() => (wantsList.value = false)}
        />
      )}
      {chosen.value && is3d && (
        <Card
          agent={chosen.value}
          room={flat.value.rooms.find(room => room.key === chosen.value!.room)?.name}
          actor={byId.value.get(chosen.value.session)}
          now={at.value}
          next={waits > 1 ? () => visitNext(engine.current, 'needs') : undefined}
          visit={key => {
            const agent = keyed(key)
            if (agent) engine.current!.visit(agent)
          }}
          close={leave}
        />
      )}
      {playing.value && <ReplayBar playing={playing.value} close={() => setQuery({ replay: undefined, session: undefined })} />}
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

/** What lies over the world: the bars, and the card or the list. */
function insetsFor(bar: number, hasPanel: boolean, isReplay: boolean): Insets {
  if (innerWidth <= NARROW) return { top: bar + 16, right: 0, left: 0, bottom: hasPanel ? Math.round(innerHeight * 0.44) : isReplay ? 110 : 8 }
  return { top: bar + 20, right: hasPanel ? 368 : 0, left: 0, bottom: isReplay ? 78 : 8 }
}

/** A function that stays the same and does what the latest one does. */
function useLatest(act: () => void): () => void {
  const held = useRef(act)
  held.current = act
  return useMemo(() => () => held.current(), [])
}

/** How light the world is: a dark page has its night and a light one the day, until dusk; a replayed day has its own hours. */
function brightnessAt(at: number, isReplay: boolean): number {
  const light = daylight(new Date(at).getHours() + new Date(at).getMinutes() / 60)
  if (isReplay) return light
  return isDark() ? 0 : Math.max(0.5, light)
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
  brightness: () => number
  choose: (agent: Agent | undefined) => void
  hover: (agent: Agent | undefined) => void
  lost: () => void
  slow: () => void
}

function Canvas({ engine, summary, ready, brightness, choose, hover, lost, slow, create }: SceneProps & { create: (...parts: ConstructorParameters<typeof Engine>) => Engine }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const labels = useRef<HTMLDivElement>(null)
  useEffect(() => {
    try {
      const detail = graphics() === 'card' || chosenDetail.peek() === 'full' ? 'full' : 'plain'
      const isFixed = chosenDetail.peek() === 'full'
      const isPatient = chosenView.peek() === '3d'
      engine.current = create(canvas.current!, labels.current!, { choose, open: visitSession, hover, lost, slow }, { reducesMotion: prefersReducedMotion(), detail, isPatient, isFixed })
    } catch {
      return lost()
    }
    ready(engine.current)
    return () => {
      engine.current?.dispose()
      engine.current = undefined
    }
  }, [])
  useEffect(() => {
    const watcher = new MutationObserver(() => engine.current?.setBrightness(brightness()))
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
          <p role="status">
            {obstacle ?? (
              <>
                <b>Nobody is at work now.</b> Start <code>claude</code> in any folder: it walks in here, and leaves five minutes after it has done something.
              </>
            )}
          </p>
          {!obstacle && (
            <p class="world-empty-buttons">
              {rows.value?.length !== 0 && (
                <button type="button" class="button main" onClick={() => setQuery({ replay: 'latest' })}>
                  Play the last day
                </button>
              )}
              <a class="button" href="/new">
                New session
              </a>
            </p>
          )}
        </>
      )}
    </div>
  )
}

/** Chooses a day to play; `shown` is the moment at which the one that plays begins. */
function ReplayMenu({ shown }: { shown: number | undefined }) {
  const named = place.value.query.get('replay') ?? ''
  const value = shown === undefined ? named : isoDay(shown)
  const day = /^\d{4}-\d\d-\d\d$/.test(value) ? value : ''
  return (
    <label class="replay-day">
      <Icon name="play" /> <span>{day ? `Replay of ${day}` : 'Replay a day'}</span>
      <input
        type="date"
        aria-label="Replay a day"
        max={isoDay(Date.now())}
        value={day}
        onClick={event => event.currentTarget.showPicker?.()}
        onChange={event => setQuery({ replay: event.currentTarget.value || undefined, session: undefined })}
      />
    </label>
  )
}

/** Whether an agent is still in the world. */
function isHere(agent: Agent, actor: Actor | undefined, at: number): boolean {
  return Boolean(actor && isPresent(actor, at) && (!agent.parent || actor.subagents.some(sub => agent.key === `${actor.id}/${sub.id}`)))
}
