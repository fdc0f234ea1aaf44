// The lines of a change, numbered and paired. Pure.

export type DiffRow =
  | { kind: 'gap' }
  | { kind: 'same' | 'added' | 'removed'; number: number; text: string; other?: string | undefined }

interface Hunk {
  old_start: number
  new_start: number
  lines: string[]
}

/** A removed line of this length or longer is not compared word by word. */
const LONGEST = 400

/** The rows of hunks; where as many lines were added as removed, each knows its other version. */
export function rows(hunks: readonly Hunk[]): DiffRow[] {
  const all: DiffRow[] = []
  hunks.forEach((hunk, at) => {
    if (at > 0) all.push({ kind: 'gap' })
    let [before, after] = [hunk.old_start, hunk.new_start]
    const { lines } = hunk
    for (let start = 0; start < lines.length; ) {
      const removed = run(lines, start, '-')
      const added = run(lines, start + removed.length, '+')
      if (!removed.length && !added.length) {
        all.push({ kind: 'same', number: after++, text: lines[start]!.slice(1) })
        before++
        start++
        continue
      }
      const isPaired = removed.length === added.length
      const other = (texts: string[], place: number) => (isPaired && (texts[place]?.length ?? 0) < LONGEST ? texts[place] : undefined)
      removed.forEach((text, place) => all.push({ kind: 'removed', number: before++, text, other: other(added, place) }))
      added.forEach((text, place) => all.push({ kind: 'added', number: after++, text, other: other(removed, place) }))
      start += removed.length + added.length
    }
  })
  return all
}

function run(lines: readonly string[], start: number, sign: string): string[] {
  const found: string[] = []
  for (let at = start; lines[at]?.startsWith(sign); at++) found.push(lines[at]!.slice(1))
  return found
}
