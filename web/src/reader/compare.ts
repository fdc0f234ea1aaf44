// What compares texts, by lines and by words; loaded with the first change that is shown.

export { diffWordsWithSpace, structuredPatch } from 'diff'
