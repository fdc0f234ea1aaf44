// Why a session should have a task or not, as one would say it: from the facts that the choice was made by. Pure.

import type { Schemas } from '../api/client.ts'
import { plural } from '../format.ts'

type Considered = Schemas['Considered']
type Estimate = Schemas['ResumeEstimate']
type Fact = Estimate['effects'][number]['fact']
type Choice = Pick<Schemas['PickAnswer'], 'action' | 'ask' | 'reason' | 'session_id' | 'scores'>

/** A fact that changes less than this, on the logarithm of the odds, is not worth a word. */
const WORTH_A_WORD = 0.15
/** How much of a title names a session in a sentence, in characters. */
const TITLE = 60

/** Why the choice is what it is. */
export function reasonOf(pick: Choice): string {
  const first = pick.action === 'resume' ? pick.scores.find(one => one.session_id === pick.session_id) : pick.scores[0]
  const isEstimated = first?.estimate && !first.obstacle && !first.ceiling
  // What decided it in another way than by the facts is said in words already.
  if (pick.action === 'queue' || !isEstimated || !/%/.test(pick.reason.split(':')[0]!)) return sentence(withTitles(pick.reason.replace(/^(Resume|Start fresh)[^:]*: /, ''), pick.scores))
  const { value } = first.estimate!
  if (pick.ask) return `It is open whether you would go on with ${named(first)} (${percent(value)})${why(first.estimate!)}`
  const would = value >= 0.5 ? 'would probably' : pick.action === 'resume' ? 'may well' : 'would probably not'
  return `You ${would} go on with ${pick.action === 'resume' ? 'it' : named(first)} (${percent(value)})${why(first.estimate!)}`
}

/** What speaks for another session and against it. */
export function reasonFor(one: Considered): string {
  if (!one.estimate || one.obstacle || one.ceiling) return sentence(one.reason)
  return `${percent(one.estimate.value)} likely${why(one.estimate)}`
}

/** What speaks for a session, and then what speaks against it. */
function why({ effects, facts }: Estimate): string {
  const strong = effects.filter(one => Math.abs(one.effect) >= WORTH_A_WORD).sort((one, other) => Math.abs(other.effect) - Math.abs(one.effect))
  const said = (isFor: boolean) => strong.filter(one => one.effect > 0 === isFor).flatMap(one => words(one.fact, facts, isFor) ?? [])
  const [speaksFor, against] = [and(said(true)), and(said(false))]
  const all = [speaksFor, against && `${speaksFor ? 'but ' : ''}${against}`].filter(Boolean).join(', ')
  return all && `: ${all}`
}

/** A fact in words; none where it says nothing. */
function words(fact: Fact, facts: Estimate['facts'], isFor: boolean): string | undefined {
  const { habit } = facts
  const common = ({ common, of }: { common: number; of: number }, where: string) => {
    if (!of) return undefined
    if (!common) return `no word of the task is in ${where}`
    return `${isFor ? '' : 'only '}${common} of the task’s ${plural(of, 'word')} ${common === 1 ? 'is' : 'are'} in ${where}`
  }
  switch (fact) {
    case 'age':
      return `it was used ${ago(facts.hours)} ago`
    case 'elsewhere':
      return facts.whereabouts === 'same' ? 'it is on this branch' : facts.whereabouts === 'elsewhere' ? 'it was on another branch or in another work tree' : undefined
    case 'exit':
      return facts.was_exited ? 'you left it with /exit' : undefined
    case 'opening':
      return facts.opening === 'continuation' ? 'the task sounds like a continuation' : facts.opening === 'request' ? 'the task sounds like something new' : undefined
    case 'habit':
      return habitInWords(habit)
    case 'in_prompts':
      return common(facts.in_prompts, 'what you wrote last')
    case 'in_answer':
      return common(facts.in_answer, 'its last answer')
    default:
      return undefined
  }
}

/** How often the person went on with a session where they could have begun a fresh one. */
function habitInWords({ resumed, of }: Estimate['facts']['habit']): string | undefined {
  if (!of) return undefined
  const times = of === 1 ? 'the last time' : `the last ${of} times`
  if (resumed === of) return `you went on with a session ${times} here`
  if (!resumed) return `you began a fresh session ${times} here`
  return `you went on with a session ${resumed} of the last ${of} times here`
}

/** A span as one says it. */
function ago(hours: number): string {
  const minutes = Math.round(hours * 60)
  if (minutes < 90) return plural(Math.max(1, minutes), 'minute')
  if (hours < 48) return plural(Math.round(hours), 'hour')
  return hours < 24 * 90 ? plural(Math.round(hours / 24), 'day') : 'months'
}

function percent(chance: number): string {
  return `${Math.round(chance * 100)}%`
}

function and(parts: readonly string[]): string {
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : (parts[0] ?? '')
}

function named({ title, session_id }: Considered): string {
  const name = title ?? session_id.slice(0, 8)
  return `“${name.length > TITLE ? `${name.slice(0, TITLE - 1).trimEnd()}…` : name}”`
}

/** A session is named by its title where its id was. */
function withTitles(text: string, all: readonly Considered[]): string {
  return all.reduce((text, one) => text.replaceAll(one.session_id.slice(0, 8), named(one)), text)
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
