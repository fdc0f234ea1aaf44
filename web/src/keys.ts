// Keys: what each does is named where it is bound, so that the help page can never disagree.

export interface Binding {
  keys: string
  what: string
  run: (event: KeyboardEvent) => void
  /** Whether it leads to a field: what is typed before the field is there is meant for it. */
  opensField?: boolean
}

interface Layer {
  name: string
  bindings: Binding[]
}

const layers: Layer[] = []
let pending = ''
let pendingUntil = 0
/** How long a key waits for the second of a pair, in milliseconds. */
const PAIR_TIME = 900
/** What was typed for a field that is not there yet, and until when it is waited for. */
let typedAhead: { text: string; until: number } | undefined
/** How long a field is waited for, in milliseconds; it may have to be loaded first. */
const FIELD_TIME = 10_000

/** Binds keys until the returned function is called; later layers go first. */
export function bind(name: string, bindings: Binding[]): () => void {
  const layer = { name, bindings }
  layers.push(layer)
  return () => layers.splice(layers.indexOf(layer), 1)
}

/** All that is bound now, by where it counts. */
export function bound(): { name: string; bindings: Binding[] }[] {
  return layers
}

/** What a key is called: `j`, `shift+j`, `mod+k`, `escape`. */
export function nameOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key.toLowerCase().replace('arrow', '')
  const isLetter = /^[a-z]$/.test(key)
  return [event.metaKey || event.ctrlKey ? 'mod+' : '', event.altKey ? 'alt+' : '', isLetter && event.shiftKey ? 'shift+' : '', key].join('')
}

/** Whether typing goes into a field. */
export function isTyping(event: Event): boolean {
  const target = event.target as HTMLElement
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}

/** Keeps a key for the field that is on its way; false where none is. */
function keepTyped(event: KeyboardEvent): boolean {
  if (!typedAhead || isTyping(event)) return false
  if (event.timeStamp > typedAhead.until || event.key === 'Escape' || event.metaKey || event.ctrlKey || event.altKey) {
    typedAhead = undefined
    return false
  }
  if (event.key === 'Backspace') typedAhead.text = typedAhead.text.slice(0, -1)
  else if (event.key.length === 1) typedAhead.text += event.key
  event.preventDefault()
  return true
}

/** The field that was on its way does not come: keys are commands again. */
export function forgetTyped(): void {
  typedAhead = undefined
}

/** Gives a field what was typed for it. */
function insertTyped(event: FocusEvent): void {
  if (!typedAhead || !isTyping(event)) return
  const { text } = typedAhead
  typedAhead = undefined
  const field = event.target
  if (!text || !(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return
  // Only fields of text have a selection.
  if (field.selectionStart === null) return
  // The one that focuses the field may select what is in it afterwards.
  queueMicrotask(() => {
    field.setRangeText(text, field.selectionStart ?? 0, field.selectionEnd ?? 0, 'end')
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
  })
}

export function startKeys(): void {
  addEventListener('focusin', insertTyped)
  addEventListener('keydown', event => {
    if (event.defaultPrevented || event.isComposing || keepTyped(event)) return
    // What lies over the page has the keys to itself.
    if (document.querySelector('dialog[open]')) return
    const name = nameOf(event)
    const isPlain = !name.startsWith('mod+') && name !== 'escape'
    if (isTyping(event) && isPlain) return
    const whole = pending && event.timeStamp < pendingUntil ? `${pending} ${name}` : name
    const found = find(whole) ?? find(name)
    pending = ''
    if (found) {
      event.preventDefault()
      if (found.opensField) typedAhead = { text: '', until: event.timeStamp + FIELD_TIME }
      found.run(event)
    } else if (layers.some(layer => layer.bindings.some(one => one.keys.split(', ').some(keys => keys.startsWith(`${name} `))))) {
      pending = name
      pendingUntil = event.timeStamp + PAIR_TIME
    }
  })
}

function find(name: string): Binding | undefined {
  for (const layer of layers.toReversed()) {
    const found = layer.bindings.find(binding => binding.keys.split(', ').includes(name))
    if (found) return found
  }
  return undefined
}
