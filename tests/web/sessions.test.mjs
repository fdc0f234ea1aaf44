// The list of all sessions: filters, and what a person keeps of a session.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { Home } from './scratch-home.mjs'
import { askAtHarbor, paintFence } from './example-sessions.mjs'
import { walks } from './page-test.mjs'

const home = await Home.open()
let painted
before(async () => {
  painted = paintFence(home)
  askAtHarbor(home, 2)
  await home.serve()
})
after(() => home.close())

const { page, open } = walks(home)


page('sessions are filtered, and the filter is in the address', async page => {
  await open(page, '/sessions')
  await page.getByRole('searchbox').fill('fence')
  await page.waitForURL(/q=fence/)
  await page.waitForFunction(() => document.querySelectorAll('.session-list article').length === 1)
  await page.reload()
  await page.waitForFunction(() => document.querySelector('main input[type=search]')?.value === 'fence')
  await page.locator('.session-list article').first().waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('j')
  await page.keyboard.press('p')
  await page.getByRole('button', { name: /Pinned/ }).waitFor()
})

page('pins, tags, names and notes are those of the command line', async page => {
  const other = await home.browse()
  await open(other, `/s/${painted}`)
  await other.locator('.session-title h1').waitFor()
  await open(page, '/sessions?q=fence&group=none')
  const row = page.locator('.session-list article')
  await row.waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('t')
  const dialog = page.getByRole('dialog', { name: 'Name, tags and note' })
  await dialog.getByRole('textbox', { name: /^Tags/ }).fill('garden #later')
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('The green fence')
  await dialog.getByRole('textbox', { name: 'Note' }).fill('ask Ada about the colour')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await row.getByText('The green fence').waitFor()
  await row.getByText('garden').waitFor()
  assert.match(home.run('tag', painted), /#garden #later/)
  assert.match(home.run('note', painted), /ask Ada/)
  // The other page has heard of it, and so of what the command line does.
  await other.locator('.session-title h1', { hasText: 'The green fence' }).waitFor()
  await other.locator('.session-note', { hasText: 'ask Ada' }).waitFor()
  home.run('tag', painted, 'urgent', '--remove', 'later')
  home.run('pin', painted)
  for (const one of [row, other.locator('.session-head')]) await one.getByText('urgent').waitFor()
  // The page shows it before the server has heard of it.
  const changed = other.waitForResponse(answer => answer.request().method() === 'PATCH' && answer.url().endsWith('/annotations'))
  await other.getByRole('button', { name: 'Unpin' }).click()
  await other.getByRole('button', { name: 'Pin', exact: true }).waitFor()
  assert.equal((await changed).status(), 200)
  assert.doesNotMatch(home.run('list', '--pinned'), /The green fence/)
  home.run('name', painted, '--clear')
  await other.locator('.session-title h1', { hasText: /^paint the fence/ }).waitFor()
  home.run('note', painted, '--clear')
  home.run('tag', painted, '--remove', 'urgent', '--remove', 'garden')
  await other.locator('.session-note').waitFor({ state: 'detached' })
  assert.deepEqual(other.complaints, [])
  await other.context().close()
})

page('a session is hidden, and that is undone', async page => {
  await open(page, '/sessions?group=none')
  const rows = page.locator('.session-list article')
  const fence = rows.filter({ hasText: 'paint the fence' })
  await fence.waitFor()
  while (!(await fence.locator('.row.current').count())) await page.keyboard.press('j')
  await page.keyboard.press('x')
  await fence.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await fence.waitFor()
  home.run('hide', painted)
  await fence.waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: 'Which sessions' }).selectOption('hidden')
  await fence.waitFor()
  assert.equal(await rows.count(), 1)
  await page.keyboard.press('Escape')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.getByText('No session is hidden').waitFor()
  await page.getByRole('combobox', { name: 'Which sessions' }).selectOption('all')
  await fence.waitFor()
  assert.doesNotMatch(home.run('list', '--hidden'), /paint the fence/)
})

page('on a phone the age of a session is beside its title, and its project on the line of what else is said of it', async page => {
  await page.setViewportSize({ width: 390, height: 844 })
  await open(page, '/sessions')
  const row = page.locator('.session-list .row').first()
  await row.waitFor()
  const [title, doing, project, age] = await Promise.all(['.row-title', '.row-doing', '.row-project', '.age'].map(name => row.locator(name).boundingBox()))
  assert.ok(Math.abs(title.y - age.y) < 6 && age.x > title.x, JSON.stringify([title, age]))
  assert.ok(Math.abs(doing.y - project.y) < 6 && project.x > doing.x && doing.y > title.y, JSON.stringify([doing, project]))
  // What one page hides on a phone another one shows.
  await page.keyboard.press('g')
  await page.keyboard.press('c')
  await page.locator('.wide').getByRole('link', { name: /paint the fence/ }).waitFor()
})
