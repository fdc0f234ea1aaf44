// The world as a map: a floor plan of the rooms with all agents at their desks, from the same records as in 3D. The furniture is a
// drawing; agents are links, for keys and screen readers.

import { age, plural } from '../format.ts'
import { requestInShort } from '../live/fold.ts'
import { sessionAddress } from '../router.ts'
import { contextOf, fullness, SIGNS, signOf, toolSign, WORDS } from '../ui/states.ts'
import { actorInWords, hash } from './crew.ts'
import { coinsFor } from './coins.ts'
import { DESK, SUBAGENTS_SHOWN } from './layout.ts'
import { bodyColour, projectColour, STATE_COLOURS } from './look.ts'
import type { SceneAgent, SceneRoom } from './scene.ts'
import type { Actor, Kind, Point } from './types.ts'
import '../style/map.css'

interface Props {
  rooms: readonly SceneRoom[]
  agents: readonly SceneAgent[]
  actors: ReadonlyMap<string, Actor>
  now: number
  /** Whether those who need the person have the numbers of their list. */
  isNumbered: boolean
  hovered: string | undefined
}

/** Pixels for a unit. */
const SCALE = 48

export function FloorPlan({ rooms, agents, ...rest }: Props) {
  return (
    <ul class="map">
      {rooms.map((room, at) => (
        <RoomPlan key={room.key} room={room} all={agents.filter(agent => agent.room === room.key)} hasCat={at === 0} {...rest} />
      ))}
    </ul>
  )
}

interface RoomProps extends Omit<Props, 'rooms' | 'agents'> {
  room: SceneRoom
  all: readonly SceneAgent[]
  /** The cat sleeps in one room. */
  hasCat: boolean
}

function RoomPlan({ room, all, actors, hasCat, ...rest }: RoomProps) {
  const seated = all.filter(agent => !agent.parent)
  const [needs, failed] = [seated.filter(agent => agent.kind === 'needs').length, seated.filter(agent => agent.kind === 'failed').length]
  return (
    <li class="map-room" style={{ width: `${room.width * SCALE}px` }}>
      <h2>
        <span class="map-title" title={room.name}>{room.name}</span> <span class="dim">{seated.length}</span>
        {needs > 0 && <span class="map-count needs">! {needs}</span>}
        {failed > 0 && <span class="map-count failed">× {failed}</span>}
        {room.hidden > 0 && <a class="tag" href={`/sessions?project=${encodeURIComponent(room.key)}`}>{room.hidden} more</a>}
      </h2>
      <div class="map-floor" style={{ aspectRatio: `${room.width} / ${room.depth}` }}>
        <svg class="map-drawing" viewBox={`${-room.width / 2} ${-room.depth / 2} ${room.width} ${room.depth}`} aria-hidden="true">
          <Furniture room={room} hasCat={hasCat} />
          {seated.map(agent => (
            <Desk key={agent.key} agent={agent} at={agent.goal} />
          ))}
        </svg>
        <ul class="map-agents">
          {seated.map(agent => (
            <AgentLink key={agent.key} agent={agent} actor={actors.get(agent.key)} room={room} {...rest} />
          ))}
        </ul>
      </div>
    </li>
  )
}

function AgentLink({ agent, actor, room, now, isNumbered, hovered }: { agent: SceneAgent; actor: Actor | undefined; room: SceneRoom } & Pick<Props, 'now' | 'isNumbered' | 'hovered'>) {
  const { kind } = agent
  const doing = actorInWords(actor ?? agent)
  const subagents = actor?.subagents ?? []
  const more = subagents.length ? ` · ${plural(subagents.length, 'sub-agent')}` : ''
  // What an agent at the side of a room says is moved inwards, so that it stays on the screen.
  const side = agent.goal.x < -room.width / 6 ? ' at-left' : agent.goal.x > room.width / 6 ? ' at-right' : ''
  const percent = (part: number, whole: number) => `${(50 + (100 * part) / whole).toFixed(2)}%`
  const isAsleep = kind === 'idle' || kind === 'failed'
  const waited = kind === 'needs' && agent.since ? ` ${age(agent.since, now)}` : ''
  return (
    <li class={`${kind}${side}`} style={{ left: percent(agent.goal.x, room.width), top: percent(agent.goal.z, room.depth), width: `${((2.2 / room.width) * 100).toFixed(2)}%` }}>
      <a class={`map-agent ${kind}${hovered === agent.key ? ' pointed' : ''}`} href={sessionAddress(agent.key, actor?.uuid)}>
        <Robot colour={isAsleep ? '#a3a3aa' : bodyColour(hash(agent.key))} kind={kind} pin={isNumbered ? agent.number : 0} hasFlag={agent.isJob} />
        <Lid agent={agent} />
        <span class="map-name">{agent.name}</span>
        <span class="hidden">
          {agent.isJob && 'Background job. '}
          {kind === 'needs' || kind === 'failed' || kind === 'turn' ? doing : `${WORDS[kind]}: ${doing}`}
          {more}
        </span>
        {kind === 'needs' && (
          <span class="map-request" aria-hidden="true">
            {requestInShort(doing)}
            {waited && <i>{waited}</i>}
          </span>
        )}
        {subagents.length > 0 && <Subs actor={actor!} />}
        <span class="map-bubble" aria-hidden="true">
          <b>{agent.name}</b>
          <br />
          {doing + more}
        </span>
      </a>
    </li>
  )
}

