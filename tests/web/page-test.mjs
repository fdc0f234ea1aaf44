// Tests that each run on a page of their own, in which nothing may go wrong.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PATIENCE } from './places.mjs'

/** What makes such tests in a home, and what goes to an address there; a test that breaks something names the complaints that it
 *  `causes`. */
export function walks(home) {
  const page = (name, use, { causes, ...options } = {}) =>
    test(name, async () => {
      const page = await home.browse(options)
      try {
        await use(page)
        assert.deepEqual(page.complaints.filter(one => !causes?.test(one)), [])
      } finally {
        await page.context().close()
      }
    })
  return { page, open: (page, path) => page.goto(home.address + path) }
}

/** Waits until a part of a page has the focus, which may come a moment after what is on the screen. */
export async function focusOn(locator) {
  await locator.waitFor()
  await locator.page().waitForFunction(element => element === document.activeElement, await locator.elementHandle())
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

/** Scrolls to an end and stays there until something has happened: the page may still be on its way to the record that its
 *  address names. */
export async function stayAt(reader, end, isDone) {
  const hangs = Date.now() + PATIENCE
  while (Date.now() < hangs) {
    const isThere = await reader.evaluate(async (scroller, end) => {
      scroller.scrollTop = end === 'top' ? 0 : scroller.scrollHeight
      await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
      return end === 'top' ? scroller.scrollTop === 0 : true
    }, end)
    if (isThere && isDone()) return
  }
  assert.fail(`the reader does not stay at its ${end}`)
}
