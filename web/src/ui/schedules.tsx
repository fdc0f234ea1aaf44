// The prompts that Claude Code asks on a schedule in any session of a directory.

import type { Schemas } from '../api/client.ts'

export function Schedules({ schedules }: { schedules: readonly Schemas['DirectorySchedule'][] }) {
  if (!schedules.length) return null
  return (
    <ul class="schedules" aria-label="Prompts on a schedule">
      {schedules.map((one, at) => (
        <li key={at}>
          ↻ Any session open in <code>{one.directory}</code> asks at <code>{one.schedule}</code>
          {one.recurring ? '' : ', once'}: {one.prompt}
        </li>
      ))}
    </ul>
  )
}
