// A session as it is read: what it shows, from its end to its beginning, and what is found in it.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Home } from './scratch-home.mjs'
import { askAtHarbor, paintFence, writeLetter } from './example-sessions.mjs'
import { idOf } from './transcripts.mjs'
import { walks } from './page-test.mjs'

const LONG = 20_000

const home = await Home.open()
let painted, written, long
before(async () => {
  painted = paintFence(home)
  written = writeLetter(home)
  long = askAtHarbor(home, LONG / 2)
  await home.serve()
})
after(() => home.close())

const { page, open } = walks(home)

page('a session shows changes, colours and pictures, and nothing in it can act', async page => {
  await open(page, `/s/${painted}`)
  await page.locator('.diff-line.added', { hasText: 'green()' }).waitFor()
  assert.equal(await page.locator('.diff-line.removed .diff-number').innerText(), '8')
  await page.locator('.picture img').waitFor()
  assert.equal(await page.locator('.item-text img').count(), 0)
  assert.equal(await page.locator('.item-text a').getAttribute('rel'), 'noopener noreferrer')
  await page.getByRole('button', { name: /Bash cargo test/ }).click()
  await page.locator('.ansi-green-fg').waitFor()
  await page.getByRole('button', { name: /more lines/ }).click()
  await page.getByRole('tab', { name: 'Changes' }).click()
  await page.locator('.files li', { hasText: 'fence.rs' }).waitFor()
})

page('a session loads at most 41 kB of script beyond the first screen, with a change, colours of a terminal and its column', async page => {
  await open(page, `/s/${painted}`)
  await page.locator('.diff-line mark').first().waitFor()
  await page.getByRole('button', { name: /Bash cargo test/ }).click()
  await page.locator('.ansi-green-fg').waitFor()
  await page.getByRole('tab', { name: 'Changes' }).waitFor()
  await page.getByRole('button', { name: 'More', exact: true }).waitFor()
  const served = async path => (await page.request.get(home.address + path)).body()
  const index = (await served('/')).toString()
  const loaded = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter(path => /^\/assets\/.*\.js$/.test(path)))
  // What colours code runs in a worker and has a budget of its own.
  const later = [...new Set(loaded)].filter(path => !index.includes(path) && !path.includes('/colours.worker-'))
  const sizes = await Promise.all(later.map(async path => [path, gzipSync(await served(path), { level: 9 }).length]))
  assert.ok(later.length >= 5, later.join(' '))
  assert.ok(sizes.reduce((sum, [, size]) => sum + size, 0) <= 41 * 1024, sizes.join('\n'))
})

page('Markdown is shown as it was meant, and what only looks like it as it was written', async page => {
  await open(page, `/s/${written}`)
  const prose = page.locator('.prose').first()
  await prose.locator('td.to-right', { hasText: '1 < 2' }).waitFor()
  await prose.locator('ol li ul li', { hasText: 'nested' }).waitFor()
  await prose.getByText('<details>a < b</details>').waitFor()
  await prose.locator('pre code .hljs-keyword', { hasText: 'let' }).waitFor()
  assert.deepEqual(await prose.locator('a').evaluateAll(links => links.map(link => link.getAttribute('href'))), ['https://example.com/?a=1&b=2'])
  await page.getByText(/deep down/).waitFor()
})

page('a long session opens at its end, and keeps its place to its beginning', async page => {
  await open(page, `/s/${long}`)
  await page.getByText(`answer ${LONG / 2 - 1}`, { exact: true }).waitFor()
  const dropped = await page.evaluate(async () => {
    const scroller = document.querySelector('.reader-scroll')
    const first = () => [...scroller.querySelectorAll('[data-key]')].find(item => item.getBoundingClientRect().bottom > scroller.getBoundingClientRect().top)
    // What is between two frames is never seen.
    const shown = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
    // Until what was asked for is there.
    const loaded = async () => {
      do await shown()
      while (document.querySelector('[role=feed][aria-busy=true]'))
    }
    let dropped = 0
    for (let count = 0; count < 40; count++) {
      scroller.scrollTop = Math.max(0, scroller.scrollTop - 900)
      await shown()
      const anchor = first()
      const top = anchor.getBoundingClientRect().top
      await loaded()
      await shown()
      if (!anchor.isConnected || Math.abs(anchor.getBoundingClientRect().top - top) > 2) dropped++
    }
    return dropped
  })
  assert.equal(dropped, 0, 'the record that is read stays where it is')
  assert.ok((await page.locator('.reader-scroll [data-key]').count()) <= 1300)
})

page('on a phone a session is not covered, and its column closes again', async page => {
  await page.setViewportSize({ width: 390, height: 844 })
  await open(page, `/s/${painted}`)
  await page.getByText('The fence is green.').click()
  assert.equal(await page.locator('.side').count(), 0)
  await page.getByRole('button', { name: 'Side column' }).click()
  await page.locator('.outline button').first().click()
  await page.locator('.side').waitFor({ state: 'detached' })
  await page.locator('.found', { hasText: 'paint the fence green' }).waitFor()
})

page('words are found in the whole session, and a link to a message holds', async page => {
  await open(page, `/s/${long}`)
  await page.getByText(`answer ${LONG / 2 - 1}`, { exact: true }).waitFor()
  await page.locator('.reader-scroll').press('f')
  await page.getByRole('searchbox', { name: 'Find in the whole session' }).fill('the needle')
  await page.getByText('1 of 1').waitFor()
  await page.locator('.found', { hasText: 'answer 77 with the needle' }).waitFor()
  const address = page.url()
  assert.match(address, /#0000/)
  await page.goto('about:blank')
  await page.goto(address)
  await page.locator('.found', { hasText: 'with the needle' }).waitFor()
  assert.ok(await page.getByText('answer 77 with the needle').isVisible())
})
