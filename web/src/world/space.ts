// What of the screen is taken: by labels, heads, pins and screens. Pure.

export interface Box {
  left: number
  right: number
  top: number
  bottom: number
}

/** What takes it; what is quiet may be covered by what is urgent. */
type Kind = 'label' | 'head' | 'pin' | 'lid' | 'small' | 'quiet'

/** Labels are this far from each other, in pixels. */
const APART = 3

/** How bad it is to cover one. */
const WEIGHT: Record<Kind, number> = { label: 100, pin: 30, head: 6, small: 3, lid: 3, quiet: 1 }

interface Taken {
  box: Box
  kind: Kind
  key: string
}

function isOver(box: Box, { box: other, kind }: Taken): boolean {
  const gap = kind === 'label' ? APART : 0
  return box.left < other.right + gap && box.right > other.left - gap && box.top < other.bottom + gap && box.bottom > other.top - gap
}

export class Space {
  private readonly taken: Taken[] = []
  /** What of it is near where places are looked for. */
  private nearby: Taken[] = this.taken
  private readonly edge: Box = { left: 0, right: 0, top: 0, bottom: 0 }

  /** Begins anew, for a screen of this size of which a part is covered. */
  clear(width: number, height: number, covered: { top: number; right: number; bottom: number; left: number }): void {
    this.taken.length = 0
    this.nearby = this.taken
    Object.assign(this.edge, { left: covered.left + 2, right: width - covered.right - 2, top: covered.top + 2, bottom: height - covered.bottom - 2 })
  }

  add(box: Box, kind: Kind, key: string): void {
    this.taken.push({ box, kind, key })
  }

  /** From now on places are looked for inside of this box alone: most of a crowd is elsewhere. */
  within(box: Box): void {
    this.nearby = this.taken.filter(one => isOver(box, one))
  }

  /** Whether a label of this agent or room can be there. */
  isFree(box: Box, key: string, overQuiet: boolean): boolean {
    return this.isInside(box) && !this.nearby.some(other => other.key !== key && !(overQuiet && other.kind === 'quiet') && isOver(box, other))
  }

  /** How much a label would cover there, where it has to be somewhere. */
  covers(box: Box, key: string): number {
    if (!this.isInside(box)) return Infinity
    return this.nearby.reduce((sum, other) => sum + (other.key !== key && isOver(box, other) ? WEIGHT[other.kind] : 0), 0)
  }

  private isInside({ left, right, top, bottom }: Box): boolean {
    const { edge } = this
    return left >= edge.left && right <= edge.right && top >= edge.top && bottom <= edge.bottom
  }
}
