import { expect, mock, test } from 'claude-code/testing'
import type { Engine, MockClock } from 'claude-code/testing'
import type { On, PromptEditInput } from 'claude-code'

import { PATIENT, answer, bandProps, hit } from './fixtures'

const BAND = { plugin: 'backstory', component: 'AbovePrompt', surface: 'terminal', props: bandProps } as const
const NOW = Date.parse('2026-11-22T12:00:00Z')

/** Answers for the session and the server, and counts the searches. */
function session(on: On, { turns = 0, found = answer(hit()) } = {}): { clock: MockClock; asked: unknown[] } {
  const asked: unknown[] = []
  on('session.turns', () => ({ value: turns }))
  on('session.id', () => ({ value: 'this-one' }))
  on('prompt.edit', (_, e) => ({ text: e.text.slice(0, e.start) + e.inputText + e.text.slice(e.end), cursor: 0 }))
  on('mcp.connect', () => ({ value: { isConnected: true, server: 's' } }))
  on('mcp.call', (_, e) => {
    asked.push(e.args)
    return { value: { content: [], isError: false, structuredContent: found } }
  })
  return { clock: mock.clock(on, { now: NOW }), asked }
}

/** Puts a text into an empty prompt. The kit raises `prompt.edit`, though its types do not name it. */
async function type($: Engine, text: string): Promise<void> {
  const prompt = $.prompt as unknown as { edit: (e: PromptEditInput) => Promise<unknown> }
  await prompt.edit({ origin: { kind: 'composer' }, text: '', cursor: 0, start: 0, end: 0, inputText: text })
}

test('a strong hit for the first draft is said, with its day and branch', PATIENT, async ($, on) => {
  const { clock, asked } = session(on)
  const ui = await $.ui.mount(BAND)
  await type($, 'why does the refresh fail')
  await clock.advance(300)
  expect(asked).toEqual([{ query: 'why does the refresh fail', limit: 3, max_age_seconds: 10 }])
  const said = await ui.find({ type: 'Text', text: /done before/ })
  expect(said?.text).toMatch(/done before: Fix token refresh with clock skew \(3 Nov, fix\/token-refresh\)/)
  expect(said?.text).toMatch(/1ba1de03:11/)
  await ui.unmount()
})

test('a weak hit, this session, a later prompt and a command are not said', PATIENT, async ($, on) => {
  const cases = [
    { found: answer(hit({ score: 0.44 })), draft: 'why does the refresh fail', searches: 1 },
    { found: answer(hit({ session_id: 'this-one' })), draft: 'why does the refresh fail', searches: 1 },
    { turns: 2, draft: 'why does the refresh fail', searches: 0 },
    { draft: '/compact and keep the plan', searches: 0 },
    { draft: 'go on', searches: 0 },
  ]
  let at = cases[0]
  const asked: unknown[] = []
  on('session.turns', () => ({ value: at?.turns ?? 0 }))
  on('session.id', () => ({ value: 'this-one' }))
  on('prompt.edit', (_, e) => ({ text: e.inputText, cursor: 0 }))
  on('mcp.connect', () => ({ value: { isConnected: true, server: 's' } }))
  on('mcp.call', (_, e) => {
    asked.push(e.args)
    return { value: { content: [], isError: false, structuredContent: at?.found ?? answer(hit()) } }
  })
  const clock = mock.clock(on, { now: NOW })
  const ui = await $.ui.mount(BAND)
  for (const one of cases) {
    at = one
    asked.length = 0
    await type($, one.draft)
    await clock.advance(300)
    expect(asked).toHaveLength(one.searches)
    expect(await ui.find({ text: /done before/ }), one.draft).toBeUndefined()
  }
  await ui.unmount()
})

test('what is typed on is searched for once', PATIENT, async ($, on) => {
  const { clock, asked } = session(on)
  const ui = await $.ui.mount(BAND)
  for (const text of ['why does the r', 'why does the re', 'why does the refresh']) {
    await type($, text)
    await clock.advance(50)
  }
  await clock.advance(300)
  expect(asked).toEqual([{ query: 'why does the refresh', limit: 3, max_age_seconds: 10 }])
  await ui.unmount()
})

test('once it is sent it is no longer said', PATIENT, async ($, on) => {
  const { clock } = session(on)
  on('prompt.submit', (_, e) => ({ text: e.text }))
  const ui = await $.ui.mount(BAND)
  await type($, 'why does the refresh fail')
  await clock.advance(300)
  expect(await ui.find({ text: /done before/ })).toBeDefined()
  await $.prompt.submit({ text: 'why does the refresh fail', wait: false, origin: { kind: 'composer' } })
  expect(await ui.find({ text: /done before/ })).toBeUndefined()
  await ui.unmount()
})

test('the option switches the band off', { ...PATIENT, options: { band: false } }, async ($, on) => {
  const { clock, asked } = session(on)
  const ui = await $.ui.mount(BAND)
  await type($, 'why does the refresh fail')
  await clock.advance(300)
  expect(asked).toEqual([])
  expect(await ui.find({ text: /done before/ })).toBeUndefined()
  await ui.unmount()
})
