// A change of a file: from the record's own patch, else from what the call says it replaces.

import { signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { Schemas } from '../api/client.ts'
import { fetchModule } from '../ui/module.ts'
import { rows, type DiffRow } from './diff-rows.ts'
import '../style/diff.css'

type Hunk = Schemas['Hunk']

type Compare = typeof import('./compare.ts')

const loaded = signal<Compare | undefined>(undefined)
let isComing = false

/** What compares texts, once it is here; a component that reads it renders again when it comes. */
function comparing(): Compare | undefined {
  if (!isComing) {
    isComing = true
    // Where it cannot be loaded, the next change asks again.
    void fetchModule(() => import('./compare.ts')).then(compare => (loaded.value = compare)).catch(() => (isComing = false))
  }
  return loaded.value
}

/** A text in a file and what takes its place. */
export interface Edit {
  old_string: string
  new_string: string
}

/** The changes of a call: those of its result, else what it asks for. */
export function useHunks(patch: readonly Hunk[] | null | undefined, input: unknown): readonly Hunk[] {
  const edits = useMemo(() => (patch?.length ? [] : editsOf(input)), [patch, input])
  const compare = edits.length ? comparing() : undefined
  return useMemo(() => (patch?.length ? patch : compare ? hunksOf(edits, compare) : []), [patch, edits, compare])
}

function editsOf(input: unknown): Edit[] {
  const fields = (input ?? {}) as Record<string, unknown>
  const edits: Partial<Edit>[] = Array.isArray(fields.edits) ? fields.edits : [fields]
  return edits.filter((edit): edit is Edit => typeof edit.old_string === 'string' && typeof edit.new_string === 'string')
}

function hunksOf(edits: readonly Edit[], { structuredPatch }: Compare): Hunk[] {
  return edits.flatMap(edit => {
    const patch = structuredPatch('', '', edit.old_string, edit.new_string, undefined, undefined, { context: 3 })
    return patch.hunks.map(hunk => ({ old_start: hunk.oldStart, new_start: hunk.newStart, lines: hunk.lines.filter(line => !line.startsWith('\\')) }))
  })
}

/** How many lines were added and removed. */
export function totals(hunks: readonly Hunk[]): { added: number; removed: number } {
  const lines = hunks.flatMap(hunk => hunk.lines)
  return { added: lines.filter(line => line.startsWith('+')).length, removed: lines.filter(line => line.startsWith('-')).length }
}

export function Diff({ hunks, isNumbered }: { hunks: readonly Hunk[]; isNumbered: boolean }) {
  const all = useMemo(() => rows(hunks), [hunks])
  return (
    <div class="diff" role="group" aria-label="Changes" tabIndex={0}>
      {all.map((row, at) => (
        <Line key={at} row={row} isNumbered={isNumbered} />
      ))}
    </div>
  )
}

function Line({ row, isNumbered }: { row: DiffRow; isNumbered: boolean }) {
  if (row.kind === 'gap') return <div class="diff-gap">⋯</div>
  const sign = row.kind === 'added' ? '+' : row.kind === 'removed' ? '−' : ' '
  return (
    <div class={`diff-line ${row.kind}`}>
      {isNumbered && <span class="diff-number">{row.number}</span>}
      <span class="diff-sign">{sign}</span>
      <span class="diff-text">{row.other === undefined ? row.text : <Words row={row} other={row.other} />}</span>
    </div>
  )
}

/** A line with the words marked in which it differs from its other version. */
function Words({ row, other }: { row: DiffRow & { text: string }; other: string }) {
  const compare = comparing()
  if (!compare) return <>{row.text}</>
  const { diffWordsWithSpace } = compare
  const isOld = row.kind === 'removed'
  const parts = isOld ? diffWordsWithSpace(row.text, other) : diffWordsWithSpace(other, row.text)
  return (
    <>
      {parts
        .filter(part => !(isOld ? part.added : part.removed))
        .map((part, at) => (part.added || part.removed ? <mark key={at}>{part.value}</mark> : part.value))}
    </>
  )
}
