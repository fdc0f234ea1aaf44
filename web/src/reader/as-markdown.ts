// A conversation as one text. Pure.

import type { Item } from './items.ts'

/** The conversation as Markdown. */
export function markdown(title: string, all: readonly Item[]): string {
  const said = all.flatMap(item => {
    if (item.kind === 'prompt') return [`## You\n\n${item.text}`]
    if (item.kind === 'text') return [`## Claude\n\n${item.text}`]
    if (item.kind === 'tool') return [`- \`${item.name}\``]
    return item.kind === 'divider' ? [`---\n\n*${item.text}*`] : []
  })
  return `# ${title}\n\n${said.join('\n\n').replaceAll(/\n\n- `/g, '\n- `')}\n`
}
