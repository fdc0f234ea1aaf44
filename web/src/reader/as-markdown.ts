// A conversation as one text. Pure.

import { fieldOf } from '../chat/field.ts'
import type { Item } from './items.ts'

/** More of what a call is about is cut. */
const LONGEST_CALL = 300

/** The conversation as Markdown: what each said under its own heading, Claude's calls among its words. */
export function markdown(title: string, all: readonly Item[]): string {
  let text = `# ${title}`
  let speaker = ''
  let before = ''
  const say = (who: string, said: string, kind: string) => {
    if (who && who !== speaker) text += `\n\n## ${who}`
    text += kind === 'tool' && before === 'tool' && who === speaker ? `\n${said}` : `\n\n${said}`
    speaker = who
    before = kind
  }
  for (const item of all) {
    if (item.kind === 'prompt') say('You', item.text, item.kind)
    else if (item.kind === 'text') say('Claude', item.text, item.kind)
    else if (item.kind === 'tool') say('Claude', call(item.name, item.input), item.kind)
    else if (item.kind === 'divider') say('', `---\n\n*${item.text}*`, item.kind)
  }
  return `${text}\n`
}

/** A call, with the field that says what it is about. */
function call(name: string, input: unknown): string {
  const whole = fieldOf(name, input).value.replace(/\s+/g, ' ').trim()
  const about = whole.length > LONGEST_CALL ? `${whole.slice(0, LONGEST_CALL - 1)}…` : whole
  return about ? `- ${code(name)}: ${code(about)}` : `- ${code(name)}`
}

/** As code, whatever backticks are in it. */
function code(text: string): string {
  const fence = '`'.repeat(1 + Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)))
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return `${fence}${space}${text}${space}${fence}`
}
