// The world in a browser: what it shows, what it costs, and what becomes of it without a graphics card.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Home } from './house.mjs'
import { idOf, Transcript } from './transcripts.mjs'

const home = await Home.open()
before(async () => {
  const one = new Transcript(home, 'shop', idOf(1))
  one.prompt('paint the fence green')
  one.uses('Bash', { command: 'ls' }, 'a.txt')
  one.says('Done.')
  one.write()
  await home.serve()
})
after(() => home.close())

const actors = count =>
  Array.from({ length: count }, (_, at) => ({
    id: `s${at}`, title: `Session ${at}`, project: `project-${at % 20}`, last: Date.now(),
    state: ['tool_use', 'thinking', 'responding', 'waiting_input', 'idle'][at % 5], detail: `step ${at}`, subagents: [],
  }))

/** The world with these sessions in it. */
async function world(path, all, options) {
  const page = await home.browse({ viewport: { width: 900, height: 600 }, ...options })
  await page.goto(home.address + path)
  await page.waitForFunction(() => window.backstoryWorld)
  if (all) await page.evaluate(all => window.backstoryWorld.stage(all), all)
  return page
}

test('two hundred sessions take few draw calls', async () => {
  const page = await world('/world', actors(200))
  await page.waitForFunction(() => window.backstoryWorld.scene().agents.length === 200 && window.backstoryWorld.stats().calls > 0)
  const { calls } = await page.evaluate(() => window.backstoryWorld.stats())
  assert.ok(calls <= 30, `${calls} draw calls`)
  assert.deepEqual(page.complaints, [])
  await page.context().close()
})

test('one who waits is flown to, and opened', async () => {
  const all = actors(10)
  all[3] = { ...all[3], state: 'waiting_permission', detail: 'rm -rf build' }
  const page = await world('/world', all)
  await page.waitForFunction(() => window.backstoryWorld.scene().agents.length === 10)
  await page.keyboard.press('v')
  await page.locator('.agent-card', { hasText: 'Session 3' }).waitFor()
  await page.locator('.label.waiting_permission', { hasText: 'rm -rf build' }).waitFor()
  await page.keyboard.press('o')
  await page.waitForURL(/\/s\/s3/)
  await page.context().close()
})

test('a lost graphics card comes back, or gives way to the list', async () => {
  const page = await world('/world', actors(5))
  await page.waitForFunction(() => window.backstoryWorld.stats().calls > 0)
  await page.evaluate(() => window.backstoryWorld.loseContext(300))
  await page.waitForTimeout(3200)
  assert.equal(await page.locator('.scene canvas').count(), 1, 'a short loss is not the end')
  await page.evaluate(() => window.backstoryWorld.loseContext(0))
  await page.locator('.flat').waitFor()
  assert.equal(await page.locator('.flat-agent').count(), 5)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.waitForFunction(() => window.backstoryWorld.stats().calls > 0)
  await page.context().close()
})

test('who wants less motion has the list', async () => {
  const page = await world('/world', actors(5), { reducedMotion: 'reduce' })
  await page.locator('.flat-agent').first().waitFor()
  await page.getByRole('link', { name: /Session 2/ }).click()
  await page.waitForURL(/\/s\/s2/)
  await page.context().close()
})

test('the last day is played again', async () => {
  const page = await world('/world?replay=latest', undefined, { reducedMotion: 'reduce' })
  await page.getByRole('group', { name: 'Replay' }).waitFor()
  const scrubber = page.getByRole('slider')
  await scrubber.evaluate(field => {
    field.value = String(Number(field.min) + 62_000)
    field.dispatchEvent(new Event('input', { bubbles: true }))
  })
  await page.locator('.flat-agent', { hasText: 'paint the fence green' }).waitFor()
  assert.match(await page.locator('.flat-agent a').getAttribute('href'), /#/)
  assert.deepEqual(page.complaints, [])
  await page.context().close()
})
