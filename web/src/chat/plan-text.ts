// Finds the plan of a call in the last messages of a session. Pure.

import type { Schemas } from '../api/client.ts'

/** Where Claude Code writes plans. */
const PLAN_FILE = /[/\\]plans[/\\][^/\\]+\.md$/

/** The plan of a call: what the call says, else the file of a plan that was written last before it. */
export function planIn(messages: readonly Schemas['BlockMessage'][], call: string | undefined): string | undefined {
  const calls = messages.flatMap(message => message.blocks).filter(block => block.type === 'tool_use')
  const at = calls.findLastIndex(block => (call ? block.id === call : block.name === 'ExitPlanMode'))
  const field = (input: unknown, name: string) => {
    const value = (input as Record<string, unknown> | null)?.[name]
    return typeof value === 'string' && value.trim() ? value : undefined
  }
  const said = field(calls[at]?.input, 'plan')
  if (said) return said
  const earlier = at < 0 ? calls : calls.slice(0, at)
  const written = earlier.findLast(block => block.name === 'Write' && PLAN_FILE.test(field(block.input, 'file_path') ?? ''))
  return field(written?.input, 'content')
}
