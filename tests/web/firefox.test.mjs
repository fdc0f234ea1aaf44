// The dashboard in Firefox, as Debian has it: every page opens, a session is read, the world is shown.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openFirefox } from './browser.mjs'
import { PATIENCE } from './places.mjs'
import { Home } from './scratch-home.mjs'
import { idOf, Transcript } from './transcripts.mjs'
import { unhurriedPage } from './unhurried.mjs'

const home = await Home.open()
let browser, session
before(async () => {
  const one = new Transcript(home, 'shop', idOf(1), Date.now() - 60_000)
  one.prompt('paint the fence green')
  one.uses('Bash', { command: 'cargo test' }, '\u001b[32mok\u001b[0m\n')
  one.says('The fence is **green**.')
  session = one.write()
  await home.serve()
  browser = await openFirefox()
})
after(async () => {
  await browser?.close()
  await home.close()
})

test('a walk through all pages', async () => {
  const page = await browser.newPage()
  await unhurriedPage(page)
  const complaints = []
  page.on('console', message => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', error => complaints.push(error.message))
  page.setDefaultTimeout(PATIENCE)
  page.setDefaultNavigationTimeout(PATIENCE)
  const open = path => page.goto(home.address + path)
  const has = words => page.waitForFunction(words => document.querySelector('main')?.innerText.includes(words), {}, words)
  await page.goto(home.link)
  await has('paint the fence green')
  const pages = {
    '/sessions': 'paint the fence green', '/search?q=fence': 'paint the fence green', '/new': 'New session', '/projects': 'shop',
    '/cost?span=all': 'Project', '/cron': 'No jobs', '/settings': 'Appearance', '/help': 'Everywhere',
  }
  for (const [path, words] of Object.entries(pages)) {
    await open(path)
    await has(words)
  }
  await open('/sessions')
  await has('paint the fence green')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await has('The fence is green.')
  assert.match(page.url(), new RegExp(session))
  await page.click('.tool-head')
  await page.waitForSelector('.ansi-green-fg')
  await page.keyboard.press('g')
  await page.keyboard.press('w')
  await page.waitForSelector('.scene canvas, .map')
  await has('Replay')
  assert.deepEqual(complaints, [])
})
