// The rows of all sessions, which come in pages.

import { get, type Schemas } from './client.ts'

/** All rows; the first page is enough but for tens of thousands of sessions. */
export async function allRows(query: { hidden?: boolean } = {}, signal?: AbortSignal): Promise<Schemas['SessionRow'][]> {
  const rows: Schemas['SessionRow'][] = []
  let cursor: string | undefined
  do {
    const page = await get('/api/v1/rows', { query: { ...query, cursor }, signal })
    rows.push(...page.rows)
    cursor = page.next ?? undefined
  } while (cursor)
  return rows
}
