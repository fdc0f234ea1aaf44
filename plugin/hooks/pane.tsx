// The pane of `/backstory`: a field that searches as one types, the sessions found, and the place that the chosen one cites.

import { atom, read, update } from 'claude-code'
import type { EngineInterface, On } from 'claude-code'

import { draw } from './pane-view'
import { pack } from './pack'
import { around, placeOf, search } from './server'
import { latestOnly } from './latest-only'

/** What was found for the question in the pane. */
const found = atom(
  { plugin: 'backstory', key: 'found' } as const,
  { question: '', hits: [], total: 0, note: null },
  { shape: 'found-1' },
)
/** Which of the hits is chosen, from 0. */
const chosen = atom({ plugin: 'backstory', key: 'chosen' } as const, 0)
/** The messages around the place that the chosen hit cites. */
const passage = atom({ plugin: 'backstory', key: 'passage' } as const, null, { shape: 'passage-1' })
/** Whether the pane shows the commands that continue the chosen session. */
const areLinesShown = atom({ plugin: 'backstory', key: 'areLinesShown' } as const, false)

const PANE = 'backstory'
/** Rows of the pane above the prompt, where the terminal docks none. */
const ROWS = 22

const searching = latestOnly()
const reading = latestOnly()
/** The words that the pane was opened with. */
let opening = ''
/** How long a pack may be, in tokens. */
let budget = 0

/** Registers `/backstory` and its pane. */
export function registerPane(on: On, tokens: number): void {
  budget = tokens

  on('session.start', async ($, e, next) => {
    await $.command.register({
      name: 'backstory',
      description: 'Search all your sessions as you type',
      argumentHint: '[words]',
      immediate: true,
    })
    return next(e)
  })

  on('command.run', { command: 'backstory' }, async ($, e) => {
    opening = e.args.trim()
    await look($, opening)
    const opened = await $.ui.open({ id: PANE, title: 'Backstory', focus: true, closeOnEscape: true, rows: ROWS })
    return opened.isPlaced ? {} : { text: `The pane is not shown: ${opened.reason}` }
  })

  // The preview follows the focus.
  on('ui.focus', { component: 'Pane', requestId: PANE }, async ($, e, next) => {
    const moved = await next(e)
    const index = /^hit:(\d+)$/.exec(e.element ?? '')?.[1]
    if (index !== undefined && Number(index) !== (await read($, chosen))) void choose($, Number(index))
    return moved
  })

  on('ui.render', { component: 'Pane', requestId: PANE }, async ($, e) => {
    const elements = $.ui.resolve(e)
    const state = {
      opening,
      now: await $.clock.now(),
      found: await read($, found),
      chosen: await read($, chosen),
      passage: await read($, passage),
      areLinesShown: await read($, areLinesShown),
    }
    return draw(elements, e.props, state, {
      typed: question => void look($, question),
      entered: question => enter($, question),
      pressed: index => press($, index),
      fill: () => fill($),
      toggle: () => update($, areLinesShown, shown => !shown),
    })
  })
}

/** Searches, unless something newer is asked meanwhile. */
async function look($: EngineInterface, question: string): Promise<void> {
  if (!(await searching.acquire())) return
  try {
    const answer = await search($, question)
    await update($, found, () => answer)
  } finally {
    searching.release()
  }
  await choose($, 0)
}

/** Goes from the field to the first hit. The field keeps what was typed. */
async function enter($: EngineInterface, question: string): Promise<void> {
  const words = question.trimEnd()
  // Claude Code empties the field, and draws a text again only where it is another than the last one.
  opening = opening === words ? `${words} ` : words
  if ((await read($, found)).question.trimEnd() !== words) await look($, words)
  // Before the keys belong to the hit: the first of them may come at once.
  await select($, 0)
  await $.ui.focus({ requestId: PANE, key: 'hit:0' })
  await preview($)
}

/** Chooses a hit and reads around the place that it cites. */
async function choose($: EngineInterface, index: number): Promise<void> {
  await select($, index)
  await preview($)
}

async function select($: EngineInterface, index: number): Promise<void> {
  await update($, chosen, () => index)
  await update($, areLinesShown, () => false)
}

/** Reads around the place that the chosen hit cites. */
async function preview($: EngineInterface): Promise<void> {
  if (!(await reading.acquire())) return
  try {
    const hit = (await read($, found)).hits[await read($, chosen)]
    const messages = hit === undefined ? null : await around($, hit)
    await update($, passage, () => messages)
  } finally {
    reading.release()
  }
}

/** Chooses a hit, as a click does; one that is chosen already is put into the prompt. */
async function press($: EngineInterface, index: number): Promise<void> {
  if ((await read($, chosen)) === index) await fill($)
  else await choose($, index)
}

/** Puts a pack of the chosen hit into the prompt and closes the pane. */
async function fill($: EngineInterface): Promise<void> {
  const hit = (await read($, found)).hits[await read($, chosen)]
  if (hit === undefined) return
  const messages = await read($, passage)
  const text = pack(hit, messages?.of === placeOf(hit) ? messages : null, budget, await $.clock.now())
  await $.ui.close({ id: PANE })
  // The person's own words come first: they name the session that begins with them.
  const { text: draft } = await $.prompt.read()
  const filled = await $.prompt.fill({ text: `\n\n${text}`, mode: 'append', cursor: draft.length })
  if (!filled.isFilled) $.ui.toast(`Backstory could not fill the prompt: ${filled.refusal ?? 'it was refused'}`)
}
