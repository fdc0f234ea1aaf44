// Answers of Backstory, and a pane of the size a terminal gives it.

import type { RenderPropsOf } from 'claude-code'

import type { Hit } from '../types'

/** A hit of `search`, with what the test says of it. */
export function hit(of: Partial<Hit> = {}): Hit {
  return {
    session_id: '1ba1de03-4b78-5244-9858-2706428e076f',
    source: 'claude-sessions',
    score: 0.64,
    title: 'Fix token refresh with clock skew',
    project: 'harbor-api',
    branch: 'fix/token-refresh',
    last_modified: '2026-11-03T12:00:00.000Z',
    file: '/home/sam/.claude/projects/-home-sam-harbor/1ba1de03-4b78-5244-9858-2706428e076f.jsonl',
    line: 11,
    offset: 4096,
    uuid: 'f7191011-6d3d-547f-acf9-47696b645769',
    at: '2026-11-03T11:00:00.000Z',
    snippet: 'why does the token refresh fail?',
    read: { session: of.session_id ?? '1ba1de03-4b78-5244-9858-2706428e076f', around_offset: of.offset ?? 4096 },
    ...of,
  }
}

/** Another session that answers less well. */
export const other = hit({
  session_id: '80048f3c-7d0f-54dd-996d-d569f78d3a62',
  score: 0.31,
  title: 'Sketch sliding sessions',
  file: '/home/sam/.claude/projects/-home-sam-harbor/80048f3c-7d0f-54dd-996d-d569f78d3a62.jsonl',
  line: 22,
  uuid: 'aaaa1011-6d3d-547f-acf9-47696b645769',
  snippet: 'could we do without rotating?',
})

/** The answer of `search` with these hits. */
export function answer(...hits: Hit[]): Record<string, unknown> {
  return { query: '', hits, total: hits.length, pending: { files: 0 } }
}

/** The answer of `read_session` around `hit`. */
export const around = {
  quoted: [
    message('assistant', 2048, 'b0000000-0000-4000-8000-000000000001', 'I am looking.'),
    message('user', 4096, 'f7191011-6d3d-547f-acf9-47696b645769', 'Why does the token refresh fail?'),
    message('assistant', 6144, 'b0000000-0000-4000-8000-000000000002', 'The clock is 30 seconds fast.'),
  ],
}

function message(role: string, offset: number, uuid: string, text: string) {
  return { role, offset, uuid, at: null, subagent: null, parts: [{ type: 'text', text }] }
}

/** The place of the pane. */
export const PANE = { plugin: 'backstory', component: 'Pane', requestId: 'backstory' } as const

export const paneProps: RenderPropsOf['Pane'] = {
  title: 'Backstory',
  isFocused: true,
  bodyColumns: 80,
  placement: 'inline',
  scroll: { offset: 0, bodyRows: 20 },
  view: {},
}

export const bandProps: RenderPropsOf['AbovePrompt'] = {
  hasSurvey: false,
  isCollapsed: false,
  isWorking: false,
  maxRows: 10,
  bodyColumns: 100,
  scroll: { offset: 0, bodyRows: 10 },
  view: {},
}

/** The options of tests that draw or call something: on a busy machine five seconds are too few. */
export const PATIENT = { timeoutMs: 60_000 } as const
