// The world as plain data, for the map, the list and tests.

import { sizeOf } from './layout.ts'
import type { Agent, Point, Room, World } from './types.ts'

export type SceneAgent = Pick<Agent, 'key' | 'desk' | 'goal' | 'room' | 'name' | 'state' | 'kind' | 'tool' | 'since' | 'context' | 'cost' | 'parent' | 'bubble' | 'isLeaving' | 'isJob' | 'hidden' | 'number'>

export interface SceneRoom {
  key: string
  name: string
  hidden: number
  columns: number
  centre: Point
  width: number
  depth: number
}

export function scene(world: World): { agents: SceneAgent[]; rooms: SceneRoom[] } {
  const agents = [...world.agents.values()].map(agent => ({ ...agent, bubble: world.time < agent.bubbleUntil ? agent.bubble : '' }))
  return { agents, rooms: [...world.rooms.values()].map(shown) }
}

function shown(room: Room): SceneRoom {
  const { key, name, hidden, columns, goal, centre } = room
  return { key, name, hidden, columns, centre: Number.isNaN(goal.x) ? centre : goal, ...sizeOf(room) }
}
