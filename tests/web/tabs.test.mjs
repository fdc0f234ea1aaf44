// Several tabs of one browser, and one that nobody sees.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Home } from './scratch-home.mjs'
import { idOf, Transcript } from './transcripts.mjs'
import { walks } from './page-test.mjs'

const home = await Home.open()
let fence
before(async () => {
  fence = new Transcript(home, 'shop', idOf(1))
  fence.prompt('paint the fence green')
  fence.says('Done.')
  fence.write()
  await home.serve()
})
after(() => home.close())
const { page, open } = walks(home)

/** Counts how often a tab has asked for the stream of events. */
function connections(tab) {
  const counted = { count: 0 }
  tab.on('request', request => new URL(request.url()).pathname === '/api/v1/events' && counted.count++)
  return counted
}

test('tabs share one connection, and the second goes on when the first is closed', async () => {
  const first = await home.browse()
  const ofFirst = connections(first)
  await open(first, `/s/${fence.id}`)
  await first.getByText('Done.').waitFor()
  const second = await first.context().newPage()
  const ofSecond = connections(second)
  await open(second, `/s/${fence.id}`)
  await second.getByText('Done.').waitFor()
  fence.append(it => it.says('And the gate, too.'))
  for (const tab of [first, second]) await tab.getByText('And the gate, too.').waitFor()
  assert.ok(ofFirst.count > 0)
  assert.equal(ofSecond.count, 0, 'the first tab passes on what it hears')
  const asked = second.waitForRequest(request => new URL(request.url()).pathname === '/api/v1/events')
  await first.close()
  await asked
  fence.append(it => it.says('The hinge is oiled.'))
  await second.getByText('The hinge is oiled.').waitFor()
  await second.context().close()
})

page('nothing is drawn while the page is hidden, and everything once it is seen again', async page => {
  await page.addInitScript(() => {
    let isHidden = false
    Object.defineProperty(document, 'hidden', { get: () => isHidden })
    window.hide = value => {
      isHidden = value
      document.dispatchEvent(new Event('visibilitychange'))
    }
  })
  await open(page, '/world')
  await page.waitForFunction(() => window.backstoryWorld)
  const stage = count =>
    page.evaluate(count => {
      const all = Array.from({ length: count }, (_, at) => ({ id: `s${at}`, title: `Session ${at}`, project: 'shop', last: Date.now(), state: 'tool_use', subagents: [] }))
      window.backstoryWorld.stage(all)
    }, count)
  await stage(3)
  await page.waitForFunction(() => window.backstoryWorld.stats().drawn > 2)
  await page.evaluate(() => window.hide(true))
  const frames = () => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(window.backstoryWorld.stats().drawn)))))
  const before = await frames()
  await stage(5)
  assert.equal(await frames(), before, 'who comes meanwhile is not drawn')
  await page.evaluate(() => window.hide(false))
  await page.waitForFunction(before => window.backstoryWorld.stats().drawn > before + 2, before)
})
