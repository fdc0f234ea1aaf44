// The world as a map: a floor plan of the rooms with all agents at their desks, from the same records as in 3D. The furniture is a
// drawing; agents are links, for keys and screen readers.

import type { SceneAgent, SceneRoom } from './crew.ts'
import { hash, actorInWords, requestInShort } from './crew.ts'
import { sessionAddress } from '../router.ts'
import { plural } from '../format.ts'
import { deskTop, ROOM } from './layout.ts'
import { bodyColour, projectColour, WAITING_BODY } from './look.ts'
import type { Actor, Point } from './types.ts'
import '../style/map.css'

interface Props {
  rooms: readonly SceneRoom[]
  agents: readonly SceneAgent[]
  actors: ReadonlyMap<string, Actor>
}

export function FloorPlan({ rooms, agents, actors }: Props) {
  return (
    <ul class="map">
      {rooms.map((room, at) => (
        <RoomPlan key={room.key} room={room} all={agents.filter(agent => agent.room === room.key)} actors={actors} hasCat={at === 0} />
      ))}
    </ul>
  )
}

interface RoomProps {
  room: SceneRoom
  all: readonly SceneAgent[]
  actors: Props['actors']
  /** The cat sleeps in one room. */
  hasCat: boolean
}

function RoomPlan({ room, all, actors, hasCat }: RoomProps) {
  const seated = all.filter(agent => !agent.parent)
  return (
    <li class="map-room">
      <h2>
        {room.name}
        {room.hidden > 0 && <a class="tag" href={`/sessions?project=${encodeURIComponent(room.key)}`}>{room.hidden} more</a>}
      </h2>
      <div class="map-floor">
        <svg class="map-drawing" viewBox={`${-ROOM.width / 2 - 0.15} ${-ROOM.depth / 2 - 0.15} ${ROOM.width + 0.3} ${ROOM.depth + 0.3}`} aria-hidden="true">
          <Furniture colour={projectColour(hash(room.key))} hasCat={hasCat} />
          {seated.map(agent => (
            <Desk key={agent.key} at={inRoom(room, deskTop(room.centre, agent.desk))} isLit={agent.look === 'active' || agent.look === 'supervising'} />
          ))}
          {seated.flatMap(agent =>
            all.filter(other => other.parent === agent.key).map((other, number) => {
              const { x, z } = inRoom(room, agent.goal)
              return <Helper key={other.key} x={x + (number % 2 ? -0.84 : 0.84)} z={z + 0.3 - 0.46 * Math.floor(number / 2)} colour={bodyColour(hash(agent.key))} />
            }),
          )}
        </svg>
        <ul class={seated.length > 1 ? 'map-agents' : 'map-agents alone'}>
          {seated.map(agent => (
            <AgentLink key={agent.key} agent={agent} actor={actors.get(agent.key)} at={inRoom(room, agent.goal)} />
          ))}
        </ul>
      </div>
    </li>
  )
}

/** A place as seen from the middle of its room. */
function inRoom({ centre }: SceneRoom, { x, z }: Point): Point {
  return { x: x - centre.x, z: z - centre.z }
}

function AgentLink({ agent, actor, at }: { agent: SceneAgent; actor: Actor | undefined; at: Point }) {
  const isWaiting = agent.look === 'waiting'
  const doing = actorInWords(actor ?? agent)
  const subagents = actor?.subagents.length ?? 0
  const more = subagents ? ` · ${plural(subagents, 'sub-agent')}` : ''
  // What an agent at the side of a room says is moved inwards, so that it stays on the screen.
  const side = at.x < -ROOM.width / 6 ? ' at-left' : at.x > ROOM.width / 6 ? ' at-right' : ''
  const percent = (part: number, whole: number) => `${(50 + (100 * part) / whole).toFixed(2)}%`
  return (
    <li class={`${agent.look}${side}`} style={{ left: percent(at.x, ROOM.width), top: percent(at.z, ROOM.depth) }}>
      <a class={`map-agent ${agent.look}`} href={sessionAddress(agent.key, actor?.uuid)}>
        <Robot colour={isWaiting ? WAITING_BODY : bodyColour(hash(agent.key))} eyes={agent.colour} hasFlag={agent.isJob} />
        <span class="map-name">{agent.name}</span>
        <span class="hidden">
          {agent.isJob && 'Background job. '}
          {doing + more}
        </span>
        {isWaiting && (
          <span class="map-request" aria-hidden="true">
            {requestInShort(doing)}
          </span>
        )}
        <span class="map-bubble" aria-hidden="true">
          <b>{agent.name}</b>
          <br />
          {doing + more}
        </span>
      </a>
    </li>
  )
}

