// What holds on every page: for screen readers, for keyboards, and for small windows.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { Home, seriousFindings } from './scratch-home.mjs'
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

const PAGES = ['/', '/sessions', '/search?q=fence', '/new', '/world', '/projects', '/workers', '/cost?span=all', '/cron', '/settings', '/help', '/s']
const address = path => (path === '/s' ? `/s/${painted}` : path)

/** Goes to a page and waits until nothing of it is on its way. */
async function settled(page, path) {
  await open(page, address(path))
  await page.locator('main :is(h1, h2)').first().waitFor({ state: 'attached' })
  await page.waitForFunction(() => !document.querySelector('main .loading'))
}

for (const colorScheme of ['light', 'dark']) {
  page(`axe finds nothing serious (${colorScheme})`, async page => {
    for (const path of PAGES) {
      await settled(page, path)
      assert.deepEqual(await seriousFindings(page), [], path)
    }
  }, { colorScheme, bypassCSP: true, reducedMotion: 'reduce' })
}

page('nothing is wider than a phone, or than a page at 200%', async page => {
  for (const size of [{ width: 375, height: 740 }, { width: 640, height: 400 }]) {
    await page.setViewportSize(size)
    for (const path of PAGES) {
      await settled(page, path)
      const wide = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth])
      assert.ok(Math.max(...wide) <= 1, `${path} at ${size.width}: ${wide}`)
    }
  }
})

page('a person with a keyboard alone reads a session', async page => {
  await open(page, '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the page')
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main')
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await page.waitForURL(/\/sessions/)
  await page.locator('.session-list article').first().waitFor()
  await page.keyboard.press('f')
  await page.keyboard.type('fence')
  await page.waitForURL(/q=fence/)
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => !location.search.includes('q='))
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/s\//)
  await page.locator('.item').first().waitFor()
  await page.keyboard.press('i')
  await page.locator('.side').waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await page.waitForURL(/\/help/)
})