const PINS: Partial<Record<Kind, string>> = {
  needs: 'M12-9.5a5.6 5.6 0 0 1 5.6 5.6c0 3-3.1 4-5.6 7.2-2.5-3.2-5.6-4.2-5.6-7.2A5.6 5.6 0 0 1 12-9.5z',
  failed: 'M8.5-8.5h7a2 2 0 0 1 2 2v5a2 2 0 0 1-2 2h-1.8L12 2.6 10.3.5H8.5a2 2 0 0 1-2-2v-5a2 2 0 0 1 2-2z',
  turn: 'M9.5-8h5a4 4 0 0 1 0 8h-1.2L12 2.6 10.7 0H9.5a4 4 0 0 1 0-8z',
}
const MARKS: Partial<Record<Kind, string>> = { needs: SIGNS.bang, failed: SIGNS.cross, turn: SIGNS.check }

function Robot({ colour, kind, pin, hasFlag }: { colour: string; kind: Kind; pin: number; hasFlag: boolean }) {
  const { fill, sign } = STATE_COLOURS[kind]
  return (
    <svg class="map-robot" viewBox="0 0 24 22" aria-hidden="true">
      <g class="map-body">
        {hasFlag && <path d="M19 22V8l5 2.4-5 2.4" fill="#2f9fb3" stroke="#2f9fb3" />}
        <path d="M12 5.5V3" stroke={colour} stroke-width="1.4" />
        <circle cx="12" cy="2.3" r="1.6" fill={colour} />
        <rect x="6.8" y="15.4" width="10.4" height="9" rx="4.6" fill={colour} />
        <rect x="4" y="4.6" width="16" height="12.6" rx="5" fill={colour} />
        <rect x="6.2" y="7.4" width="11.6" height="7" rx="2.9" fill="#262a33" />
        <g class="map-eyes">
          {kind === 'failed' ? <path d="M8.4 9.4l2.6 2.6m0-2.6l-2.6 2.6M13 9.4l2.6 2.6m0-2.6L13 12" /> : kind === 'turn' ? <path d="M8.3 11.5q1.3-2 2.6 0M13.1 11.5q1.3-2 2.6 0" /> : kind === 'idle' ? <path d="M8.3 11h2.6M13.1 11h2.6" /> : <path class="round" d="M9.7 10.9h.01M14.3 10.9h.01" />}
        </g>
      </g>
      {PINS[kind] && (
        <g class="map-pin">
          <path d={PINS[kind]} fill={fill} stroke="#fff" stroke-width="1" />
          {pin > 0 && kind === 'needs' ? (
            <text x="12" y="-1.6" fill={sign}>
              {pin}
            </text>
          ) : (
            <path d={MARKS[kind]} transform={kind === 'needs' ? 'translate(8.4 -7.5) scale(.45)' : kind === 'failed' ? 'translate(8.8 -7.2) scale(.4)' : 'translate(8.8 -7.2) scale(.4)'} stroke={sign} stroke-width="2.4" />
          )}
        </g>
      )}
    </svg>
  )
}

/** The screen on the desk: the sign of what is done, in the colour of the state. */
function Lid({ agent }: { agent: SceneAgent }) {
  const { fill, sign } = STATE_COLOURS[agent.kind]
  return (
    <svg class="map-lid" viewBox="0 0 24 16" aria-hidden="true">
      <rect width="24" height="16" rx="2.5" fill={fill} />
      <path d={SIGNS[signOf(agent.kind, agent.state, agent.tool)]} transform="translate(6.2 2.2) scale(.73)" stroke={sign} />
    </svg>
  )
}

