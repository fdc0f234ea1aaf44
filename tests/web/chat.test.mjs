// Talking to sessions: what is being written, plans, what is chosen while a worker lives, interrupts, notifications; with the
// real Claude Code.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Home } from './house.mjs'

const home = await Home.open()
before(() => home.serve())
after(() => home.close())

/** Runs on a page of its own; nothing may go wrong in it. */
function page(name, use, options) {
  test(name, async () => {
    const page = await home.browse(options)
    await use(page)
    // A session that has just been started is not written yet.
    assert.deepEqual(page.complaints.filter(one => !one.includes('status of 404')), [])
    await page.context().close()
  })
}
const select = (page, label) => page.locator(`select[aria-label="${label}"]`)
const said = (page, words) => page.locator('.item-text:not(.draft)', { hasText: words }).first()
const workers = async page => (await home.get(page, '/api/v1/workers')).workers

/** Starts a fresh session as a person does. */
async function start(page, task, { model, mode } = {}) {
  await page.goto(`${home.address}/new?repo=${encodeURIComponent(home.path + '/shop')}`)
  await page.getByRole('textbox', { name: 'What should be done' }).fill(task)
  if (model) await select(page, 'Model').selectOption(model)
  if (mode) await select(page, 'Permissions').selectOption(mode)
  await page.getByRole('radio', { name: /^A fresh session/ }).first().check()
  home.workers = (home.workers ?? 0) + 1
  await page.getByRole('button', { name: 'Start a fresh session' }).click()
  await page.waitForURL(/\/s\//)
}

async function send(page, message) {
  await page.getByRole('textbox', { name: 'Message' }).fill(message)
  await page.keyboard.press('Enter')
}

page('an answer is shown while it is written', async page => {
  await start(page, 'count slowly, please')
  await page.locator('.draft', { hasText: 'three' }).waitFor()
  assert.equal(await said(page, 'twelve').count(), 0, 'it is not finished')
  await said(page, 'twelve.').waitFor()
  await page.locator('.draft').waitFor({ state: 'detached' })
  assert.equal(await page.locator('.item-text', { hasText: 'One two' }).count(), 1, 'it is there once')
})

page('a plan is sent back, and then approved', async page => {
  await start(page, 'plan the fence, please', { mode: 'plan' })
  const ask = page.locator('.ask', { hasText: 'Approve this plan?' })
  await ask.waitFor()
  // The card shows the plan as it is meant, not as Markdown is written.
  const plan = ask.getByRole('group', { name: 'The plan' })
  await plan.getByRole('heading', { name: 'Plan', exact: true }).waitFor()
  assert.equal(await plan.locator('strong').innerText(), 'then')
  assert.doesNotMatch(await plan.innerText(), /[#*]/)
  await ask.getByRole('button', { name: 'Ask for changes…' }).click()
  await ask.getByRole('textbox').fill('the posts come first')
  await ask.getByRole('button', { name: 'Send back' }).click()
  await page.locator('.prose', { hasText: 'First the posts.' }).first().waitFor()
  assert.ok(home.model.asked.at(-1).body.includes('the posts come first'))
  await ask.getByRole('button', { name: 'Approve' }).click()
  await said(page, 'I begin with the posts.').waitFor()
  await ask.waitFor({ state: 'detached' })
})

page('the model and the mode are chosen, and changed while the worker lives', async page => {
  await start(page, 'say hello to the model', { model: 'opus', mode: 'plan' })
  await said(page, 'Hello.').waitFor()
  const first = home.model.asked.findLast(one => one.body.includes('say hello to the model'))
  assert.match(first.model, /opus/)
  assert.equal(await select(page, 'Permissions').inputValue(), 'plan')
  const [worker] = await workers(page)
  assert.equal(worker.permission_mode, 'plan')
  for (const [label, value, path] of [['Model', 'sonnet'], ['Permissions', '']]) {
    const changed = page.waitForResponse(/\/options$/)
    await select(page, label).selectOption(value)
    assert.equal((await changed).status(), 204, path)
  }
  await send(page, 'make a file now')
  // Out of the plan mode it asks before it acts.
  const ask = page.locator('.ask', { hasText: 'touch made' })
  await ask.getByRole('button', { name: 'Allow', exact: true }).click()
  await said(page, 'It is made.').waitFor()
  assert.match(home.model.asked.findLast(one => one.body.includes('make a file now')).model, /sonnet/)
  const [now] = await workers(page)
  assert.equal(now.permission_mode, 'default')
  assert.deepEqual([now.worker, now.pid], [worker.worker, worker.pid], 'it is the same worker')
})

page('a turn is interrupted, and its worker goes on', async page => {
  await start(page, 'go on for ever, please')
  await page.locator('.draft', { hasText: 'word word word' }).waitFor()
  await page.getByRole('button', { name: 'Interrupt this turn' }).click()
  await page.getByRole('button', { name: /End the worker/ }).waitFor()
  const [before] = await workers(page)
  assert.equal(before.status, 'idle')
  await send(page, 'and hello again')
  await said(page, 'Hello.').waitFor()
  const [after] = await workers(page)
  assert.deepEqual([after.worker, after.pid], [before.worker, before.pid])
  await page.getByRole('button', { name: /End the worker/ }).click()
  await page.getByPlaceholder('Continue this session…').waitFor()
})

page('a message is forked at, and the fork has nothing of what came after', async page => {
  await start(page, 'say hello to the first gate')
  await said(page, 'Hello.').waitFor()
  await send(page, 'and to the second gate')
  await page.waitForFunction(() => document.querySelectorAll('.item-text:not(.draft)').length === 2)
  const from = page.url().replace(/#.*/, '')
  const first = said(page, 'Hello.')
  await first.hover()
  await first.getByRole('button', { name: 'Fork here' }).click()
  const place = page.getByText('In a fork that ends at “Hello.”')
  await place.waitFor()
  const field = page.getByRole('textbox', { name: 'Message' })
  assert.ok(await field.evaluate(field => field === document.activeElement), 'one writes at once')
  // It is left again, and taken again.
  await page.getByRole('button', { name: 'Do not fork' }).click()
  await place.waitFor({ state: 'detached' })
  assert.equal(await page.getByRole('checkbox', { name: 'In a fork' }).isChecked(), false)
  await first.hover()
  await first.getByRole('button', { name: 'Fork here' }).click()
  home.workers++
  await send(page, 'and to the third gate')
  await page.waitForURL(address => !address.href.startsWith(from))
  await page.waitForFunction(() => document.querySelectorAll('.item-text:not(.draft)').length === 2)
  const { body } = home.model.asked.findLast(one => one.body.includes('third gate'))
  assert.ok(body.includes('first gate') && !body.includes('second gate'), 'the model is sent the part before it alone')
  assert.equal(await place.count(), 0)
})

page('who asked for it is notified in the background, and the notification leads there', async page => {
  // What the system does with a notification is its own; what the page asks of it is kept.
  await page.addInitScript(() => {
    window.shown = []
    window.Notification = class extends Notification {
      constructor(title, options) {
        super(title, options)
        window.shown.push({ title, body: options.body, notice: this })
      }
    }
  })
  await page.goto(home.address + '/settings')
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('button', { name: 'On', exact: true }).waitFor()
  await page.goto(home.address + '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.evaluate(() => Object.defineProperty(document, 'hidden', { get: () => true }))
  const other = await home.browse()
  await start(other, 'make a file in the background')
  await page.waitForFunction(() => window.shown.length > 0)
  const { title, body } = await page.evaluate(() => window.shown[0])
  assert.match(title + body, /make a file|touch made|permission/i)
  await page.evaluate(() => window.shown[0].notice.onclick())
  await page.waitForURL(/\/s\//)
  await page.locator('.ask').getByRole('button', { name: 'Deny…' }).click()
  await page.getByRole('button', { name: 'Deny', exact: true }).click()
  await other.context().close()
}, { permissions: ['notifications'] })

page('a task whose directory is taken says that it waits, and what it is to do', async page => {
  await start(page, 'go on for ever, please')
  await page.locator('.draft', { hasText: 'word' }).waitFor()
  const other = await home.browse()
  await other.goto(`${home.address}/new?repo=${encodeURIComponent(home.path + '/shop')}`)
  await other.getByRole('textbox', { name: 'What should be done' }).fill('count slowly after it\nand carefully')
  await other.getByRole('radio', { name: /^Wait for the session/ }).waitFor()
  home.workers++
  await other.getByRole('button', { name: 'Start when it is free' }).click()
  await other.waitForURL(/\/s\//)
  await other.locator('.doing', { hasText: 'Waits until the session before it has ended' }).waitFor()
  assert.match(await other.locator('.item-prompt').innerText(), /count slowly after it\nand carefully/)
  assert.equal(await other.locator('.session-title h1').innerText(), 'count slowly after it')
  assert.ok(await other.getByRole('textbox', { name: 'Message' }).isDisabled())
  await page.getByRole('button', { name: 'Interrupt' }).click()
  await said(other, 'twelve.').waitFor()
  assert.deepEqual(other.complaints.filter(one => !one.includes('status of 404')), [])
  await other.context().close()
})
