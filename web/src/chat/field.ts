// The one field of a tool's input that says what the call is about. Pure.

export interface Field {
  /** What the field is called, where that is not plain. */
  label: string
  value: string
  /** Whether it is code or a command. */
  isCode: boolean
}

/** Fields by how much they say; the first that is there counts. */
const FIELDS = ['command', 'file_path', 'notebook_path', 'path', 'pattern', 'query', 'url', 'title', 'plan', 'description', 'subject', 'skill', 'prompt', 'content']
const CODE = new Set(['command', 'pattern'])

/** Whether a tool starts a sub-agent. */
export function startsAgent(tool: string): boolean {
  return tool === 'Task' || tool === 'Agent'
}

export function fieldOf(tool: string, input: unknown): Field {
  if (typeof input === 'string') return { label: '', value: input, isCode: true }
  const fields = (input ?? {}) as Record<string, unknown>
  if (startsAgent(tool)) {
    return { label: text(fields.subagent_type), value: text(fields.description) || text(fields.prompt), isCode: false }
  }
  if (tool === 'Grep') {
    return { label: '', value: [text(fields.pattern), text(fields.path) || text(fields.glob)].filter(Boolean).join('  in '), isCode: true }
  }
  if (tool === 'TodoWrite' && Array.isArray(fields.todos)) {
    const done = fields.todos.filter((todo: { status?: string }) => todo.status === 'completed').length
    return { label: '', value: `${done} of ${fields.todos.length} done`, isCode: false }
  }
  if (tool === 'AskUserQuestion' && Array.isArray(fields.questions)) {
    return { label: '', value: text((fields.questions[0] as { question?: string })?.question), isCode: false }
  }
  const name = FIELDS.find(field => typeof fields[field] === 'string' && fields[field])
  if (name) return { label: '', value: text(fields[name]), isCode: CODE.has(name) }
  const first = Object.entries(fields).find(([, value]) => typeof value === 'string' && value)
  if (first) return { label: first[0], value: text(first[1]), isCode: false }
  const json = JSON.stringify(fields)
  return { label: '', value: json === '{}' ? '' : json, isCode: true }
}

/** What Claude Code's own tools are called where their names say little. */
const NAMES = new Map([['AskUserQuestion', 'Question'], ['ExitPlanMode', 'Plan'], ['TodoWrite', 'To-dos']])

/** A tool as one would say it: `mcp__github__create_issue` is `github · create_issue`. */
export function toolName(name: string): string {
  return NAMES.get(name) ?? (name.startsWith('mcp__') ? name.slice(5).replace('__', ' · ') : name)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
