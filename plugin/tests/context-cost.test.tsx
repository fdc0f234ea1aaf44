import { expect, mock, test } from 'claude-code/testing'
import type { Engine } from 'claude-code/testing'
import type { On } from 'claude-code'

import { PATIENT, bandProps } from './fixtures'

const BAND = { plugin: 'backstory', component: 'AbovePrompt', surface: 'terminal', props: bandProps } as const

/** Stands for a session with so many tokens of context. */
function session(on: On, tokens: number): void {
  mock.clock(on, { now: 0 })
  mock.store(on)
  on('session.model', () => ({ value: 'claude-opus-5' }))
  on('session.usage', () => ({ value: { startedAt: 0, context: { tokens, window: 200_000 }, rateLimits: [] } }))
  on('classic.SessionStart', () => ({}))
  on('classic.PostModelSwitch', () => ({}))
  on('classic.PostCompact', () => ({}))
  on('turn.complete', (_, e) => ({ text: e.answer }))
}

async function said($: Engine): Promise<string | undefined> {
  const ui = await $.ui.mount(BAND)
  const text = (await ui.find({ type: 'Text', text: /tokens of context/ }))?.text
  await ui.unmount()
  return text
}

const turn = { reason: 'answer', answer: 'Done.', isAborted: false, turnId: 't1', durationMs: 1 } as const

test('a session that is resumed cold says what reading it again costs', PATIENT, async ($, on) => {
  session(on, 0)
  await $.classic.SessionStart({
    source: 'resume',
    context_tokens: 41_000,
    estimated_cache_write_usd: 0.2563,
    prompt_cache_likely_expired: true,
  })
  expect(await said($)).toBe('41k tokens of context are no longer cached: the next prompt reads them again for about $0.26')
})

test('what is still warm after more than five minutes lasts an hour', PATIENT, async ($, on) => {
  session(on, 0)
  const resumed = { source: 'resume', context_tokens: 41_000, estimated_cache_write_usd: 0.25 } as const
  await $.classic.SessionStart({ ...resumed, seconds_since_last_response: 200, prompt_cache_likely_expired: false })
  expect(await said($)).toMatch(/cached for 5 idle minutes/)
  await $.classic.SessionStart({ ...resumed, seconds_since_last_response: 400, prompt_cache_likely_expired: false })
  expect(await said($)).toMatch(/cached for 60 idle minutes/)
})

test('the price is kept for the model, and grows with the context', PATIENT, async ($, on) => {
  session(on, 82_000)
  await $.classic.SessionStart({ source: 'resume', context_tokens: 41_000, estimated_cache_write_usd: 0.25 })
  expect(await said($)).toBe('41k tokens of context: cached for 5 idle minutes, then read again for about $0.25')
  await $.turn.complete({ ...turn, usage: usage(0) })
  expect(await said($)).toBe('82k tokens of context: cached for 5 idle minutes, then read again for about $0.50')
  await $.turn.complete({ ...turn, usage: usage(100) })
  expect(await said($)).toMatch(/cached for 60 idle minutes/)
})

test('without a price only the tokens are said', PATIENT, async ($, on) => {
  session(on, 30_000)
  await $.turn.complete({ ...turn, usage: usage(0) })
  expect(await said($)).toBe('30k tokens of context: cached for 5 idle minutes, then read again')
})

test('a small context, one that was compacted and a sub-agent are not worth a word', PATIENT, async ($, on) => {
  session(on, 30_000)
  await $.classic.SessionStart({ source: 'resume', context_tokens: 19_000, estimated_cache_write_usd: 0.1 })
  expect(await said($)).toBeUndefined()
  await $.turn.complete({ ...turn, agentId: 'a1', usage: usage(0) })
  expect(await said($)).toBeUndefined()
  await $.turn.complete({ ...turn, usage: usage(0) })
  expect(await said($)).toBeDefined()
  await $.classic.PostCompact({ trigger: 'manual', compact_summary: '' })
  expect(await said($)).toBeUndefined()
})

test('another model has a price of its own', PATIENT, async ($, on) => {
  session(on, 30_000)
  await $.classic.PostModelSwitch({
    from_model: 'claude-haiku-4-5',
    to_model: 'claude-opus-5',
    requested_model: 'opus',
    source: 'command',
    context_tokens: 30_000,
    prompt_cache_warm: false,
    cache_ttl: '1h',
    estimated_cache_write_usd: 0.3,
    pricing: 'catalog',
  })
  expect(await said($)).toBe('30k tokens of context are no longer cached: the next prompt reads them again for about $0.30')
})

/** What a turn used, of which so many tokens were cached for an hour. */
function usage(forAnHour: number) {
  return {
    input_tokens: 1,
    output_tokens: 1,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 100,
    ephemeral_5m_input_tokens: 100 - forAnHour,
    ephemeral_1h_input_tokens: forAnHour,
    model: 'claude-opus-5',
  }
}
