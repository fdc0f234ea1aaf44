// Talking to sessions: what is being written, plans, what is chosen while a worker lives, interrupts, notifications; with the
// real Claude Code.

import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { focusOn, walks } from './page-test.mjs'
import { Home } from './scratch-home.mjs'

const home = await Home.open()
before(() => home.serve())
after(() => home.close())

const { page } = walks(home)
const select = (page, label) => page.locator(`select[aria-label="${label}"]`)
const said = (page, words) => page.locator('.item-text:not(.draft)', { hasText: words }).first()
const workers = async page => (await home.get(page, '/api/v1/workers')).workers

/** Starts a fresh session as a person does. */
async function start(page, task, { model, mode, repo = 'shop' } = {}) {
  await page.goto(`${home.address}/new?repo=${encodeURIComponent(join(home.path, repo))}`)
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
  const release = home.model.hold()
  await start(page, 'count when you may, please')
  await page.locator('.draft', { hasText: 'three' }).waitFor()
  assert.equal(await page.getByText('twelve').count(), 0, 'it is not finished')
  release()
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
  assert.ok(home.model.asked.some(one => one.body.includes('the posts come first')))
  await ask.getByRole('button', { name: 'Approve' }).click()
  await said(page, 'I begin with the posts.').waitFor()
  await ask.waitFor({ state: 'detached' })
})

