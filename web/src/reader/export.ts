// A conversation as Markdown, copied or saved; loaded when somebody takes one away.

import { get } from '../api/client.ts'
import { dayName } from '../format.ts'
import { now } from '../live/store.ts'
import { items } from './items.ts'
import { markdown } from './as-markdown.ts'
import type { Page } from './window.ts'

export async function copyMarkdown(id: string, title: string): Promise<void> {
  await navigator.clipboard.writeText(await asMarkdown(id, title))
}

export async function saveMarkdown(id: string, title: string): Promise<void> {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([await asMarkdown(id, title)], { type: 'text/markdown' }))
  link.download = `${id.slice(0, 8)}.md`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

async function asMarkdown(id: string, title: string): Promise<string> {
  const places = { branches: [], dayName: (at: number) => dayName(at, now.peek()) }
  return markdown(title, items(await everything(id), 'normal', places))
}

/** Every message of a session, from its beginning. */
async function everything(session: string): Promise<Page['messages']> {
  const pages: Page['messages'][] = []
  let before: string | null | undefined
  do {
    const query = { limit: 500, ...(before ? { before } : {}) }
    const page = await get('/api/v1/sessions/{session}/blocks', { path: { session }, query })
    pages.unshift(page.messages)
    before = page.older
  } while (before)
  return pages.flat()
}
