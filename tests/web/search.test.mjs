// Search, and the palette that goes everywhere.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { Home } from './scratch-home.mjs'
import { askAtHarbor, paintFence } from './example-sessions.mjs'
import { hold, walks } from './page-test.mjs'

const home = await Home.open()
let painted
before(async () => {
  painted = paintFence(home)
  askAtHarbor(home, 100)
  await home.serve()
})
after(() => home.close())

const { page, open } = walks(home)


page('search finds what was said as one types', async page => {
  await open(page, '/search')
  await page.getByRole('searchbox').pressSequentially('fence green')
  await page.locator('.hit', { hasText: 'fence' }).first().waitFor()
  assert.match(await page.locator('.hit').first().getAttribute('title'), /Score \d/)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/s\//)
})

page('a question for a branch is answered by its sessions, and can be searched for as words', async page => {
  await open(page, '/search?q=' + encodeURIComponent('sessions on the main branch'))
  await page.getByRole('heading', { name: 'Sessions on the branch main' }).waitFor()
  await page.locator('.hinted').getByRole('link', { name: /paint the fence/ }).waitFor()
  await page.getByRole('button', { name: 'Search for these words instead' }).click()
  await page.waitForURL(/%22/)
  await page.getByText('Nothing found').waitFor()
})

page('the palette goes everywhere', async page => {
  await open(page, '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('fence')
  // What was said is found as well, and maybe before the list of sessions is there.
  await page.getByRole('option', { name: /paint the fence/, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(new RegExp(painted))
})

page('what is gone to in the palette stays chosen when more is found before it', async page => {
  const release = await hold(page, '**/api/v1/rows')
  await open(page, '/help')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('fence')
  const said = page.locator('[role=option][data-group="What was said"]').first()
  await said.waitFor()
  await page.keyboard.press('ArrowDown')
  await page.locator('[data-group="What was said"][aria-selected=true]').waitFor()
  release()
  await page.locator('[data-group=Sessions]').first().waitFor()
  assert.equal(await said.getAttribute('aria-selected'), 'true')
})
