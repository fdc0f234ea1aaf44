// Scripts that are loaded when they are needed.

let attempts = 0

/**
 * Loads a script. Chromium remembers for as long as the page is open that one did not come, so it is asked for once more
 * under another address, which the error names.
 */
export async function fetchModule<M>(load: () => Promise<M>): Promise<M> {
  try {
    return await load()
  } catch (error) {
    const address = /https?:\S+\.js/.exec(String(error))?.[0]
    if (!address || new URL(address).origin !== location.origin) throw error
    return import(/* @vite-ignore */ `${address}?again=${++attempts}`)
  }
}
