// In which order the parts of a session may come, without a browser: the server's answers are given by hand.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Loader } from './rules.mjs'

/** A loader, whose requests are answered when the test says so: `asked` are the queries of those that wait. */
function loaded() {
  const waiting = []
  globalThis.fetch = (url, { signal }) =>
    new Promise((done, fail) => {
      const one = { query: String(url).replace(/.*limit=100&?/, ''), done }
      waiting.push(one)
      signal.addEventListener('abort', () => {
        waiting.splice(waiting.indexOf(one), 1)
        fail(signal.reason)
      })
    })
  const answer = async (part, page, status = 200) => {
    const at = waiting.findIndex(one => one.query === part)
    assert.notEqual(at, -1, `${part} is not asked for`)
    waiting.splice(at, 1)[0].done(Response.json(page, { status }))
    await new Promise(setImmediate)
  }
  const loader = new Loader('harbor')
  return { loader, answer, asked: () => waiting.map(one => one.query) }
}

const page = (offsets, more = {}) => ({ messages: offsets.map(offset => ({ offset })), older: null, newer: 'end', is_last: true, ...more })
const shown = loader => loader.window.value.messages.map(message => message.offset)

test('what was asked for at one place is not joined to another', async () => {
  const { loader, answer, asked } = loaded()
  loader.open('middle')
  await answer('around=middle', page([50], { older: '50', is_last: false }))
  loader.older()
  assert.deepEqual(asked(), ['before=50'])
  loader.open()
  assert.deepEqual(asked(), [''])
  assert.equal(loader.busy.value, 'all')
  await answer('', page([99]))
  assert.deepEqual(shown(loader), [99])
  assert.equal(loader.busy.value, undefined)
})

test('what is written while something is on its way is asked for after it', async () => {
  const { loader, answer, asked } = loaded()
  loader.open()
  await answer('', page([50], { older: '50' }))
  loader.older()
  loader.update()
  assert.deepEqual(asked(), ['before=50'])
  await answer('before=50', page([49]))
  await answer('after=end', page([51]))
  assert.deepEqual(shown(loader), [49, 50, 51])
  assert.deepEqual(asked(), [])
})

test('something that is written leads nobody away from the place they go to, or read at', async () => {
  const { loader, answer, asked } = loaded()
  loader.open('middle')
  loader.update()
  assert.deepEqual(asked(), ['around=middle'])
  await answer('around=middle', page([50], { is_last: false }))
  loader.update()
  assert.deepEqual(asked(), [])
  assert.deepEqual(shown(loader), [50])
})

test('a session that is not there yet is asked for at the same place once it is written', async () => {
  const { loader, answer, asked } = loaded()
  loader.open('middle')
  await answer('around=middle', { code: 'not_found', detail: 'no such session' }, 404)
  await answer('', { code: 'not_found', detail: 'no such session' }, 404)
  assert.equal(loader.error.value.status, 404)
  loader.update()
  assert.deepEqual(asked(), ['around=middle'])
})

test('who goes elsewhere in a session that is not there yet is not led to its end', async () => {
  const { loader, answer, asked } = loaded()
  loader.open('middle')
  for (const part of ['around=middle', '']) await answer(part, { code: 'not_found', detail: 'no such session' }, 404)
  loader.update()
  loader.open('other')
  await new Promise(setImmediate)
  assert.deepEqual(asked(), ['around=other'])
})

test('who leaves is sent nothing more', async () => {
  const { loader, asked } = loaded()
  loader.open()
  loader.update()
  loader.close()
  await new Promise(setImmediate)
  assert.deepEqual(asked(), [])
  assert.equal(loader.error.value, undefined)
})
