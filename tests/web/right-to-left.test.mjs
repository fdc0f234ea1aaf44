// Texts that are written from right to left, and names that are longer than their places.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { Home } from './scratch-home.mjs'
import { idOf, Transcript } from './transcripts.mjs'
import { walks } from './page-test.mjs'

const home = await Home.open()
const TASK = 'أصلح خطأ تسجيل الدخول في صفحة auth.ts من فضلك'
let arabic

before(async () => {
  const one = new Transcript(home, 'متجر', idOf(1))
  one.prompt(TASK)
  one.says('تم إصلاح الخطأ في `auth.ts`.\n\n- أولاً: تحقق\n\nAll tests pass.\n\n```ts\nconst a = 1\n```')
  arabic = one.write()
  await home.serve()
})
after(() => home.close())

const { page, open } = walks(home)

/** Where the first and the last letter of a part are: how far the one is to the right of the other. */
const toTheRight = part =>
  part.evaluate(element => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    const texts = []
    while (walker.nextNode()) texts.push(walker.currentNode)
    const place = (text, at) => {
      const range = document.createRange()
      range.setStart(text, at)
      range.setEnd(text, at + 1)
      return range.getBoundingClientRect().left
    }
    return place(texts[0], 0) - place(texts.at(-1), texts.at(-1).length - 1)
  })

page('each text goes in the direction of its own script, and code to the right', async page => {
  await open(page, `/s/${arabic}`)
  const prose = page.locator('.prose').first()
  await prose.waitFor()
  assert.ok((await toTheRight(prose.locator('p').first())) > 0, 'the full stop is at the left')
  assert.ok((await toTheRight(prose.getByText('All tests pass.'))) < 0)
  assert.ok((await toTheRight(prose.locator('pre'))) < 0)
  assert.equal(await prose.locator('ul').evaluate(list => getComputedStyle(list).direction), 'rtl', 'its signs are at the right')
  for (const part of ['.prompt-text', '.session-title h1']) assert.ok((await toTheRight(page.locator(part).first())) > 0, part)
  for (const path of ['/', '/sessions']) {
    await open(page, path)
    const title = page.locator('.row-title', { hasText: TASK })
    await title.waitFor()
    assert.ok((await toTheRight(title)) > 0, path)
  }
  await open(page, `/search?q=${encodeURIComponent('الدخول')}`)
  await page.locator('.hit').first().waitFor()
  assert.equal(await page.getByRole('searchbox').evaluate(field => getComputedStyle(field).direction), 'rtl')
})
