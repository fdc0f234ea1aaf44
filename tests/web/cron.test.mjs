// The schedule: jobs.

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


page('a job is added, changed and removed', async page => {
  page.on('dialog', dialog => dialog.accept())
  await open(page, '/cron')
  await page.getByRole('button', { name: 'New job' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('nightly')
  await page.getByRole('textbox', { name: 'Task' }).fill('run the tests')
  await page.getByRole('combobox', { name: 'Directory' }).fill(`${home.path}/shop`)
  await page.getByRole('button', { name: 'Add the job' }).click()
  await page.getByText('daily at 04:00').waitFor()
  await page.getByRole('button', { name: 'Change' }).click()
  const form = page.getByRole('form', { name: 'Change nightly' })
  assert.equal(await form.getByRole('textbox', { name: 'Task' }).inputValue(), 'run the tests')
  await form.getByRole('textbox', { name: 'Task' }).fill('run all tests')
  await form.getByLabel('Time').fill('05:30')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.locator('.job', { hasText: 'run all tests' }).getByText('daily at 05:30').waitFor()
  assert.match(home.run('cron', 'list'), /nightly/)
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No jobs').waitFor()
})
