// What a sub-agent said and did, inside the call that started it; loaded when it is opened.

import { useState } from 'preact/hooks'
import { Failure, get } from '../api/client.ts'
import { Icon } from '../ui/icons.tsx'
import { Button, ErrorLine, Loading } from '../ui/parts.tsx'
import { Items } from './list.tsx'
import { items, type Message } from './items.ts'

export function Subagent({ session, agent }: { session: string; agent: string }) {
  const [messages, setMessages] = useState<Message[]>()
  const [next, setNext] = useState<string>()
  const [isOpen, setOpen] = useState(false)
  const [failure, setFailure] = useState<Failure>()
  const load = async (after?: string) => {
    setFailure(undefined)
    try {
      const query = { subagent: agent, limit: 200, ...(after ? { after } : {}) }
      const page = await get('/api/v1/sessions/{session}/blocks', { path: { session }, query })
      setMessages([...(messages ?? []), ...page.messages])
      setNext(page.is_last ? undefined : page.newer)
    } catch (error) {
      setFailure(error instanceof Failure ? error : new Failure(0, 'internal', String(error)))
    }
  }
  const toggle = () => {
    setOpen(!isOpen)
    if (!messages) void load()
  }
  const isGone = failure?.status === 404
  return (
    <div class="subagent">
      <button type="button" class="subagent-head" aria-expanded={isOpen} onClick={toggle}>
        <Icon name="agent" /> {isOpen ? 'Hide' : 'Show'} what the sub-agent did
      </button>
      {isOpen && isGone && <p class="dim tool-empty">Its transcript is gone; the answer below is what is left of it.</p>}
      {isOpen && failure && !isGone && <ErrorLine error={failure} retry={() => void load(next)} />}
      {isOpen && !messages && !failure && <Loading lines={3} />}
      {isOpen && messages && (
        <div class="subagent-body">
          <Items session={session} items={items(messages, 'normal', { branches: [], dayName: () => '' })} isInner />
          {next && <Button onClick={() => void load(next)}>More</Button>}
        </div>
      )}
    </div>
  )
}
