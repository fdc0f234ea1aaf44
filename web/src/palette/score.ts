// How well what was typed fits a choice. Pure.

/** Every word has to be in one of the texts: at its beginning counts most, at that of a word more than inside one. */
export function score(typed: string, texts: readonly string[]): number {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  let total = 1
  for (const word of words) {
    const best = Math.max(...texts.map(text => one(word, text.toLowerCase())))
    if (best === 0) return 0
    total += best
  }
  return total
}

/** What needs the person goes first among what fits, and nowhere else. */
export function rank(typed: string, texts: readonly string[], needsPerson: boolean): number {
  const fits = score(typed, texts)
  return fits > 0 && needsPerson ? fits + NEEDS : fits
}

const NEEDS = 5

function one(word: string, text: string): number {
  const at = text.indexOf(word)
  if (at < 0) return 0
  if (at === 0) return 4
  return /[\s/_.:-]/.test(text[at - 1]!) ? 3 : 1
}
