// Cost: what a sum is of.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { Home, seriousFindings } from './scratch-home.mjs'
import { paintFence } from './example-sessions.mjs'
import { walks } from './page-test.mjs'

const home = await Home.open()
before(async () => {
  paintFence(home)
  await home.serve()
})
after(() => home.close())

const { page, open } = walks(home)

page('cost: a sum opens its sessions', async page => {
  await open(page, '/cost?span=all')
  await page.getByRole('heading', { name: 'Project' }).waitFor()
  await page.getByRole('button', { name: 'shop', exact: true }).click()
  await page.waitForURL(/project=shop/)
  await page.locator('.wide').getByRole('link', { name: /paint the fence/ }).waitFor()
})

page('each mark of a picture is a link with a name, which opens what it is of', async page => {
  await open(page, '/cost?span=all')
  const calendar = page.getByRole('group', { name: /^Calendar of a year/ })
  await calendar.getByRole('link').first().waitFor()
  const hours = page.getByRole('group', { name: /^What was spent at each hour/ })
  await hours.getByRole('link').first().waitFor()
  const models = page.getByRole('region', { name: 'Tokens by model' })
  await models.getByRole('link', { name: /output/ }).first().waitFor()
  for (const part of [calendar, hours]) {
    for (const link of await part.getByRole('link').all()) assert.match(await link.getAttribute('aria-label'), /\w: ./)
  }
  assert.deepEqual(await seriousFindings(page), [])
  await calendar.getByRole('link').last().focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/day=\d{4}-/)
  await page.locator('.wide').getByRole('link', { name: /paint the fence/ }).waitFor()
}, { bypassCSP: true })
