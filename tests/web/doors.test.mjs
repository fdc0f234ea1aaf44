// Who comes in, and with what: a browser's cookie goes to every port of the machine and is worth nothing without its key.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Home } from './scratch-home.mjs'
import { idOf, Transcript } from './transcripts.mjs'

const home = await Home.open()
before(async () => {
  const one = new Transcript(home, 'shop', idOf(1), Date.now() - 60_000)
  one.prompt('paint the fence green')
  one.write()
  await home.serve()
})
after(() => home.close())

test('the printed link lets a browser act, in two tabs and after a reload, and leaves no key in the address', async () => {
  const page = await home.browse({ storageState: { cookies: [], origins: [] } })
  await page.goto(home.printed)
  const row = tab => tab.getByRole('link', { name: /paint the fence green/ })
  await row(page).waitFor()
  assert.equal(page.url(), `${home.address}/`)
  assert.equal((await home.get(page, '/api/v1/scope')).scope, 'act')
  await page.reload()
  await row(page).waitFor()
  const second = await page.context().newPage()
  await second.goto(home.address)
  await row(second).waitFor()
  // It opens no stream of its own, and hears what the first one does.
  const two = new Transcript(home, 'shop', idOf(2), Date.now() - 1000)
  two.prompt('now the gate')
  two.write()
  for (const tab of [page, second]) await tab.getByRole('link', { name: /now the gate/ }).waitFor()
  await page.goto(`${home.address}/settings`)
  await page.getByText('This browser may not see who has access.').waitFor()
  assert.deepEqual(page.complaints.filter(one => !/status of 403/.test(one)), [])
  await page.context().close()
})

test('what another port of this machine gets from a browser opens nothing here', async () => {
  const page = await home.browse()
  let got
  const other = createServer((asked, answer) => {
    got ??= asked.headers.cookie
    answer.setHeader('content-type', 'text/html').end('<!doctype html><p>elsewhere')
  })
  await new Promise(done => other.listen(0, '127.0.0.1', done))
  await page.context().newPage().then(tab => tab.goto(`http://127.0.0.1:${other.address().port}`))
  other.close()
  other.closeAllConnections()
  const secret = /backstory=(\w+)/.exec(got)[1]
  const status = async (path, headers) => (await fetch(home.address + path, { headers })).status
  for (const path of ['/api/v1/sessions', '/api/v1/events', '/api/v1/scope', `/api/v1/events?token=${secret}`]) {
    assert.equal(await status(path, { cookie: got }), 401, path)
    assert.equal(await status(path, { authorization: `Bearer ${secret}` }), 401, path)
  }
  // With the key, which is this page's alone, it does.
  const key = await page.goto(home.address).then(() => page.evaluate(() => localStorage.getItem('backstory-key')))
  assert.equal(await status('/api/v1/scope', { cookie: got, 'backstory-key': key }), 200)
  assert.equal(await status('/api/v1/scope', { 'backstory-key': key }), 401)
  await page.context().close()
})

test('a browser that lost its key, or has one of before, is told how to sign in', async () => {
  const page = await home.browse()
  await page.goto(home.address)
  await page.evaluate(() => localStorage.removeItem('backstory-key'))
  await page.reload()
  await page.getByRole('alert').getByText('This browser is not signed in any more.').waitFor()
  await page.goto(home.run('serve', 'link').trim())
  await page.getByRole('link', { name: /paint the fence green/ }).waitFor()
  await page.context().close()
})

test('a front end that knows nothing of keys is let in by all its ways of asking', async () => {
  const other = await Home.open()
  const folder = join(other.path, 'front')
  mkdirSync(folder)
  writeFileSync(join(folder, 'index.html'), '<!doctype html><html><head><title>front</title></head><body><p>front</p></body></html>')
  try {
    await other.serve('--front', folder)
    const page = await other.browse()
    await page.goto(other.address)
    const status = await page.evaluate(async () => {
      const asked = new XMLHttpRequest()
      const byRequest = new Promise(done => (asked.onload = () => done(asked.status)))
      asked.open('GET', '/api/v1/scope')
      asked.send()
      const stream = new EventSource('/api/events')
      const byStream = new Promise(done => ((stream.onopen = () => done(200)), (stream.onerror = () => done(0))))
      const posted = await fetch('/api/v1/search', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"x"}' })
      return [(await fetch(new URL('/api/sessions', location.href))).status, posted.status, await byRequest, await byStream, (await fetch('/health')).status]
    })
    assert.deepEqual(status, [200, 200, 200, 200, 200])
    assert.equal(page.url(), `${other.address}/`)
    assert.deepEqual(page.complaints, [])
  } finally {
    await other.close()
  }
})
