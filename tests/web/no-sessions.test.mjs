// What somebody sees who has no sessions yet.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { Home } from './scratch-home.mjs'
import { walks } from './page-test.mjs'

const home = await Home.open()
before(() => home.serve())
after(() => home.close())

const { page, open } = walks(home)

page('home, the list and the projects say how the first session comes', async page => {
  for (const path of ['/', '/sessions', '/projects']) {
    await open(page, path)
    await page.getByText('No sessions yet').waitFor()
    await page.getByRole('link', { name: 'start one here' }).waitFor()
    assert.equal(await page.getByText(/ of 0|No session matches|^0 /).count(), 0, path)
  }
})

page('the office is empty in every view, and offers no day that is not there', async page => {
  await open(page, '/world?replay=latest')
  await page.getByText('No session did anything in that period.').waitFor()
  assert.equal(await page.locator('.error').count(), 0, 'it is no failure')
  await page.keyboard.press('Escape')
  for (const key of ['2', '1', '3']) {
    await page.keyboard.press(key)
    await page.getByText('Nobody is at work now.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Play the last day' }).count(), 0)
  }
})
