// One request of a worker: a permission, the model's questions, or a plan to approve.

import { useState } from 'preact/hooks'
import { post, type Schemas } from '../api/client.ts'
import { isAdmin } from '../api/scope.ts'
import { loaded } from '../ui/loaded.tsx'
import { Button, focusOn } from '../ui/parts.tsx'
import { attempt } from '../ui/toast.tsx'
import { Input, Seen } from './asked.tsx'
import { fieldOf, toolName } from './field.ts'
import type { Alike } from './needs.tsx'

/** Loaded with the first plan: most pages show none. */
const Plan = loaded(() => import('./plan.tsx'), 'Plan', { waiting: ({ text }) => text })

type Request = Schemas['PermissionRequest']
type Reply = Schemas['PermissionReply']

interface Props {
  worker: number
  session: string
  request: Request
  /** Is told that an answer is sent; returns what is to be done once the server took it. */
  onSend: () => () => void
  /** The same request of other workers: one answer can be given to all. */
  alike?: readonly Alike[] | undefined
}

interface Question {
  question: string
  header?: string
  multiSelect?: boolean
  options?: { label: string; description?: string }[]
}

export function RequestForm(props: Props) {
  const input = (props.request.input ?? {}) as Record<string, unknown>
  if (props.request.tool === 'AskUserQuestion' && Array.isArray(input.questions)) {
    return <Questions {...props} questions={input.questions as Question[]} />
  }
  const isPlan = props.request.tool === 'ExitPlanMode'
  return <Permission {...props} isPlan={isPlan} />
}

/** Sends an answer; what it asks is gone once the server took it. */
async function answer(props: Props, reply: Reply): Promise<void> {
  const body = { request: props.request.request, reply }
  const done = props.onSend()
  const sent = await attempt(async () => {
    await post('/api/v1/workers/{worker}/answers', { path: { worker: props.worker }, body })
    return true
  })
  if (sent) done()
}

/** Gives this answer, and the same to all that ask the same. */
async function answerAll(props: Props, reply: Reply): Promise<void> {
  for (const { worker, request } of props.alike ?? []) {
    const body = { request, reply }
    if (!(await attempt(async () => (await post('/api/v1/workers/{worker}/answers', { path: { worker }, body }), true)))) return
  }
  await answer(props, reply)
}

/** The answers that allow more than one call. */
const GRANTS = { always: 'Always allow', edits: 'Accept edits', directory: 'Allow directory' } as const

function Permission(props: Props & { isPlan: boolean }) {
  const { request, isPlan } = props
  const [why, setWhy] = useState<string>()
  const [isSeen, setSeen] = useState(false)
  const { label } = fieldOf(request.tool, request.input)
  const about = request.description ?? request.reason
  const plan = (request.input as { plan?: unknown } | null)?.plan
  return (
    <div class="ask">
      <p class="ask-what">
        {isPlan ? 'Approve this plan?' : <>Allow <b>{toolName(request.tool)}</b>{label ? ` (${label})` : ''}?</>}
      </p>
      <Seen label="All of what is asked" onSeen={setSeen}>
        {isPlan ? <Plan session={props.session} request={request} text={typeof plan === 'string' ? plan : ''} /> : <Input tool={request.tool} input={request.input} />}
      </Seen>
      {about && !holds(request.input, about) && <p class="dim">{about}</p>}
      {why === undefined ? (
        <>
          {!isSeen && <p class="dim" role="status">Read to its end, or show all of it, to allow it.</p>}
          <div class="ask-buttons">
            <Button kind="main" disabled={!isSeen} onClick={() => void answer(props, { behavior: 'allow' })}>
              {isPlan ? 'Approve' : 'Allow'}
            </Button>
            {(props.alike?.length ?? 0) > 0 && (
              <Button disabled={!isSeen} onClick={() => void answerAll(props, { behavior: 'allow' })}>
                Allow in all {props.alike!.length + 1} sessions
              </Button>
            )}
            <Button onClick={() => setWhy('')}>{isPlan ? 'Ask for changes…' : 'Deny…'}</Button>
          </div>
          {isAdmin() && <Offers {...props} isSeen={isSeen} />}
        </>
      ) : (
        <form
          class="ask-buttons"
          onSubmit={event => {
            event.preventDefault()
            void answer(props, { behavior: 'deny', message: why || 'The user does not want this.' })
          }}
        >
          <input
            ref={focusOn}
            class="field grow"
            aria-label="What Claude should do instead"
            placeholder="What Claude should do instead (optional)"
            value={why}
            onInput={event => setWhy(event.currentTarget.value)}
          />
          <Button kind="danger" type="submit">
            {isPlan ? 'Send back' : 'Deny'}
          </Button>
          <Button kind="quiet" onClick={() => setWhy(undefined)}>
            Back
          </Button>
        </form>
      )}
    </div>
  )
}

