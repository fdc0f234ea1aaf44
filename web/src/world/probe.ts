// Whether this browser can draw in three dimensions; asked once, and what was taken for it is given back.

let answer: boolean | undefined

export function hasWebGl(): boolean {
  if (answer !== undefined) return answer
  try {
    const context = document.createElement('canvas').getContext('webgl2')
    context?.getExtension('WEBGL_lose_context')?.loseContext()
    answer = context !== null
  } catch {
    answer = false
  }
  return answer
}

export function prefersStill(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches
}
