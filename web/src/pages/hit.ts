// A search result in words. Pure.

import type { Schemas } from '../api/client.ts'

/** What stands above a hit; nothing above those that follow a better one of their kind. */
export function headingOf(hits: readonly { weak: boolean }[], at: number): string | undefined {
  if (!hits[at]?.weak || hits[at - 1]?.weak) return undefined
  return at === 0 ? 'No good matches. The nearest:' : 'Weak matches'
}

/** The parts of a snippet; marks are ranges of UTF-8 bytes. */
export function marked(text: string, marks: readonly (readonly [number, number])[]): { text: string; isMarked: boolean }[] {
  const bytes = new TextEncoder().encode(text)
  const decoder = new TextDecoder()
  const parts: { text: string; isMarked: boolean }[] = []
  let at = 0
  for (const [start, end] of [...marks].sort((one, other) => one[0] - other[0])) {
    if (start < at || end > bytes.length) continue
    if (start > at) parts.push({ text: decoder.decode(bytes.subarray(at, start)), isMarked: false })
    parts.push({ text: decoder.decode(bytes.subarray(start, end)), isMarked: true })
    at = end
  }
  if (at < bytes.length) parts.push({ text: decoder.decode(bytes.subarray(at)), isMarked: false })
  return parts
}

/** The words of a snippet that were found, each once. */
export function foundWords({ snippet, marks }: { snippet?: string | null; marks: unknown }): string[] {
  const parts = marked(snippet ?? '', marks as [number, number][]).filter(part => part.isMarked)
  return [...new Set(parts.map(part => part.text.toLowerCase()))].slice(0, 8)
}

/** Who said it, or what it is: `Claude`, `Summary`, `Bash output`. */
export function kindName({ role, kind }: Pick<Schemas['SearchHit'], 'role' | 'kind'>): string {
  if (role === 'user') return 'You'
  if (role === 'assistant') return 'Claude'
  const words = kind.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Why a session is among the results. */
export function why({ why: score, kind, score: total }: Pick<Schemas['SearchHit'], 'why' | 'kind' | 'score'>): string {
  const reasons = [`This passage: ${score.best_chunk.toFixed(2)}`, `the whole session: ${score.whole_session.toFixed(2)}`]
  if (score.best_similarity !== null && score.best_similarity !== undefined) reasons.push(`nearest in meaning: ${score.best_similarity.toFixed(2)}`)
  if (score.changed_file) reasons.push('it changed the file that was named')
  return `Score ${total.toFixed(2)}, found in ${kind.replaceAll('_', ' ')}. ${reasons.join(', ')}.`
}
