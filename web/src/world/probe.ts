// Whether this browser has WebGL: probed once, and the probe's context is released.

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

export function prefersReducedMotion(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches
}
