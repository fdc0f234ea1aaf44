// The whole input of a tool, for the person who has to allow the call: what it runs, reads or opens, what it changes in a file, and
// every other field. Nothing is left out. Pure.

export interface Change {
  old_string: string
  new_string: string
}

export interface Asked {
  /** The command, the file or the address. */
  heads: { value: string; isCode: boolean }[]
  /** Every field that is in neither of the others, as text. */
  fields: { name: string; value: string }[]
  /** What is changed in a file, in order. */
  changes: Change[]
}

type Fields = Record<string, unknown>

const HEADS = ['command', 'file_path', 'notebook_path', 'url']
const CODE = new Set(['command'])
/** The fields of tools that write a text whole. */
const WHOLE = new Map([['Write', 'content'], ['NotebookEdit', 'new_source']])

export function askedOf(tool: string, input: unknown): Asked {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { heads: [], fields: input === null || input === undefined ? [] : [{ name: 'input', value: textOf(input) }], changes: [] }
  }
  const left: Fields = { ...(input as Fields) }
  const heads = HEADS.flatMap(name => takeText(left, name).map(value => ({ value, isCode: CODE.has(name) })))
  const changes = changesOf(tool, left)
  return { heads, changes, fields: Object.entries(left).map(([name, value]) => ({ name, value: textOf(value) })) }
}

/** Takes the changes out of the fields; what says more of one of them stays. */
function changesOf(tool: string, left: Fields): Change[] {
  const whole = WHOLE.get(tool)
  if (whole) return takeText(left, whole).map(new_string => ({ old_string: '', new_string }))
  if (tool === 'Edit') return takeChange(left)
  if (tool !== 'MultiEdit' || !Array.isArray(left.edits)) return []
  const edits = left.edits as unknown[]
  delete left.edits
  return edits.flatMap((edit, at) => {
    const fields: Fields = typeof edit === 'object' && edit ? { ...edit } : { edit }
    const change = takeChange(fields)
    for (const [name, value] of Object.entries(fields)) left[`edit ${at + 1}: ${name}`] = value
    return change
  })
}

function takeChange(fields: Fields): Change[] {
  const { old_string, new_string } = fields
  if (typeof old_string !== 'string' || typeof new_string !== 'string') return []
  delete fields.old_string
  delete fields.new_string
  return [{ old_string, new_string }]
}

function takeText(fields: Fields, name: string): string[] {
  const value = fields[name]
  if (typeof value !== 'string') return []
  delete fields[name]
  return [value]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
