// A task from its first word to its answer: which session should do it, what it asks, and what it is told.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { Home } from './scratch-home.mjs'
import { paintFence } from './example-sessions.mjs'
import { walks } from './page-test.mjs'

const home = await Home.open()
before(async () => {
  paintFence(home)
  await home.serve()
})
after(() => home.close())

const { page, open } = walks(home)

/** What takes the focus may come a moment after what is on the screen; the part is named by its id or its class. */
const focusReaches = (page, place) => page.waitForFunction(place => [document.activeElement.id, document.activeElement.className].includes(place), place)

page('a task is started, asks for permission, and is answered', async page => {
  await open(page, `/new?repo=${encodeURIComponent(home.path + '/shop')}`)
  await page.getByRole('textbox', { name: 'What should be done' }).fill('make a file for me, please')
  const choices = page.getByRole('group', { name: 'Which session should do it?' })
  // What is advised comes first and says so, and nobody has to continue a session.
  await choices.getByRole('radio').first().and(choices.getByRole('radio', { name: /recommended/ })).waitFor()
  await choices.getByRole('radio', { name: /^A fresh session/ }).waitFor()
  home.workers = 3
  await page.getByRole('button', { name: /Start a fresh session|Continue that session/ }).click()
  await page.waitForURL(/\/s\//)
  await page.locator('.ask', { hasText: 'touch made' }).waitFor()
  const other = await home.browse()
  await open(other, '/')
  await other.getByRole('heading', { name: '1 session needs you' }).waitFor()
  assert.match(await other.title(), /^\(1\)/)
  // Where no events come through, it is asked for.
  const cut = await home.browse()
  await cut.route('**/api/v1/events*', route => route.abort())
  await open(cut, '/')
  await cut.getByRole('heading', { name: '1 session needs you' }).waitFor()
  await cut.getByText('No events are arriving').waitFor()
  await cut.locator('.need').getByRole('button', { name: 'Allow', exact: true }).waitFor()
  await cut.context().close()
  await other.locator('.need').getByRole('button', { name: 'Allow', exact: true }).press('Enter')
  await other.getByRole('heading', { name: 'Nothing needs you' }).waitFor()
  // The last card gives the focus to the heading.
  await focusReaches(other, 'needs')
  await page.locator('.item:not(.draft)', { hasText: 'It is made.' }).waitFor()
  assert.deepEqual(other.complaints, [])
  await other.context().close()
  await page.getByRole('textbox', { name: 'Message' }).fill('ask me')
  await page.keyboard.press('Enter')
  await page.getByText('Which colour?').first().waitFor()
  await page.getByRole('radio', { name: /Blue/ }).check()
  await page.getByRole('button', { name: 'Answer', exact: true }).press('Enter')
  await page.locator('.ask').waitFor({ state: 'detached' })
  // The keys of the session work at once.
  await focusReaches(page, 'reader-scroll')
  await page.locator('.item:not(.draft)', { hasText: 'Blue it is.' }).waitFor()
})

page('workers are listed with what they do, and are stopped', async page => {
  await open(page, '/workers')
  const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: /^Stop / }) })
  await row.getByText('your turn').waitFor()
  assert.equal(await row.count(), 1)
  await row.getByRole('button').click()
  await page.getByText('No worker runs').waitFor()
  await page.getByRole('button', { name: '1 ended' }).click()
  await page.getByRole('row').filter({ hasText: 'stopped' }).waitFor()
})
