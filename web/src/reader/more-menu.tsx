// What else can be done with a session.

import type { Schemas } from '../api/client.ts'
import { attachCommand, resumeCommand } from '../chat/command.ts'
import { edited, setHidden } from '../live/annotations.ts'
import { go } from '../router.ts'
import { fetchModule } from '../ui/module.ts'
import { attempt, copy } from '../ui/toast.tsx'
import { Menu } from './menu.tsx'

interface Props {
  id: string
  session: Schemas['Session'] | undefined
  title: string
  isHidden: boolean
}

export function MoreMenu({ id, session, title, isHidden }: Props) {
  const job = session?.background_job
  const entries: [string, () => void][] = [
    ['Name, tags and note…', () => (edited.value = { id, field: 'name' })],
    [isHidden ? 'Show in lists again' : 'Hide from lists', () => void setHidden(id, !isHidden)],
    ...(job ? [['Copy the command that attaches to it', () => void copy(attachCommand(job.id), 'the command')] as [string, () => void]] : []),
    ['Copy the command that resumes it', () => void copy(resumeCommand(session?.cwd, id), 'the command')],
    ['Copy the command that forks it', () => void copy(`backstory fork ${id}`, 'the command')],
    ['Copy a link', () => void copy(`${location.origin}/s/${id}`, 'the link')],
    ['Copy the id', () => void copy(id, 'the id')],
    ['Copy as Markdown', () => void attempt(async () => (await fetchModule(() => import('./export.ts'))).copyMarkdown(id, title), 'Copied the conversation')],
    ['Save as Markdown', () => void attempt(async () => (await fetchModule(() => import('./export.ts'))).saveMarkdown(id, title))],
    ['Play it in the world', () => go(`/world?replay=${session?.created ?? ''}&session=${id}`)],
  ]
  return <Menu label="More" entries={entries} />
}