/** Whether the fields that are shown hold a text already. */
function holds(input: unknown, text: string): boolean {
  return Object.values((input ?? {}) as Record<string, unknown>).some(value => value === text)
}

/** What may be allowed from now on beside this call, each with all that it allows. */
function Offers(props: Props & { isSeen: boolean }) {
  const offers = props.request.offers ?? []
  const others = props.request.not_offered ?? []
  return (
    <>
      {offers.length > 0 && (
        <ul class="ask-offers" aria-label="Allow this, and more from now on">
          {offers.map(offer => (
            <li key={offer.answer}>
              <Button disabled={!props.isSeen} onClick={() => void answer(props, { behavior: 'allow', grant: offer.answer })}>
                {GRANTS[offer.answer]}
              </Button>
              <span>{offer.allows.join('; ')}</span>
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && <p class="dim">Claude Code also suggests {others.join(', ')}; no answer allows that.</p>}
    </>
  )
}

function Questions(props: Props & { questions: Question[] }) {
  const [answers, setAnswers] = useState<Record<string, string[]>>({})
  const isReady = props.questions.every(one => answers[one.question]?.some(Boolean))
  const send = () => {
    const all = Object.fromEntries(Object.entries(answers).map(([question, chosen]) => [question, chosen.filter(Boolean).join(', ')]))
    void answer(props, { behavior: 'answers', answers: all })
  }
  return (
    <form
      class="ask"
      onSubmit={event => {
        event.preventDefault()
        if (isReady) send()
      }}
    >
      {props.questions.map(question => (
        <OneQuestion
          key={question.question}
          question={question}
          chosen={answers[question.question] ?? []}
          choose={chosen => setAnswers({ ...answers, [question.question]: chosen })}
        />
      ))}
      <div class="ask-buttons">
        <Button kind="main" type="submit" disabled={!isReady}>
          Answer
        </Button>
        <Button kind="quiet" onClick={() => void answer(props, { behavior: 'deny', message: 'The user does not want to answer.' })}>
          Do not answer
        </Button>
      </div>
    </form>
  )
}

function OneQuestion({ question, chosen, choose }: { question: Question; chosen: string[]; choose: (chosen: string[]) => void }) {
  const options = question.options ?? []
  const labels = options.map(option => option.label)
  const own = chosen.find(one => !labels.includes(one)) ?? ''
  const toggle = (label: string) => {
    if (!question.multiSelect) return choose([label])
    choose(chosen.includes(label) ? chosen.filter(one => one !== label) : [...chosen, label])
  }
  return (
    <fieldset class="question">
      <legend>{question.question}</legend>
      {options.map(option => (
        <label key={option.label} class="choice">
          <input
            type={question.multiSelect ? 'checkbox' : 'radio'}
            name={question.question}
            checked={chosen.includes(option.label)}
            onChange={() => toggle(option.label)}
          />
          <span>
            {option.label}
            {option.description && <span class="dim"> {option.description}</span>}
          </span>
        </label>
      ))}
      <input
        class="field"
        aria-label={`Another answer to: ${question.question}`}
        placeholder="Another answer"
        value={own}
        onInput={event => choose([...(question.multiSelect ? chosen.filter(one => labels.includes(one)) : []), event.currentTarget.value])}
      />
    </fieldset>
  )
}
