// How an agent holds itself, by what it does. Pure; one record is filled again and again.

import { hash } from './crew.ts'
import type { Face } from './atlas.ts'
import { YAW } from './layout.ts'
import type { Agent } from './types.ts'

export interface Pose {
  /** How high the body is, and how far it leans forward. */
  lift: number
  lean: number
  /** How the head is turned: to the side, forward, and tilted. */
  turn: number
  nod: number
  tilt: number
  /** Each arm: forward is negative, outward positive. */
  left: { forward: number; out: number }
  right: { forward: number; out: number }
  face: Face
  holdsPaper: boolean
}

const SEAT = 0.42
const STANDING = 0.66
/** Heads are turned to the person by this part of the angle from which the world is seen, of which bodies have 45 %. */
const HEAD_TURN = YAW * 0.33
/** How often eyes are shut for a moment, in seconds, and how long. */
const BLINK = { least: 3, more: 4, long: 0.13 }

export function blankPose(): Pose {
  return { lift: 0, lean: 0, turn: 0, nod: 0, tilt: 0, left: { forward: 0, out: 0 }, right: { forward: 0, out: 0 }, face: 'open', holdsPaper: false }
}

export function poseOf(agent: Agent, time: number, pose: Pose): Pose {
  const own = agent.phase
  const t = time + own
  const breath = Math.sin(t * 1.7) * 0.008
  Object.assign(pose, { lift: SEAT + breath, lean: 0.03, turn: HEAD_TURN, nod: 0, tilt: 0, face: 'open', holdsPaper: false })
  arms(pose, -0.9, 0.12)
  if (agent.parent) pose.lift = 0.04
  if (agent.way.length) walk(pose, t)
  else if (agent.kind === 'needs') wave(pose, t)
  else if (agent.kind === 'failed') despair(pose, t)
  else if (agent.kind === 'turn') rest(pose, t)
  else if (agent.kind === 'idle') sleep(pose, t)
  else if (agent.kind === 'directing') point(pose, t)
  else work(pose, agent, t)
  if (pose.face === 'open') {
    const every = BLINK.least + ((hash(agent.key) % 97) / 97) * BLINK.more
    if (t % every < BLINK.long) pose.face = 'shut'
  }
  return pose
}

function arms(pose: Pose, forward: number, out: number): void {
  pose.left.forward = pose.right.forward = forward
  pose.left.out = pose.right.out = out
}

function walk(pose: Pose, t: number): void {
  const swing = Math.sin(t * 9) * 0.6
  pose.lift = 0.06 + Math.abs(Math.sin(t * 9)) * 0.06
  pose.turn = 0
  pose.left.forward = swing
  pose.right.forward = -swing
}

/** Stands, waves and hops. */
function wave(pose: Pose, t: number): void {
  pose.lift = STANDING + Math.abs(Math.sin(t * 3.4)) * 0.09
  pose.turn = HEAD_TURN * 1.6
  pose.face = 'wide'
  pose.left.forward = -0.3
  pose.left.out = 0.3
  pose.right.forward = -0.2
  pose.right.out = 2.55 + 0.35 * Math.sin(t * 7)
}

/** Both hands on the head. */
function despair(pose: Pose, t: number): void {
  pose.lean = 0.12
  pose.nod = 0.16
  pose.tilt = 0.16 + Math.sin(t * 1.3) * 0.05
  pose.face = 'cross'
  arms(pose, -0.35, 2.5)
}

/** Leans back with an arm out. */
function rest(pose: Pose, t: number): void {
  pose.lean = -0.1
  pose.nod = -0.06
  pose.face = 'happy'
  pose.left.forward = -0.35
  pose.right.forward = -0.5
  pose.right.out = 0.95 + 0.06 * Math.sin(t * 1.2)
}

function sleep(pose: Pose, t: number): void {
  pose.lift = SEAT - 0.05 + Math.sin(t * 0.9) * 0.012
  pose.lean = 0.2
  pose.nod = 0.42 + Math.sin(t * 0.9) * 0.03
  pose.tilt = 0.12
  pose.face = 'shut'
}

/** Points at the sub-agents before the desk. */
function point(pose: Pose, t: number): void {
  pose.lean = 0.08
  pose.nod = 0.1
  pose.right.forward = -0.95
  pose.right.out = 0.7 + 0.12 * Math.sin(t * 1.6)
}

function work(pose: Pose, agent: Agent, t: number): void {
  if (agent.state === 'thinking') {
    pose.face = 'up'
    pose.nod = -0.12
    pose.tilt = 0.1 * Math.sin(t * 1.2)
    pose.turn = HEAD_TURN + 0.14 * Math.sin(t * 0.8)
    pose.right.forward = -2.1
    pose.right.out = -0.25
    return
  }
  const [speed, far] = agent.state === 'responding' ? [6, 0.08] : agent.tool === 'Bash' ? [15, 0.15] : [10, 0.11]
  pose.left.forward = -1 + far * Math.sin(t * speed)
  pose.right.forward = -1 - far * Math.sin(t * speed)
  switch (agent.state === 'tool_use' ? agent.tool : '') {
    case 'Edit':
    case 'MultiEdit':
    case 'Write':
    case 'NotebookEdit':
      pose.nod = 0.14
      pose.face = 'down'
      break
    case 'Read':
      // Sub-agents have their hands full.
      if (agent.parent) break
      pose.holdsPaper = true
      pose.face = 'down'
      pose.nod = 0.1
      arms(pose, -1.25, -0.12)
      break
    case 'Grep':
    case 'Glob':
      pose.lean = 0.2 + 0.03 * Math.sin(t * 2)
      break
  }
}
