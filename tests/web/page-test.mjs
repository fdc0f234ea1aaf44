// Tests that each run on a page of their own, in which nothing may go wrong.

import assert from 'node:assert/strict'
import { test } from 'node:test'

/** What makes such tests in a home, and what goes to an address there; a test that breaks something names the complaints that it
 *  `causes`. */
export function walks(home) {
  const page = (name, use, { causes, ...options } = {}) =>
    test(name, async () => {
      const page = await home.browse(options)
      await use(page)
      assert.deepEqual(page.complaints.filter(one => !causes?.test(one)), [])
      await page.context().close()
    })
  return { page, open: (page, path) => page.goto(home.address + path) }
}

/** Holds back what matches until the returned function is called; its `request` is the first that was held back. */
export async function hold(page, pattern) {
  let release
  const held = new Promise(done => (release = done))
  await page.route(pattern, async route => {
    release.request ??= route.request()
    await held
    await route.continue()
  })
  return release
}

/** Scrolls to an end and stays there: the page may still be on its way to the record that its address names. */
export async function stayAt(reader, end, isDone) {
  for (let count = 0; count < 500; count++) {
    const isThere = await reader.evaluate(async (scroller, end) => {
      scroller.scrollTop = end === 'top' ? 0 : scroller.scrollHeight
      await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
      return end === 'top' ? scroller.scrollTop === 0 : true
    }, end)
    if (isThere && isDone()) return
  }
  assert.fail(`the reader does not stay at its ${end}`)
}
