// Commands to paste into a shell.

/** Goes to a session's directory and continues it there. */
export function resumeCommand(directory: string | null | undefined, id: string): string {
  const start = directory ? `cd ${quoted(directory)} && ` : ''
  return `${start}claude --resume ${id}`
}

/** Opens a background job of Claude Code. */
export function attachCommand(job: string): string {
  return `claude attach ${quoted(job)}`
}

/** A word as a POSIX shell takes it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
