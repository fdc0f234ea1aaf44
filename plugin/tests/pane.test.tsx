import { expect, mock, test } from 'claude-code/testing'
import type { On } from 'claude-code'

import { PANE, PATIENT, answer, around, hit, other, paneProps } from './fixtures'

const NOW = Date.parse('2026-11-22T12:00:00Z')

/** Stands for the server: notes what it is asked, and answers. */
function server(on: On, search = answer(hit(), other)): { tool: string; args: Record<string, unknown> }[] {
  const asked: { tool: string; args: Record<string, unknown> }[] = []
  mock.clock(on, { now: NOW })
  on('mcp.connect', () => ({ value: { isConnected: true, server: 'plugin:backstory:backstory' } }))
  on('mcp.call', (_, e) => {
    expect(e.server).toBe('plugin:backstory:backstory')
    asked.push({ tool: e.tool, args: e.args })
    return { value: { content: [], isError: false, structuredContent: e.tool === 'search' ? search : around } }
  })
  return asked
}

const SURFACES = ['terminal', 'desktop'] as const

test('the pane searches as one types and previews the cited place', PATIENT, async ($, on) => {
  const asked = server(on)
  for (const surface of SURFACES) {
    asked.length = 0
    const ui = await $.ui.mount({ ...PANE, surface, props: paneProps })
    await ui.input({ key: 'question', text: 'token refresh', kind: 'change' })
    expect(asked[0]).toEqual({ tool: 'search', args: { query: 'token refresh', limit: 12, max_age_seconds: 10 } })
    expect(asked[1]).toEqual({
      tool: 'read_session',
      args: { session: '1ba1de03-4b78-5244-9858-2706428e076f', around_offset: 4096, limit: 6 },
    })
    expect((await ui.find({ key: 'hit:0' }))?.text).toMatch(/▸ Fix token refresh with clock skew 3 Nov$/)
    expect((await ui.find({ key: 'hit:1' }))?.text).toMatch(/ {2}Sketch sliding sessions/)
    expect(await ui.find({ type: 'Text', text: '1ba1de03:11  harbor-api  fix/token-refresh' })).toBeDefined()
    expect(await ui.find({ type: 'Text', text: 'You: Why does the token refresh fail?' })).toBeDefined()
    expect(await ui.find({ type: 'Text', text: 'Claude: The clock is 30 seconds fast.' })).toBeDefined()
    await ui.unmount()
  }
})

test('the preview follows the focus', PATIENT, async ($, on) => {
  const asked = server(on)
  on('ui.focus', { plugin: '*' }, () => ({}))
  const ui = await $.ui.mount({ ...PANE, surface: 'terminal', props: paneProps })
  await ui.input({ key: 'question', text: 'tokens', kind: 'change' })
  await $.ui.focus({ component: 'Pane', requestId: 'backstory', plugin: 'backstory', element: 'hit:1', origin: { kind: 'person' } })
  expect((await ui.find({ key: 'hit:1' }))?.text).toMatch(/^▸/)
  expect(asked.at(-1)?.args.session).toBe('80048f3c-7d0f-54dd-996d-d569f78d3a62')
  await ui.unmount()
})

test('a key puts a cited pack into the prompt and closes the pane', PATIENT, async ($, on) => {
  server(on)
  const filled: string[] = []
  const carets: (number | undefined)[] = []
  const closed: string[] = []
  on('prompt.fill', (_, e) => {
    filled.push(e.text)
    carets.push(e.cursor)
    return { isFilled: true, text: e.text, cursor: 0 }
  })
  on('prompt.read', () => ({ value: { text: 'fix it', cursor: 0 } }))
  on('ui.close', (_, e) => {
    closed.push(e.id)
    return { value: undefined }
  })
  const ui = await $.ui.mount({ ...PANE, surface: 'terminal', props: paneProps })
  await ui.input({ key: 'question', text: 'token refresh', kind: 'change' })
  await ui.press({ key: 'pack' })
  expect(closed).toEqual(['backstory'])
  expect(filled).toHaveLength(1)
  // Before the pack, behind what the person has typed.
  expect(carets).toEqual([6])
  expect(filled[0]).toContain('> Fix token refresh with clock skew (3 Nov, fix/token-refresh, 1ba1de03:11)')
  expect(filled[0]).toContain('> user: Why does the token refresh fail? [1ba1de03:11]')
  expect(filled[0]).toContain('> assistant: The clock is 30 seconds fast. [1ba1de03 b0000000]')
  expect(filled[0]).toContain('(backstory show 1ba1de03 --around f7191011)')
  await ui.unmount()
})

