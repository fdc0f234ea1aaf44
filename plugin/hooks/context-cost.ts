// What the context of this session costs once the prompt cache no longer holds it. The figures are Claude Code's own: it
// says the price of caching a context again when a session is resumed and when the model changes, and that price is kept
// for later sessions with the same model. Until it has said one, only the tokens are known.

import { atom, update } from 'claude-code'
import type { EngineInterface, On } from 'claude-code'

/** What the context costs when it is cold; the band draws it. */
const cost = atom({ plugin: 'backstory', key: 'cost' } as const, null, { shape: 'cost-1' })

/** Reading less than this again is not worth a word, in tokens. */
const LITTLE = 20_000

/** Keeps the cost of the context up to date. */
export function registerContextCost(on: On): void {
  on('classic.SessionStart', { source: ['resume', 'fork'] }, async ($, e, next) => {
    const started = await next(e)
    const [tokens, usd] = [e.context_tokens ?? 0, e.estimated_cache_write_usd]
    if (usd !== undefined && tokens > 0) await keepRate($, await $.session.model(), usd / tokens)
    const isCold = e.prompt_cache_likely_expired === true
    // What is still warm after more than five minutes is kept for an hour.
    const isKept = !isCold && (e.seconds_since_last_response ?? 0) > 300
    await show($, tokens, isKept ? 60 : 5, isCold)
    return started
  })

  on('classic.PostModelSwitch', async ($, e, next) => {
    const switched = await next(e)
    if (e.context_tokens > 0 && e.pricing !== 'default') {
      await keepRate($, e.to_model, e.estimated_cache_write_usd / e.context_tokens)
    }
    await show($, e.context_tokens, e.cache_ttl === '1h' ? 60 : 5, !e.prompt_cache_warm)
    return switched
  })

  on('turn.complete', async ($, e, next) => {
    const completed = await next(e)
    if (e.agentId === undefined) {
      const { context } = await $.session.usage()
      await show($, context.tokens ?? 0, (e.usage?.ephemeral_1h_input_tokens ?? 0) > 0 ? 60 : 5, false)
    }
    return completed
  })

  on('classic.PostCompact', async ($, e, next) => {
    await update($, cost, () => null)
    return next(e)
  })
}

async function show($: EngineInterface, tokens: number, minutes: number, isCold: boolean): Promise<void> {
  if (tokens < LITTLE) {
    await update($, cost, () => null)
    return
  }
  const rate = await $.store.get(keyOf(await $.session.model()))
  const usd = typeof rate === 'number' ? rate * tokens : null
  await update($, cost, () => ({ tokens, usd, minutes, isCold }))
}

async function keepRate($: EngineInterface, model: string, rate: number): Promise<void> {
  await $.store.set(keyOf(model), rate)
}

function keyOf(model: string): string {
  return `usd per token of ${model}`
}
