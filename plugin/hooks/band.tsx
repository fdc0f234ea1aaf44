// The band above the prompt: where the drafted first prompt was done before, and what the context costs once it is cold.

import { atom, read, update } from 'claude-code'
import type { EngineInterface, On } from 'claude-code'

import { search } from './server'
import { latestOnly } from './latest-only'
import { cite, contextCost, oneLine, origin, title } from './format'

/** Where the drafted first prompt was done before. */
const before = atom({ plugin: 'backstory', key: 'before' } as const, null, { shape: 'before-1' })
/** What the context costs when it is cold; `context-cost.ts` keeps it up to date. */
const cost = atom({ plugin: 'backstory', key: 'cost' } as const, null, { shape: 'cost-1' })

/** From this score on a hit is said to be the same work; scores go from 0 to 1. `scripts/before` measures what it costs. */
const STRONG = 0.45
/** A shorter draft says too little to be searched for, in words. */
const WORDS = 3
/** How long a draft stays as it is before it is searched for, in milliseconds. */
const PAUSE = 250

const searching = latestOnly()
let drafted = ''

/** Registers the hooks that search for a draft and draw the band. */
export function registerBand(on: On): void {
  on('prompt.edit', async ($, e, next) => {
    const box = await next(e)
    consider($, box.text)
    return box
  })

  on('prompt.change', ($, e, next) => {
    consider($, e.text)
    return next(e)
  })

  on('prompt.submit', async ($, e, next) => {
    drafted = ''
    await update($, before, () => null)
    return next(e)
  })

  on('ui.render', { component: 'AbovePrompt' }, async ($, e, next) => {
    const [hit, context] = [await read($, before), await read($, cost)]
    const isQuiet = e.props.hasSurvey || e.props.isWorking || (hit === null && context === null)
    if (isQuiet) return next(e)
    const { Box, Text } = $.ui.resolve(e)
    const now = await $.clock.now()
    return (
      <Box flexDirection="column">
        {hit !== null && (
          <Text wrap="truncate-end">
            done before: {oneLine(title(hit), 80)} ({origin(hit, now)}) <Text dimColor>{cite(hit)} · /backstory</Text>
          </Text>
        )}
        {context !== null && (
          <Text dimColor wrap="truncate-end">
            {contextCost(context)}
          </Text>
        )}
      </Box>
    )
  })
}

/** Searches for a draft that stays as it is for a moment. */
function consider($: EngineInterface, draft: string): void {
  drafted = draft
  $.clock.after(PAUSE, () => {
    if (draft !== drafted) return
    void look($, draft)
  })
}

/** Finds where the first prompt of this session was done before. */
async function look($: EngineInterface, draft: string): Promise<void> {
  if (!isSearched(draft) || (await $.session.turns()) > 0) {
    await update($, before, () => null)
    return
  }
  if (!(await searching.acquire())) return
  try {
    const [answer, own] = [await search($, draft, 3), await $.session.id()]
    const hit = answer.hits.find(one => one.session_id !== own && one.score >= STRONG) ?? null
    // It may have been sent in the meantime.
    if (draft === drafted) await update($, before, () => hit)
  } finally {
    searching.release()
  }
}

/** Whether a draft is a prompt in words, and not a command. */
export function isSearched(draft: string): boolean {
  const words = draft.trim().split(/\s+/)
  return !/^[/!#]/.test(draft.trimStart()) && words.length >= WORDS
}
