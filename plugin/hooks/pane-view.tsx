// What the pane looks like.

import type { Elements, RenderElement, RenderPropsOf, RenderSurface } from 'claude-code'

import type { Found, Hit, Passage } from '../types'
import { citedIn, placeOf } from './server'
import { cite, clean, continuing, day, oneLine, title } from './format'

/** Rows that are neither hits nor preview. */
const FRAME = 6
/** Columns of a hit that its title does not have: the mark and the day. */
const MARGIN = 14

/** Everything that decides what the pane shows. */
type State = {
  opening: string
  now: number
  found: Found
  chosen: number
  passage: Passage | null
  areLinesShown: boolean
}

/** What the person can do. */
type Acts = {
  typed: (question: string) => void
  entered: (question: string) => Promise<unknown>
  pressed: (index: number) => Promise<unknown>
  fill: () => Promise<unknown>
  toggle: () => Promise<unknown>
}

type Props = RenderPropsOf['Pane']

/** Draws the pane: the field, the hits, the place that the chosen one cites. */
export function draw(elements: Elements[RenderSurface], props: Props, state: State, acts: Acts): RenderElement {
  const { Box, Button, Input, Text } = elements
  const { found, now } = state
  const rows = Math.max(8, props.scroll.bodyRows)
  const listed = found.hits.slice(0, Math.max(3, Math.floor((rows - FRAME) / 2)))
  const hit = found.hits[state.chosen]
  return (
    <Box flexDirection="column">
      <Input
        key="question"
        label="Find"
        placeholder="words, a file, project:name, role:user"
        value={state.opening}
        submitLabel="choose"
        autoFocus
        onInput={acts.typed}
        onSubmit={question => void acts.entered(question)}
      />
      {found.note !== null && <Text color="warning">{oneLine(found.note)}</Text>}
      {found.note === null && found.question !== '' && found.hits.length === 0 && <Text dimColor>Nothing found.</Text>}
      {listed.map((one, at) => (
        <Button key={`hit:${at}`} plain onPress={() => acts.pressed(at)}>
          {at === state.chosen ? '▸ ' : '  '}
          {oneLine(title(one), Math.max(12, props.bodyColumns - MARGIN))} <Text dimColor>{day(one.last_modified, now)}</Text>
        </Button>
      ))}
      {hit !== undefined && (
        <Box flexDirection="column" marginTop={1}>
          {state.areLinesShown ? lines(elements, hit) : preview(elements, hit, state.passage, rows - FRAME - listed.length)}
          <Box flexDirection="column">
            <Button key="pack" hotkey="p" plain label="put it into the prompt" onPress={acts.fill} />
            <Button
              key="lines"
              hotkey="l"
              plain
              label={state.areLinesShown ? 'preview' : 'resume or fork it'}
              onPress={acts.toggle}
            />
          </Box>
        </Box>
      )}
    </Box>
  )
}

/** The commands that continue the chosen session. */
function lines({ Box, Text }: Elements[RenderSurface], hit: Hit): RenderElement {
  return (
    <Box flexDirection="column">
      <Text dimColor>In another terminal:</Text>
      {continuing(hit).map(line => (
        <Text>{line}</Text>
      ))}
    </Box>
  )
}

/** The cited place in at most `room` rows: the cited message, then what followed, each on a line. */
function preview({ Box, Text }: Elements[RenderSurface], hit: Hit, passage: Passage | null, room: number): RenderElement {
  const isOfHit = passage?.of === placeOf(hit)
  const messages = isOfHit ? passage.messages : []
  const cited = Math.max(0, citedIn(messages, hit))
  const after = messages.slice(cited + 1).slice(0, Math.max(0, room - 4))
  const first = messages[cited]
  const text = first === undefined ? (hit.snippet ?? '') : `${speaker(first.role)}${first.text}`
  return (
    <Box flexDirection="column">
      <Text dimColor wrap="truncate-end">
        {[cite(hit), hit.project, hit.branch].filter(word => word !== null).join('  ')}
      </Text>
      {isOfHit && passage.note !== null && <Text color="warning">{oneLine(passage.note)}</Text>}
      <Text maxLines={Math.max(2, room - after.length - 1)}>{clean(text)}</Text>
      {after.map(message => (
        <Text dimColor wrap="truncate-end">
          {speaker(message.role)}
          {oneLine(message.text)}
        </Text>
      ))}
    </Box>
  )
}

function speaker(role: string): string {
  return role === 'user' ? 'You: ' : role === 'assistant' ? 'Claude: ' : ''
}
