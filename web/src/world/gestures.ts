// Dragging, pinching and the wheel, on a canvas that does nothing of its own with them.

export interface Moves {
  drag: (x: number, y: number) => void
  zoom: (factor: number, x: number, y: number) => void
  /** Where the pointer is, when none is pressed. */
  hover: (x: number, y: number) => void
}

/** Follows the pointers of an element; returns what ends it. */
export function followPointers(element: HTMLElement, moves: Moves): () => void {
  const pointers = new Map<number, { x: number; y: number }>()
  const at = (event: PointerEvent | WheelEvent) => {
    const { left, top } = element.getBoundingClientRect()
    return { x: event.clientX - left, y: event.clientY - top }
  }
  const spread = () => {
    const [one, other] = [...pointers.values()]
    return { x: (one!.x + other!.x) / 2, y: (one!.y + other!.y) / 2, far: Math.hypot(one!.x - other!.x, one!.y - other!.y) }
  }
  const down = (event: PointerEvent) => {
    if (event.button > 2 || pointers.size === 2) return
    pointers.set(event.pointerId, at(event))
    element.setPointerCapture(event.pointerId)
  }
  const move = (event: PointerEvent) => {
    const before = pointers.get(event.pointerId)
    const now = at(event)
    if (!before) return void (event.pointerType === 'mouse' && moves.hover(now.x, now.y))
    if (pointers.size === 1) {
      pointers.set(event.pointerId, now)
      return moves.drag(now.x - before.x, now.y - before.y)
    }
    const from = spread()
    pointers.set(event.pointerId, now)
    const to = spread()
    moves.drag(to.x - from.x, to.y - from.y)
    if (from.far > 0) moves.zoom(to.far / from.far, to.x, to.y)
  }
  const up = (event: PointerEvent) => void pointers.delete(event.pointerId)
  const wheel = (event: WheelEvent) => {
    event.preventDefault()
    const { x, y } = at(event)
    moves.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY * (event.deltaMode ? 20 : 1))) / 320), x, y)
  }
  const listeners = [['pointerdown', down], ['pointermove', move], ['pointerup', up], ['pointercancel', up], ['wheel', wheel]] as const
  for (const [name, take] of listeners) element.addEventListener(name, take as EventListener, { passive: false })
  return () => listeners.forEach(([name, take]) => element.removeEventListener(name, take as EventListener))
}
