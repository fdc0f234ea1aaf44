// Home: what needs the person and what was done, at once and with little.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { Home } from './scratch-home.mjs'
import { paintFence } from './example-sessions.mjs'
import { walks } from './page-test.mjs'

const home = await Home.open()
let painted
before(async () => {
  painted = paintFence(home)
  await home.serve()
})
after(() => home.close())

const { page, open } = walks(home)


page('home says what was done', async page => {
  await open(page, '/')
  await page.getByRole('heading', { name: 'Nothing needs you' }).waitFor()
  await page.getByRole('link', { name: /paint the fence green/ }).click()
  await page.getByText('The fence is green.').waitFor()
  assert.match(page.url(), new RegExp(`/s/${painted}`))
})

page('the first screen asks for little', async page => {
  await open(page, '/help')
  await page.goto('about:blank')
  const asked = []
  const list = () => page.evaluate(() => performance.getEntriesByType('resource').filter(one => one.name.endsWith('/api/v1/rows')).map(one => one.initiatorType))
  page.on('request', request => asked.push(new URL(request.url()).pathname))
  // Events lead to more questions later; here none comes.
  await page.addInitScript(() => {
    window.EventSource = class extends EventTarget {
      close() {}
    }
  })
  await open(page, '/')
  await page.locator('.home-title').waitFor()
  await page.locator('.repository .row').first().waitFor()
  const files = asked.filter(path => path.startsWith('/assets/'))
  assert.ok(files.length <= 4, files.join(' '))
  assert.ok(asked.length - files.length <= 8, asked.join(' '))
  await page.locator('.repository .row').first().waitFor()
  assert.deepEqual(await list(), ['fetch'], 'the list is asked for once')
})

page('a list that is slow keeps nobody from the page', async page => {
  let release
  const isReleased = new Promise(done => (release = done))
  await page.route('**/api/v1/rows', async route => (await isReleased, route.continue()))
  await open(page, '/')
  await page.locator('.home-title').waitFor()
  await page.locator('.home .loading').waitFor()
  release()
  await page.locator('.repository .row').first().waitFor()
})
