// The Messages API as a script: what the person said last decides what is answered.

import { createServer } from 'node:http'

export const text = words => ({ type: 'text', text: words })
/** A text without an end: it is written on until nobody listens. */
const endless = words => ({ ...text(words), isEndless: true })
/** How long it pauses after a few letters, in milliseconds. */
const PAUSE = 60
/** A text that stops after its first words until the model is released. */
const held = words => ({ ...text(words), isHeld: true })
export const tool = (name, input) => ({ type: 'tool_use', id: `toolu_${Math.random().toString(36).slice(2)}`, name, input })
const QUESTION = {
  questions: [
    {
      question: 'Which colour?',
      header: 'Colour',
      multiSelect: false,
      options: [
        { label: 'Red', description: 'Like a barn' },
        { label: 'Blue', description: 'Like the sea' },
      ],
    },
  ],
}

/** Words of a prompt, and the answers that follow it: after each tool's result the next one. */
const SCRIPT = [
  ['make a file', [[text('I will make it.'), tool('Bash', { command: 'touch made && rm -rf nothing', description: 'Make a file' })], [text('It is made.')]]],
  ['ask me', [[tool('AskUserQuestion', QUESTION)], [text('Blue it is.')]]],
  ['plan the fence', [[tool('ExitPlanMode', { plan: '# Plan\n\nFirst the gate, **then** the posts.' })], [tool('ExitPlanMode', { plan: '# Plan\n\nFirst the posts.' })], [text('I begin with the posts.')]]],
  ['count to twelve', [[text('One two three four five six seven eight nine ten eleven twelve.')]]],
  ['count when you may', [[held('One two three four five six seven eight nine ten eleven twelve.')]]],
  ['go on for ever', [[endless('word '.repeat(20))]]],
  ['send a scout', [[tool('Agent', { description: 'Scout the harbor', prompt: 'go on for ever at the harbor', subagent_type: 'general-purpose' })], [text('The harbor is calm.')]]],
  ['write a poem', [[text('# Tide\n\nThe harbor breathes **twice** a day.\n\n```js\nconst tide = 2\n```')]]],
]

export class Model {
  static async start() {
    const model = new Model()
    /** What was asked: the model, and the whole request. */
    model.asked = []
    /** What is answered; a test may add to it. */
    model.script = [...SCRIPT]
    model.released = Promise.resolve()
    model.server = createServer((request, response) => model.answer(request, response))
    await new Promise(ready => model.server.listen(0, '127.0.0.1', ready))
    model.url = `http://127.0.0.1:${model.server.address().port}`
    return model
  }

  /** Has held texts stop until the returned function is called. */
  hold() {
    let release
    this.released = new Promise(done => (release = done))
    return release
  }

  answer(request, response) {
    let body = ''
    request.on('data', piece => (body += piece))
    request.on('end', async () => {
      response.setHeader('content-type', 'application/json')
      if (new URL(request.url, this.url).pathname !== '/v1/messages') return response.end('{"input_tokens":1}')
      const asked = JSON.parse(body)
      this.asked.push({ model: asked.model, body })
      const blocks = answerTo(this.script, asked.messages)
      const stop_reason = blocks.some(block => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
      const usage = { input_tokens: 12, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 }
      const message = { id: `msg_${Date.now()}${Math.random()}`, type: 'message', role: 'assistant', model: asked.model, usage, stop_sequence: null }
      if (!asked.stream) return response.end(JSON.stringify({ ...message, content: blocks.map(({ isEndless, isHeld, ...block }) => block), stop_reason }))
      response.setHeader('content-type', 'text/event-stream')
      for (const { isPaused, isHeld, ...event } of events(message, blocks, stop_reason)) {
        if (isHeld) await this.released
        if (isPaused) await new Promise(done => setTimeout(done, PAUSE))
        if (response.destroyed) return
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      }
      response.end()
    })
  }

  close() {
    this.server.close()
    this.server.closeAllConnections()
  }
}

/** What follows the last prompt: as many answers on as there are results of tools after it. */
function answerTo(script, messages) {
  let results = 0
  for (const message of messages.toReversed()) {
    if (message.role !== 'user') continue
    const blocks = typeof message.content === 'string' ? [text(message.content)] : message.content
    if (blocks.some(block => block.type === 'tool_result')) {
      results++
      continue
    }
    const said = blocks.filter(block => block.type === 'text').map(block => block.text).join('\n')
    const answers = script.find(([words]) => said.includes(words))?.[1]
    if (answers) return answers[Math.min(results, answers.length - 1)]
    return [text('Hello.')]
  }
  return [text('Hello.')]
}

function* events(message, blocks, stop_reason) {
  yield { type: 'message_start', message: { ...message, content: [], stop_reason: null } }
  for (const [index, block] of blocks.entries()) {
    const isText = block.type === 'text'
    yield { type: 'content_block_start', index, content_block: isText ? { type: 'text', text: '' } : { ...block, input: {} } }
    const pieces = isText ? block.text.match(/.{1,9}/gs) : [JSON.stringify(block.input)]
    for (let number = 0; number < pieces.length || block.isEndless; number++) {
      const piece = pieces[number % pieces.length]
      yield { isPaused: block.isEndless, isHeld: block.isHeld && number === 3, type: 'content_block_delta', index, delta: isText ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece } }
    }
    yield { type: 'content_block_stop', index }
  }
  yield { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } }
  yield { type: 'message_stop' }
}
