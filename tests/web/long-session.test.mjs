// How the parts of a long session come: at both ends, and while it is being written.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { Home } from './scratch-home.mjs'
import { Transcript, idOf } from './transcripts.mjs'
import { hold, stayAt, walks } from './page-test.mjs'

const LONG = 400
const LAST = `answer ${LONG - 1}`
/** What is asked for older and for newer messages. */
const BEFORE = /blocks.*[?&]before=/
const AFTER = /blocks.*[?&]after=/

const home = await Home.open()
let long, grown
before(async () => {
  long = questions('harbor', 2).write()
  grown = questions('mill', 3)
  grown.write()
  await home.serve()
})
after(() => home.close())

function questions(project, number) {
  const made = new Transcript(home, project, idOf(number))
  for (let at = 0; at < LONG; at++) {
    made.prompt(`question ${at}`)
    made.says(`answer ${at}`)
  }
  return made
}

const { page, open } = walks(home)

page('both ends of what is loaded go on, though one was reached while the other was on its way', async page => {
  const release = await hold(page, AFTER)
  await open(page, `/s/${long}#${idOf(LONG, 3)}`)
  const reader = page.locator('.reader-scroll')
  await reader.locator('.found').waitFor()
  await stayAt(reader, 'end', () => release.request)
  await stayAt(reader, 'top', () => true)
  const older = page.waitForRequest(BEFORE)
  release()
  await older
})

page('a feed whose beginning is not loaded says so, and is busy while more comes', async page => {
  // Before the page asks for anything: it may look ahead as soon as its end is there.
  const release = await hold(page, BEFORE)
  await open(page, `/s/${long}`)
  const feed = page.getByRole('feed')
  await feed.getByText(LAST, { exact: true }).waitFor()
  assert.equal(await feed.locator('article').first().getAttribute('aria-setsize'), '-1')
  await stayAt(page.locator('.reader-scroll'), 'top', () => release.request)
  await page.locator('[role=feed][aria-busy=true]').waitFor()
  const before = await feed.locator('article').count()
  release()
  await page.locator('[role=feed][aria-busy=false]').waitFor()
  await page.waitForFunction(before => Number([...document.querySelectorAll('[role=feed] article')].at(-1)?.getAttribute('aria-posinset')) > before, before)
})

page('what is written while older messages are on their way is shown after them', async page => {
  const release = await hold(page, BEFORE)
  await open(page, `/s/${grown.id}`)
  await stayAt(page.locator('.reader-scroll'), 'top', () => release.request)
  const other = await page.context().newPage()
  await open(other, `/s/${grown.id}`)
  await other.getByText(LAST, { exact: true }).waitFor()
  grown.append(one => one.says('The mill stands still.'))
  await other.getByText('The mill stands still.').waitFor()
  release()
  await page.getByText('The mill stands still.').waitFor()
})
