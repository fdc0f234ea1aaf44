// The keys of the world: in three dimensions they move the camera and choose agents, in two they move the focus.

import { useEffect } from 'preact/hooks'
import { bind, type Binding } from '../keys.ts'
import { go, sessionAddress } from '../router.ts'
import type { Engine } from './engine.ts'
import type { Playing } from './playing.ts'
import type { Agent, Kind } from './types.ts'

export type View = '3d' | 'map' | 'list'

interface Keyed {
  view: View
  show: (view: View) => void
  engine: { readonly current: Engine | undefined }
  playing: { peek: () => Playing | undefined }
  /** Opens and closes the list of those who need the person. */
  list: () => void
  /** Goes one level out. */
  back: () => void
}

export function useShortcuts({ view, show, engine, playing, list, back }: Keyed): void {
  useEffect(
    () =>
      bind('World', [
        ...(view === '3d' ? ofCamera(engine) : ofLinks),
        { keys: 'v', what: 'Go to the next one that needs you', run: () => visitNext(engine.current, 'needs') },
        { keys: 'x', what: 'Go to the next one that failed', run: () => visitNext(engine.current, 'failed') },
        { keys: 't', what: 'Go to the next one whose turn is yours', run: () => visitNext(engine.current, 'turn') },
        { keys: 'q', what: 'The list of those who need you', run: list },
        { keys: '1', what: 'List', run: () => show('list') },
        { keys: '2', what: 'Map', run: () => show('map') },
        { keys: '3', what: '3D', run: () => show('3d') },
        { keys: ' ', what: 'Play or pause', run: () => togglePlay(playing.peek()) },
        { keys: 'escape', what: 'Close the card, then back to now', run: back },
      ]),
    [view],
  )
}

/** Goes to the next agent of a kind: the camera flies, or the focus moves. */
export function visitNext(engine: Engine | undefined, kind: Kind): void {
  if (!engine) return focusNext(1, `.map-agent.${kind}, .flat-agent.${kind} > a`)
  const agent = engine.next(one => one.kind === kind && !one.parent)
  if (agent) engine.visit(agent)
}

export function visitSession(agent: Agent): void {
  go(sessionAddress(agent.session, agent.uuid))
}

const ofLinks: Binding[] = [
  { keys: ']', what: 'Next agent', run: () => focusNext(1) },
  { keys: '[', what: 'Previous agent', run: () => focusNext(-1) },
]

/** Focuses the link of the next agent in the list or on the map. */
function focusNext(by: number, wanted = '*'): void {
  const all = [...document.querySelectorAll<HTMLElement>('.map-agent, .flat-agent > a')].filter(link => link.matches(wanted))
  const at = all.indexOf(document.activeElement as HTMLElement)
  all.at(at < 0 && by < 0 ? -1 : (at + by) % all.length)?.focus()
}

function ofCamera(engine: Keyed['engine']): Binding[] {
  const move = (right: number, forward: number) => () => engine.current?.pan(right, forward)
  const visit = (by: number) => () => {
    const agent = engine.current?.next(() => true, by)
    if (agent) engine.current!.visit(agent)
  }
  const open = () => {
    const agent = engine.current?.world.agents.get(engine.current.chosen ?? '')
    if (agent) visitSession(agent)
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
    { keys: 'o', what: 'Open the agent’s session, as Enter and a double click do', run: open },
  ]
}

function togglePlay(playing: Playing | undefined): void {
  if (playing) playing.isPlaying.value = !playing.isPlaying.peek()
}
