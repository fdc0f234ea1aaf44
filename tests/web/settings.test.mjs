// Settings: who may come in.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { Home } from './scratch-home.mjs'
import { walks } from './page-test.mjs'

const home = await Home.open()
before(async () => {
  await home.serve()
})
after(() => home.close())

const { page, open } = walks(home)


page('who has access is told apart, and a browser signs itself out only when it is sure', async page => {
  await open(page, '/settings')
  const list = page.locator('.list > li', { has: page.getByRole('button', { name: /^Revoke/ }) })
  const link = list.filter({ hasText: 'this browser' })
  await link.getByText(/^Browser, signed in \w+ \d+, \d{4}, \d\d:\d\d, until /).first().waitFor()
  assert.equal(await link.count(), 1)
  assert.equal(await link.getByText('this browser').count(), 1)
  await page.getByRole('textbox', { name: 'Name of a new token' }).fill('phone')
  await page.getByRole('button', { name: 'Make a link' }).click()
  const phone = list.filter({ hasText: 'phone' })
  await phone.getByText(/^Link made /).waitFor()
  await phone.getByText('never used').waitFor()
  const made = await page.locator('.made code').innerText()
  assert.equal((await page.request.get(`${home.address}/api/v1/scope`, { headers: { Authorization: `Bearer ${new URL(made).searchParams.get('token')}` } })).status(), 200)
  await page.reload()
  await phone.getByText('last used today').waitFor()
  assert.match(home.run('serve', 'token', 'list'), /act +token +used this hour +phone/)
  const asked = []
  page.on('dialog', dialog => (asked.push(dialog.message()), dialog.dismiss()))
  await phone.getByRole('button', { name: 'Revoke phone', exact: true }).click()
  await phone.waitFor({ state: 'detached' })
  assert.deepEqual(asked, [])
  await link.getByRole('button', { name: /^Revoke/ }).click()
  assert.match(asked[0], /sign this browser out/)
  await page.reload()
  await link.waitFor()
})
