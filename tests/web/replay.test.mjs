// A day played again, in a home that has one session: the last day is the day of that one.

import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { Home } from './scratch-home.mjs'
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
afterEach(() => home.closePages())
after(() => home.close())

/** The last day, in a browser that wants less motion. */
async function lastDay() {
  const page = await home.browse({ viewport: { width: 900, height: 600 }, reducedMotion: 'reduce' })
  await page.goto(home.address + '/world?replay=latest')
  await page.getByRole('group', { name: 'Replay' }).waitFor()
  return page
}

/** Stops the replay a moment after the first thing that happened. In one step: it may still play, or have come to its end. */
async function stop(page) {
  await page.evaluate(() => {
    document.querySelector('.replay button[aria-label^=Pause]')?.click()
    const field = document.querySelector('.replay input[type=range]')
    field.value = String(Number(field.min) + 62_000)
    field.dispatchEvent(new Event('input', { bubbles: true }))
  })
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
}

test('the card of a replay leads to the moment that is shown', async () => {
  const page = await lastDay()
  await stop(page)
  await page.getByRole('button', { name: '3D' }).click()
  await page.waitForFunction(() => window.backstoryWorld.scene().agents.length === 1)
  await page.keyboard.press(']')
  const card = page.locator('.agent-card', { hasText: 'paint the fence green' })
  await card.getByText('shop', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await card.waitFor({ state: 'detached' })
  assert.match(page.url(), /replay=latest/, 'one level out')
  await page.keyboard.press(']')
  await card.getByRole('link', { name: 'Open at this moment' }).click()
  await page.waitForURL(/\/s\/.*#/)
  await page.locator('.found').first().waitFor()
  await page.goBack()
  await page.getByRole('group', { name: 'Replay' }).waitFor()
  await page.keyboard.press('Escape')
  await page.waitForURL(address => !address.searchParams.has('replay'))
  assert.deepEqual(page.complaints, [])
})

test('the last day is played again', async () => {
  const page = await lastDay()
  await stop(page)
  await page.locator('.map-agent', { hasText: 'paint the fence green' }).waitFor()
  assert.match(await page.locator('.map-agent').getAttribute('href'), /#/)
  assert.deepEqual(page.complaints, [])
})
