// A session of a hundred megabytes.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { statSync } from 'node:fs'
import { Home } from './scratch-home.mjs'
import { idOf, Transcript } from './transcripts.mjs'
import { walks } from './page-test.mjs'

const TURNS = 1000
const home = await Home.open()
let large
before(async () => {
  large = new Transcript(home, 'shop', idOf(1))
  const printed = 'a line that a program printed, and another one after it\n'.repeat(1900)
  for (let turn = 0; turn < TURNS; turn++) {
    large.prompt(`question ${turn}`)
    large.uses('Bash', { command: `./print ${turn}` }, printed)
    large.says(`answer ${turn}`)
  }
  large.write()
  await home.serve()
})
after(() => home.close())
const { page, open } = walks(home)

page('it opens at its end with a small part of it, goes back from there, and to any of its messages', async page => {
  assert.ok(statSync(large.path).size > 100_000_000)
  const parts = []
  page.on('response', response => response.url().includes('/blocks') && parts.push(response))
  await open(page, `/s/${large.id}`)
  await page.getByText(`answer ${TURNS - 1}`, { exact: true }).waitFor()
  // The page may have looked ahead already; what it has read is still next to nothing of it.
  const sizes = await Promise.all(parts.map(async part => (await part.body()).length))
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 2_000_000, `${sizes} bytes`)
  const first = () => page.locator('.item-prompt').first().innerText()
  const before = await first()
  await page.waitForFunction(before => {
    document.querySelector('.reader-scroll').scrollTop = 0
    return document.querySelector('.item-prompt').innerText !== before
  }, before)
  const wanted = JSON.parse(large.lines[4 * 500]).uuid
  await open(page, `/s/${large.id}#${wanted}`)
  await page.locator('.found', { hasText: 'question 500' }).waitFor()
})
