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

export class Space {
  private readonly taken: { box: Box; kind: Kind; key: string }[] = []
  private readonly edge: Box = { left: 0, right: 0, top: 0, bottom: 0 }

  /** Begins anew, for a screen of this size of which a part is covered. */
  clear(width: number, height: number, covered: { top: number; right: number; bottom: number; left: number }): void {
    this.taken.length = 0
    Object.assign(this.edge, { left: covered.left + 2, right: width - covered.right - 2, top: covered.top + 2, bottom: height - covered.bottom - 2 })
  }

  add(box: Box, kind: Kind, key: string): void {
    this.taken.push({ box, kind, key })
  }

  /** Whether a label of this agent or room can be there. */
  isFree(box: Box, key: string, overQuiet: boolean): boolean {
    const { edge } = this
    if (box.left < edge.left || box.right > edge.right || box.top < edge.top || box.bottom > edge.bottom) return false
    for (const other of this.taken) {
      const gap = other.kind === 'label' ? APART : 0
      if (other.key === key || (overQuiet && other.kind === 'quiet')) continue
      if (box.left < other.box.right + gap && box.right > other.box.left - gap && box.top < other.box.bottom + gap && box.bottom > other.box.top - gap) return false
    }
    return true
  }
}
