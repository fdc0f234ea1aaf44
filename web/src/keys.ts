// Keys: what each does is named where it is bound, so that the help page can never disagree.

export interface Binding {
  keys: string
  what: string
  run: (event: KeyboardEvent) => void
}

interface Layer {
  name: string
  bindings: Binding[]
}

const layers: Layer[] = []
let pending = ''
let pendingUntil = 0
/** How long a key waits for the second of a pair, in milliseconds. */
const PAIR = 900

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
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}

export function startKeys(): void {
  addEventListener('keydown', event => {
    if (event.defaultPrevented || event.isComposing) return
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
      found.run(event)
    } else if (layers.some(layer => layer.bindings.some(one => one.keys.split(', ').some(keys => keys.startsWith(`${name} `))))) {
      pending = name
      pendingUntil = event.timeStamp + PAIR
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
