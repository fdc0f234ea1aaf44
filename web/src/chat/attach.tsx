// The command that opens a background job of Claude Code in a terminal.

import { copy } from '../ui/toast.tsx'
import { Button } from '../ui/parts.tsx'
import { attachCommand } from './command.ts'

export function CopyAttach({ job }: { job: string }) {
  return (
    <Button icon="copy" onClick={() => void copy(attachCommand(job), 'the command')}>
      Copy <code>{attachCommand(job)}</code>
    </Button>
  )
}
