// A table of the Cost page: what a line is of, a bar where lines are compared, and numbers.

import type { ComponentChildren } from 'preact'

interface Props<T> {
  /** What its lines are. */
  name: string
  lines: readonly T[]
  keyOf: (line: T) => string
  cell: (line: T) => ComponentChildren
  /** How long a line's bar is, and in words. */
  bar?: (line: T) => [number, string]
  columns: readonly Column<T>[]
  /** How many lines are shown. */
  shown?: number
  /** What one can do to see the others. */
  hint?: string
}

interface Column<T> {
  name: string
  isDim?: boolean
  show: (line: T) => ComponentChildren
}

export function CostTable<T>({ name, lines, keyOf, cell, bar, columns, shown = 12, hint = '' }: Props<T>) {
  const first = lines.slice(0, shown)
  const most = Math.max(0.000001, ...first.map(line => bar?.(line)[0] ?? 0))
  return (
    <>
      <table>
        <thead>
          <tr>
            <th>{name}</th>
            {columns.map(column => (
              <th key={column.name} class="number">
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first.map(line => (
            <tr key={keyOf(line)}>
              <td>
                {cell(line)}
                {bar && <meter min={0} max={most} value={bar(line)[0]} aria-label={bar(line)[1]} />}
              </td>
              {columns.map(column => (
                <td key={column.name} class={column.isDim ? 'number dim' : 'number'}>
                  {column.show(line)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length > shown && (
        <p class="dim">
          {lines.length - shown} more{hint}
        </p>
      )}
    </>
  )
}
