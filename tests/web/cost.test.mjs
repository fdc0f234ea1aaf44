// Cost: what a sum is of.

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


page('cost: a sum opens its sessions', async page => {
  await open(page, '/cost?span=all')
  await page.getByRole('heading', { name: 'Project' }).waitFor()
  await page.getByRole('button', { name: 'shop', exact: true }).click()
  await page.waitForURL(/project=shop/)
  await page.locator('.wide').getByRole('link', { name: /paint the fence/ }).waitFor()
})