function Robot({ colour, eyes, hasFlag }: { colour: string; eyes: string; hasFlag: boolean }) {
  return (
    <svg class="map-robot" viewBox="0 0 24 31" aria-hidden="true">
      <ellipse class="map-ring" cx="12" cy="27.4" rx="8.6" ry="2.5" stroke={eyes} />
      <g class="map-body">
        {hasFlag && <path d="M19 22V8l5 2.4-5 2.4" fill="#2f9fb3" stroke="#2f9fb3" />}
        <path d="M12 5.5V3" stroke={colour} stroke-width="1.4" />
        <circle cx="12" cy="2.3" r="1.6" fill={colour} />
        <rect x="6.8" y="16.2" width="10.4" height="10.6" rx="4.6" fill={colour} />
        <rect x="4.6" y="5" width="14.8" height="12" rx="5" fill={colour} />
        <rect x="6.8" y="8" width="10.4" height="5.8" rx="2.9" fill="#262a33" />
        <g class="map-eyes" fill={eyes}>
          <circle cx="9.9" cy="10.9" r="1.25" />
          <circle cx="14.1" cy="10.9" r="1.25" />
        </g>
      </g>
    </svg>
  )
}

/** A sub-agent, at the side of its parent. */
function Helper({ x, z, colour }: { x: number; z: number; colour: string }) {
  return (
    <g transform={`translate(${x} ${z})`}>
      <circle class="map-helper" r="0.19" fill={colour} />
      <rect x="-0.12" y="-0.09" width="0.24" height="0.13" rx="0.065" fill="#262a33" />
    </g>
  )
}

function Desk({ at: { x, z }, isLit }: { at: Point; isLit: boolean }) {
  return (
    <g>
      <rect class="map-desk" x={x - 0.75} y={z - 0.4} width="1.5" height="0.74" rx="0.1" />
      <rect class={isLit ? 'map-screen lit' : 'map-screen'} x={x - 0.42} y={z - 0.3} width="0.84" height="0.16" rx="0.06" />
      <circle class="map-cup" cx={x + 0.56} cy={z + 0.12} r="0.09" />
    </g>
  )
}

/** What every room has: walls with a door, windows, a rug and a sofa in the project's colour, a lamp and a plant. */
function Furniture({ colour, hasCat }: { colour: string; hasCat: boolean }) {
  const [right, front] = [ROOM.width / 2, ROOM.depth / 2]
  const leaves = [0, 72, 144, 216, 288]
  return (
    <>
      <rect class="map-ground" x={-right} y={-front} width={ROOM.width} height={ROOM.depth} rx="0.2" />
      <rect class="map-rug" x="-5.5" y="-4.1" width="11" height="7.4" rx="0.5" fill={colour} />
      {[1.25, 0.8].map(size => (
        <circle key={size} class="map-glow" cx={right - 1.4} cy={front - 1.4} r={size} />
      ))}
      <rect x={right - 3.6} y={front - 1.35} width="2.1" height="0.85" rx="0.2" fill={colour} />
      <rect class="map-shade" x={right - 3.6} y={front - 0.66} width="2.1" height="0.26" rx="0.13" />
      {hasCat && <Cat x={right - 2.5} z={front - 0.98} />}
      <circle class="map-lamp" cx={right - 0.75} cy={front - 0.8} r="0.32" />
      <g class="map-plant" transform={`translate(${0.85 - right} ${front - 0.9})`}>
        {leaves.map(angle => (
          <ellipse key={angle} cx="0.3" cy="0" rx="0.36" ry="0.19" transform={`rotate(${angle + 20})`} />
        ))}
      </g>
      <path class="map-wall" d={`M-1 ${front}H${-right}V${-front}H${right}V${front}H1`} />
      <path class="map-door" d={`M-1 ${front}v-1a1 1 0 0 1 1 1M1 ${front}v-1a1 1 0 0 0-1 1`} />
      <path class="map-window" d={`M-4.6 ${-front}h2.6M2 ${-front}h2.6`} />
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
