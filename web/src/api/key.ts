// The key of this browser. Its cookie goes to every port of the machine and is worth nothing without the key, which the
// link left for pages of this very address (`public/early.js`).

declare global {
  interface Window {
    /** The list, asked for before this script was there. */
    earlyRows?: Promise<Response> | undefined
  }
}

const key = () => localStorage.getItem('backstory-key') ?? ''

/** The headers of every request. */
export const keyHeaders = (): Record<string, string> => ({ 'Backstory-Key': key() })

/** The address of a stream, which can send no headers. */
export const streamAddress = (path: string): string => `${path}?${new URLSearchParams({ key: key() })}`

/** What was asked for early, once. */
export function takeEarly(url: string): Promise<Response> | undefined {
  if (url !== '/api/v1/rows') return
  const early = window.earlyRows
  window.earlyRows = undefined
  return early
}