page('the model and the mode are chosen, and changed while the worker lives', async page => {
  await start(page, 'say hello to the model', { model: 'opus', mode: 'plan' })
  await said(page, 'Hello.').waitFor()
  const first = home.model.asked.findLast(one => one.body.includes('say hello to the model'))
  assert.match(first.model, /opus/)
  await page.waitForFunction(() => document.querySelector('select[aria-label="Permissions"]').value === 'plan')
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
  await page.waitForFunction(async () => (await (await window.ask('/api/v1/workers')).json()).workers[0].status === 'idle')
  const [before] = await workers(page)
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
  // One writes at once.
  await focusOn(page.getByRole('textbox', { name: 'Message' }))
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

/** Turns notifications on, and has a session need somebody while the page is in the background; the other page that started it. */
async function notified(page) {
  await page.goto(home.address + '/settings')
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('button', { name: 'On', exact: true }).waitFor()
  await page.waitForFunction(() => window.shown[0]?.title === 'Notifications are on')
  await page.goto(home.address + '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.evaluate(() => Object.defineProperty(document, 'hidden', { get: () => true }))
  const other = await home.browse()
  await start(other, 'make a file in the background')
  await page.waitForFunction(() => window.shown.length > 0)
  assert.deepEqual(await page.evaluate(() => window.shown.map(({ title, body }) => [title, body])), [['make a file in the background', 'Needs permission for Bash: touch made && rm -rf nothing']])
  return other
}

/** Denies what is asked on the page that a notification leads to. */
async function denies(page, other) {
  await page.waitForURL(/\/s\//)
  await page.locator('.ask').getByRole('button', { name: 'Deny…' }).click()
  await page.getByRole('button', { name: 'Deny', exact: true }).click()
  assert.deepEqual(other.complaints, [])
  await other.context().close()
}

// What the system does with a notification is its own; what it is asked for is kept.
const throwing = () => {
  window.Notification = class {
    static permission = 'granted'
    static requestPermission = async () => 'granted'
    constructor() {
      throw new TypeError('Illegal constructor. Use ServiceWorkerRegistration.showNotification() instead.')
    }
  }
}
const withoutWorker = () => Object.defineProperty(navigator, 'serviceWorker', { value: undefined })

page('on a phone, where a page makes no notification, the service worker shows it and leads there', async page => {
  await page.addInitScript(throwing)
  await page.addInitScript(() => {
    window.shown = []
    const { showNotification } = ServiceWorkerRegistration.prototype
    ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
      await showNotification.call(this, title, options)
      window.shown.push({ title, ...options })
    }
  })
  const other = await notified(page)
  const [worker] = page.context().serviceWorkers()
  await worker.evaluate(async () => {
    const all = await self.registration.getNotifications()
    self.dispatchEvent(new NotificationEvent('notificationclick', { notification: all.find(one => one.data !== '/settings') }))
  })
  await denies(page, other)
  assert.deepEqual(await worker.evaluate(() => caches.keys()), [], 'nothing is kept')
  await page.evaluate(() => Reflect.deleteProperty(document, 'hidden'))
  await page.goto(home.address + '/settings')
  await page.getByRole('button', { name: 'On', exact: true }).click()
  await page.waitForFunction(async () => !(await navigator.serviceWorker.getRegistrations()).length)
}, { permissions: ['notifications'] })

page('without a service worker the page shows the notification, and it leads there', async page => {
  await page.addInitScript(withoutWorker)
  await page.addInitScript(() => {
    window.shown = []
    window.Notification = class extends Notification {
      constructor(title, options) {
        super(title, options)
        window.shown.push({ title, body: options.body, notice: this })
      }
    }
  })
  const other = await notified(page)
  await page.evaluate(() => window.shown[0].notice.onclick())
  await denies(page, other)
}, { permissions: ['notifications'] })

page('where nothing can show a notification, that is said at once', async page => {
  await page.addInitScript(throwing)
  await page.addInitScript(withoutWorker)
  await page.goto(home.address + '/settings')
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.locator('.section .error', { hasText: 'shows no notifications for this address' }).waitFor()
  await page.getByRole('button', { name: 'Turn on' }).waitFor()
})

page('a task whose directory is taken says that it waits, and what it is to do', async page => {
  await start(page, 'go on for ever, please')
  await page.locator('.draft', { hasText: 'word' }).waitFor()
  const other = await home.browse()
  await other.goto(`${home.address}/new?repo=${encodeURIComponent(home.path + '/shop')}`)
  await other.getByRole('textbox', { name: 'What should be done' }).fill('count to twelve after it\nand carefully')
  await other.getByRole('radio', { name: /^Wait for the session/ }).waitFor()
  home.workers++
  await other.getByRole('button', { name: 'Start when it is free' }).click()
  await other.waitForURL(/\/s\//)
  await other.locator('.doing', { hasText: 'Waiting for the session before it to end' }).waitFor()
  assert.match(await other.locator('.item-prompt').innerText(), /count to twelve after it\nand carefully/)
  assert.equal(await other.locator('.session-title h1').innerText(), 'count to twelve after it')
  assert.ok(await other.getByRole('textbox', { name: 'Message' }).isDisabled())
  // What is not written yet is not asked for, also by a page that has just come.
  await other.reload()
  await other.locator('.doing', { hasText: 'Waiting for the session before it to end' }).waitFor()
  await page.getByRole('button', { name: 'Interrupt' }).click()
  await said(other, 'twelve.').waitFor()
  assert.deepEqual(other.complaints, [])
  await other.context().close()
})

page('who has answered one card goes on with the next, and allows for good only what they may', async page => {
  mkdirSync(join(home.path, 'mill'))
  const card = (page, words) => page.getByRole('article', { name: words })
  await start(page, 'make a file in the shop')
  await page.locator('.ask', { hasText: 'touch made' }).waitFor()
  await start(page, 'make a file in the mill', { repo: 'mill' })
  await page.locator('.ask', { hasText: 'touch made' }).waitFor()
  // What is asked is said before the form that answers it has come.
  let come
  const held = new Promise(done => (come = done))
  await page.route('**/assets/request-form-*.js', async route => (await held, route.continue()))
  await page.goto(home.address + '/')
  await card(page, 'make a file in the shop').getByText('Needs permission for Bash: touch made && rm -rf nothing').waitFor()
  come()
  await card(page, 'make a file in the shop').getByRole('button', { name: 'Always allow' }).waitFor()
  // Both ask the same: one card has them, and names the other.
  const both = page.getByRole('button', { name: 'Allow in all 2 sessions' })
  await both.waitFor()
  await card(page, 'make a file in the shop').getByRole('link', { name: 'make a file in the mill' }).waitFor()
  // Whose link lets them act alone may answer, and no more.
  const other = await home.browse({ storageState: undefined })
  await other.goto(home.run('serve', 'link', '--scope', 'act').trim())
  const allow = place => card(other, `make a file in the ${place}`).getByRole('button', { name: 'Allow', exact: true })
  await allow('shop').waitFor()
  assert.equal((await home.get(other, '/api/v1/scope')).scope, 'act')
  assert.equal(await other.getByRole('button', { name: 'Always allow' }).count(), 0)
  await allow('shop').press('Enter')
  await card(other, 'make a file in the shop').waitFor({ state: 'detached' })
  await other.waitForFunction(() => document.activeElement.textContent === 'make a file in the mill')
  await allow('mill').press('Enter')
  await other.getByRole('heading', { name: 'Nothing needs you' }).waitFor()
  await other.waitForFunction(() => document.activeElement.id === 'needs')
  assert.deepEqual(other.complaints, [])
  await other.context().close()
})
