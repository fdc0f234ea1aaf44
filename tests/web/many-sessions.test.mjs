// Ten thousand sessions in one list.

import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { Home } from './scratch-home.mjs'
import { idOf, Transcript } from './transcripts.mjs'

const MANY = 10_000
const home = await Home.open()
before(async () => {
  for (let at = 0; at < MANY; at++) {
    const one = new Transcript(home, `project-${at % 40}`, idOf(at), Date.now() - at * 60_000)
    one.prompt(`task number ${at}`)
    one.write()
  }
  await home.serve()
})
afterEach(() => home.closePages())
after(() => home.close())

test('they are listed, scrolled to the last, and filtered', async () => {
  const page = await home.browse()
  await page.goto(`${home.address}/sessions?group=none`)
  await page.locator('.session-list article').first().waitFor()
  assert.match(await page.locator('.head .dim').innerText(), /^10,000$/)
  assert.ok((await page.locator('.session-list article').count()) < 200, 'only what is seen is on the page')
  await page.locator('.session-list').evaluate(list => (list.scrollTop = list.scrollHeight))
  await page.getByText(`task number ${MANY - 1}`, { exact: true }).waitFor()
  await page.getByRole('searchbox').fill('number 7777')
  await page.getByText('1 of 10,000').waitFor()
  assert.deepEqual(page.complaints, [])
})

test('forty projects are filtered, and the filter is in the address', async () => {
  const page = await home.browse()
  await page.goto(`${home.address}/projects`)
  await page.getByRole('searchbox').fill('project-7')
  await page.waitForURL(/q=project-7/)
  await page.getByText('1 of 40 repositories').waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'project-7', exact: true }).waitFor()
  assert.equal(await page.locator('tbody tr').count(), 1)
  await page.getByRole('searchbox').fill('no such thing')
  await page.getByText('No project matches').waitFor()
  assert.deepEqual(page.complaints, [])
})
