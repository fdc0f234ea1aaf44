// What this browser can draw: probed once, and the probe's contexts are released.

export type Graphics = 'none' | 'software' | 'card'

let answer: Graphics | undefined

/** Whether there is WebGL, and whether a graphics card is behind it. */
export function graphics(): Graphics {
  answer ??= has({ failIfMajorPerformanceCaveat: true }) ? 'card' : has({}) ? 'software' : 'none'
  return answer
}

export function hasWebGl(): boolean {
  return graphics() !== 'none'
}

function has(options: WebGLContextAttributes): boolean {
  try {
    const context = document.createElement('canvas').getContext('webgl2', options)
    context?.getExtension('WEBGL_lose_context')?.loseContext()
    return context !== null
  } catch {
    return false
  }
}

export function prefersReducedMotion(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches
}
