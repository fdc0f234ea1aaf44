// The geometries of which everything in the world is an instance; each costs one draw call.

import { BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, CircleGeometry, ConeGeometry, CylinderGeometry, RingGeometry, SphereGeometry } from 'three'

function at(geometry: BufferGeometry, x: number, y: number, z: number): BufferGeometry {
  return geometry.translate(x, y, z)
}

function joined(parts: BufferGeometry[]): BufferGeometry {
  const all = parts.map(part => (part.index ? part.toNonIndexed() : part))
  const whole = new BufferGeometry()
  for (const name of ['position', 'normal']) {
    const values = all.flatMap(part => [...part.getAttribute(name)!.array])
    whole.setAttribute(name, new BufferAttribute(new Float32Array(values), 3))
  }
  for (const part of [...parts, ...all]) part.dispose()
  return whole
}

const box = (width: number, height: number, depth: number, x: number, y: number, z: number) => at(new BoxGeometry(width, height, depth), x, y, z)

/** A body that looks along z. */
export function body(): BufferGeometry {
  return joined([at(new CapsuleGeometry(0.27, 0.34, 3, 9), 0, 0.58, 0), box(0.15, 0.12, 0.22, -0.13, 0.08, 0.05), box(0.15, 0.12, 0.22, 0.13, 0.08, 0.05)])
}

export function head(): BufferGeometry {
  return joined([at(new SphereGeometry(0.29, 12, 8), 0, 0, 0), box(0.025, 0.16, 0.025, 0, 0.35, 0), at(new SphereGeometry(0.05, 6, 4), 0, 0.45, 0)])
}

/** The face: a dark visor. */
export function visor(): BufferGeometry {
  return box(0.4, 0.17, 0.12, 0, 0.02, 0.22)
}

export function eyes(): BufferGeometry {
  return joined([box(0.065, 0.085, 0.02, -0.09, 0.02, 0.285), box(0.065, 0.085, 0.02, 0.09, 0.02, 0.285)])
}

/** Two hands, on the keyboard or in the air. */
export function hands(): BufferGeometry {
  return joined([at(new SphereGeometry(0.085, 6, 4), -0.31, 0, 0.12), at(new SphereGeometry(0.085, 6, 4), 0.31, 0, 0.12)])
}

/** What a background job carries on its back, with a flag that is seen from the front. */
export function pack(): BufferGeometry {
  return joined([box(0.4, 0.42, 0.2, 0, 0.66, -0.3), box(0.03, 0.8, 0.03, 0.34, 1.1, -0.3), box(0.34, 0.22, 0.03, 0.52, 1.4, -0.3)])
}

/** A ring on the floor around an agent, in the colour of its state. */
export function ring(): BufferGeometry {
  return new RingGeometry(0.38, 0.5, 18).rotateX(-Math.PI / 2)
}

export function shadow(): BufferGeometry {
  return new CircleGeometry(0.42, 12).rotateX(-Math.PI / 2)
}

/** An exclamation mark, over an agent that waits. */
export function exclamation(): BufferGeometry {
  return joined([at(new ConeGeometry(0.1, 0.36, 8).rotateX(Math.PI), 0, 0.26, 0), at(new SphereGeometry(0.075, 8, 6), 0, 0, 0)])
}

export function desk(): BufferGeometry {
  return joined([box(1.5, 0.07, 0.72, 0, 0.62, 0), box(0.07, 0.62, 0.6, -0.68, 0.31, 0), box(0.07, 0.62, 0.6, 0.68, 0.31, 0), box(0.12, 0.16, 0.1, 0, 0.72, -0.18), box(0.07, 0.11, 0.07, 0.52, 0.71, 0.1)])
}

/** A screen that faces the agent at the desk. */
export function screen(): BufferGeometry {
  return box(0.78, 0.46, 0.05, 0, 1.0, -0.18)
}

export function floor(width: number, depth: number): BufferGeometry {
  return box(width, 0.2, depth, 0, -0.1, 0)
}

/** Low walls with a gap for the door. */
export function walls(width: number, depth: number): BufferGeometry {
  const [high, thick, gap] = [0.95, 0.16, 2]
  const side = (width - gap) / 2
  return joined([
    box(width, high, thick, 0, high / 2, -depth / 2),
    box(thick, high, depth, -width / 2, high / 2, 0),
    box(thick, high, depth, width / 2, high / 2, 0),
    box(side, high, thick, -(gap + side) / 2, high / 2, depth / 2),
    box(side, high, thick, (gap + side) / 2, high / 2, depth / 2),
  ])
}

/** A door leaf that turns about its hinge. */
export function doorLeaf(): BufferGeometry {
  return box(1, 0.85, 0.08, 0.5, 0.43, 0)
}

/** A rug under the desks. */
export function rug(): BufferGeometry {
  return box(11, 0.016, 7.4, 0, 0.008, -0.4)
}

/** Two windows in the back wall. */
export function windows(depth: number): BufferGeometry {
  const z = -depth / 2 + 0.1
  return joined([box(2.6, 0.5, 0.05, -3.3, 0.56, z), box(2.6, 0.5, 0.05, 3.3, 0.56, z)])
}

/** A sofa that faces the room. */
export function sofa(): BufferGeometry {
  return joined([box(1.9, 0.3, 0.8, 0, 0.22, 0), box(1.9, 0.5, 0.22, 0, 0.5, 0.38), box(0.22, 0.36, 0.8, -0.95, 0.36, 0), box(0.22, 0.36, 0.8, 0.95, 0.36, 0)])
}

/** A lamp without its shade. */
export function lamp(): BufferGeometry {
  return joined([at(new CylinderGeometry(0.03, 0.03, 1.4, 6), 0, 0.7, 0), at(new CylinderGeometry(0.22, 0.24, 0.06, 12), 0, 0.03, 0)])
}

export function shade(): BufferGeometry {
  return at(new CylinderGeometry(0.17, 0.3, 0.36, 12), 0, 1.5, 0)
}

/** The light of a lamp on the floor, which fades outwards. */
export function glow(): BufferGeometry {
  const disc = new CircleGeometry(1.8, 28).rotateX(-Math.PI / 2)
  const strength = Array.from({ length: disc.getAttribute('position').count * 3 }, (_, at) => (at < 3 ? 0.08 : 0))
  return disc.setAttribute('color', new BufferAttribute(new Float32Array(strength), 3))
}

/** A plant in a corner of each room. */
export function plant(): BufferGeometry {
  return joined([
    at(new CylinderGeometry(0.26, 0.2, 0.42, 9), 0, 0.21, 0),
    at(new SphereGeometry(0.42, 8, 6), 0, 0.78, 0),
    at(new SphereGeometry(0.28, 8, 6), 0.22, 1.08, 0.1),
  ])
}

/** A cat that goes from room to room. */
export function cat(): BufferGeometry {
  return joined([
    at(new CapsuleGeometry(0.13, 0.3, 4, 8).rotateX(Math.PI / 2), 0, 0.2, 0),
    at(new SphereGeometry(0.14, 9, 7), 0, 0.33, 0.27),
    at(new ConeGeometry(0.05, 0.1, 4), -0.07, 0.48, 0.27),
    at(new ConeGeometry(0.05, 0.1, 4), 0.07, 0.48, 0.27),
    at(new CylinderGeometry(0.025, 0.035, 0.42, 5).rotateX(-0.7), 0, 0.38, -0.36),
  ])
}