/** Its sub-agents, each with the sign of its own tool. */
function Subs({ actor }: { actor: Actor }) {
  const left = actor.subagents.length - SUBAGENTS_SHOWN
  return (
    <span class="map-subs" aria-hidden="true">
      {actor.subagents.slice(0, SUBAGENTS_SHOWN).map(sub => (
        <svg key={sub.id} viewBox="0 0 16 16" aria-hidden="true">
          <rect width="16" height="16" rx="4" fill={STATE_COLOURS.working.fill} />
          <path d={SIGNS[toolSign(sub.tool)]} transform="translate(2.6 2.6) scale(.68)" stroke="#fff" />
        </svg>
      ))}
      {left > 0 && <b>+{left}</b>}
    </span>
  )
}

/** A desk with the bar of the context and the coins of the cost. */
function Desk({ agent, at: { x, z } }: { agent: SceneAgent; at: Point }) {
  const y = z + DESK.before - DESK.depth / 2 + 0.1
  const { share } = contextOf(agent.context)
  return (
    <g>
      {(agent.kind === 'needs' || agent.kind === 'failed') && <ellipse class={`map-ring ${agent.kind}`} cx={x} cy={z + 0.35} rx="1.08" ry="0.95" />}
      {agent.kind === 'directing' && <ellipse class="map-disc" cx={x} cy={z + 1.75} rx="1" ry="0.36" />}
      <rect class="map-desk" x={x - DESK.width / 2} y={y} width={DESK.width} height={DESK.depth} rx="0.1" />
      {agent.context > 0 && (
        <>
          <rect class="map-track" x={x - 0.7} y={y + DESK.depth - 0.13} width="1.4" height="0.09" rx="0.045" />
          <rect class={`map-context ${fullness(share)}`} x={x - 0.7} y={y + DESK.depth - 0.13} width={1.4 * Math.max(0.04, share)} height="0.09" rx="0.045" />
        </>
      )}
      {Array.from({ length: Math.ceil(coinsFor(agent.cost) / 3) }, (_, coin) => (
        <circle key={coin} class="map-coin" cx={x + 0.66 - (coin % 2) * 0.14} cy={y + 0.5 - Math.floor(coin / 2) * 0.16} r="0.075" />
      ))}
    </g>
  )
}

/** What every room has: walls, windows, a rug in the project's colour, a lamp and a plant. */
function Furniture({ room, hasCat }: { room: SceneRoom; hasCat: boolean }) {
  const [right, front] = [room.width / 2, room.depth / 2]
  const leaves = [0, 72, 144, 216, 288]
  return (
    <>
      <rect class="map-ground" x={-right} y={-front} width={room.width} height={room.depth} rx="0.24" />
      <rect class="map-rug" x={0.4 - right} y={0.45 - front} width={room.width - 0.8} height={room.depth - 0.8} rx="0.3" fill={projectColour(hash(room.key))} />
      <path class="map-wall" d={`M${-right + 0.1} ${front - 0.2}V${-front + 0.1}H${right - 0.1}V${front - 0.2}`} />
      {Array.from({ length: room.columns }, (_, column) => (
        <path key={column} class="map-window" d={`M${(column - (room.columns - 1) / 2) * 2.25 - 0.5} ${-front + 0.1}h1`} />
      ))}
      {[1.1, 0.7].map(size => (
        <circle key={size} class="map-glow" cx={right - 0.5} cy={-front + 0.5} r={size} />
      ))}
      <circle class="map-lamp" cx={right - 0.5} cy={-front + 0.5} r="0.24" />
      <g class="map-plant" transform={`translate(${0.5 - right} ${front - 0.5})`}>
        {leaves.map(angle => (
          <ellipse key={angle} cx="0.22" cy="0" rx="0.26" ry="0.14" transform={`rotate(${angle + 20})`} />
        ))}
      </g>
      {hasCat && <Cat x={right - 0.7} z={front - 0.4} />}
    </>
  )
}

function Cat({ x, z }: { x: number; z: number }) {
  return (
    <g class="map-cat" transform={`translate(${x} ${z})`}>
      <ellipse cx="0" cy="0" rx="0.36" ry="0.25" />
      <circle cx="-0.3" cy="-0.08" r="0.17" />
      <path d="M-.45-.17l.02-.14.12.06zM-.2-.21l.08-.1.06.13z" />
      <path class="map-tail" d="M.3.1q.2.2-.2.2" />
    </g>
  )
}