test('a click chooses a session, and a second one puts it into the prompt', PATIENT, async ($, on) => {
  server(on)
  const filled: string[] = []
  on('prompt.read', () => ({ value: { text: '', cursor: 0 } }))
  on('prompt.fill', (_, e) => {
    filled.push(e.text)
    return { isFilled: true, text: e.text, cursor: 0 }
  })
  on('ui.close', () => ({ value: undefined }))
  const ui = await $.ui.mount({ ...PANE, surface: 'terminal', props: paneProps })
  await ui.input({ key: 'question', text: 'tokens', kind: 'change' })
  await ui.press({ key: 'hit:1' })
  expect((await ui.find({ key: 'hit:1' }))?.text).toMatch(/^▸/)
  expect(filled).toEqual([])
  await ui.press({ key: 'hit:1' })
  expect(filled).toHaveLength(1)
  expect(filled[0]).toContain('> Sketch sliding sessions')
  await ui.unmount()
})

test('a key shows the commands that continue the session', PATIENT, async ($, on) => {
  server(on)
  const ui = await $.ui.mount({ ...PANE, surface: 'terminal', props: paneProps })
  await ui.input({ key: 'question', text: 'token refresh', kind: 'change' })
  expect(await ui.find({ text: 'backstory fork 1ba1de03' })).toBeUndefined()
  await ui.press({ key: 'lines' })
  expect(await ui.find({ type: 'Text', text: 'backstory resume 1ba1de03' })).toBeDefined()
  expect(await ui.find({ type: 'Text', text: 'backstory fork 1ba1de03' })).toBeDefined()
  await ui.unmount()
})

test('what a sub-agent or an OpenClaw agent said is previewed too', PATIENT, async ($, on) => {
  const inTalk = { session: 'talk', around: 'f7191011' }
  const said = hit({ source: 'sessions', file: '/o/talk.jsonl', session_id: 'talk', read: inTalk })
  const ofAgent = { session: 's1', subagent: 'a1', around_offset: 7 }
  const asked = server(on, answer(hit({ file: '/p/s1/subagents/agent-a1.jsonl', read: ofAgent }), said))
  on('ui.focus', { plugin: '*' }, () => ({}))
  const ui = await $.ui.mount({ ...PANE, surface: 'terminal', props: paneProps })
  await ui.input({ key: 'question', text: 'tokens', kind: 'change' })
  expect(asked.at(-1)?.args).toEqual({ ...ofAgent, limit: 6 })
  expect(await ui.find({ type: 'Text', text: 'You: Why does the token refresh fail?' })).toBeDefined()
  await $.ui.focus({ component: 'Pane', requestId: 'backstory', plugin: 'backstory', element: 'hit:1', origin: { kind: 'person' } })
  expect(await ui.find({ type: 'Text', text: 'You: Why does the token refresh fail?' })).toBeDefined()
  expect(asked.at(-1)?.args).toEqual({ ...inTalk, limit: 6 })
  await ui.unmount()
})

test('the command opens the pane with what was found for its words', PATIENT, async ($, on) => {
  const asked = server(on)
  const opened: unknown[] = []
  on('ui.open', (_, e) => {
    opened.push(e)
    return { value: { isPlaced: true } }
  })
  await $.command.run({
    command: 'backstory',
    args: ' token refresh ',
    origin: { kind: 'composer' },
    presentation: { isFullscreen: false, columns: 80 },
  })
  expect(asked[0]?.args.query).toBe('token refresh')
  expect(opened).toMatchObject([{ id: 'backstory', focus: true, closeOnEscape: true }])
})

test('what is wrong is said in the pane', PATIENT, async ($, on) => {
  mock.clock(on, { now: NOW })
  on('mcp.connect', () => ({
    value: { isConnected: false, reason: 'failed', message: 'the server did not start' },
  }))
  const ui = await $.ui.mount({ ...PANE, surface: 'terminal', props: paneProps })
  await ui.input({ key: 'question', text: 'token refresh', kind: 'change' })
  expect(await ui.find({ type: 'Text', text: 'Backstory is not connected: the server did not start' })).toBeDefined()
  await ui.unmount()
})

test('an error of a tool is said in its own words', PATIENT, async ($, on) => {
  mock.clock(on, { now: NOW })
  on('mcp.connect', () => ({ value: { isConnected: true, server: 's' } }))
  on('mcp.call', () => ({
    value: { content: [], isError: true, structuredContent: { code: 'unavailable', message: 'the index is locked' } },
  }))
  const ui = await $.ui.mount({ ...PANE, surface: 'terminal', props: paneProps })
  await ui.input({ key: 'question', text: 'token refresh', kind: 'change' })
  expect(await ui.find({ type: 'Text', text: 'the index is locked' })).toBeDefined()
  await ui.unmount()
})
