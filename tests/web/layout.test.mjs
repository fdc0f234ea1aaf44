// What there is to see at the sizes of windows that people have: titles, background jobs, and usage windows.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { Home, seriousFindings } from './scratch-home.mjs'
import { idOf, Transcript } from './transcripts.mjs'
import { walks } from './page-test.mjs'

const home = await Home.open()
const { page, open } = walks(home)
let long, blocked

before(async () => {
  const title = 'paint the fence green, and do it so that nobody who walks by the harbor at night can ever take it for the wall of the old mill'
  const one = new Transcript(home, 'shop-of-the-harbor-master', idOf(1))
  for (let at = 0; at < 9; at++) {
    one.prompt(at ? `and the gate ${at}` : title)
    one.uses('Bash', { command: 'cargo test' }, 'ok')
    one.says('Done.')
  }
  one.uses('Edit', { file_path: '/shop/gate.rs', old_string: 'let gate = red()', new_string: 'let gate = green()' }, 'ok')
  one.says('The gate, too.')
  long = one.write()
  const job = new Transcript(home, 'shop', idOf(2), Date.now() - 86_400_000)
  job.prompt('deploy it')
  job.says('The token is missing.')
  blocked = job.write()
  const done = new Transcript(home, 'shop', idOf(3))
  done.prompt('mend it')
  done.says('Mended for good.')
  done.write()
  const bare = new Transcript(home, 'shop', idOf(4))
  bare.add('user', 'without a branch', { gitBranch: '' })
  bare.add('assistant', [{ type: 'text', text: 'Done.' }], { gitBranch: '' })
  bare.write()
  const states = [[blocked, 'a1b2c3d4', { state: 'blocked', tempo: 'blocked', needs: 'set DEPLOY_TOKEN, and do not forget the one of the other region', name: 'rollout' }], [done.id, 'e5f6a7b8', { state: 'done', tempo: 'idle', detail: 'mended', name: 'mender' }]]
  for (const [sessionId, id, state] of states) {
    mkdirSync(join(home.config, 'jobs', id), { recursive: true })
    writeFileSync(join(home.config, 'jobs', id, 'state.json'), JSON.stringify({ sessionId, ...state }))
  }
  await home.serve()
})
after(() => home.close())

/** How many characters of a text stand before it is cut. */
const readable = locator =>
  locator.evaluate(element => {
    const text = element.firstChild
    const { right, bottom } = element.getBoundingClientRect()
    const range = document.createRange()
    let count = 0
    while (count < text.length) {
      range.setStart(text, count)
      range.setEnd(text, count + 1)
      const place = range.getBoundingClientRect()
      if (place.right > right - (element.scrollWidth > element.clientWidth ? 14 : 0) || place.bottom > bottom + 2) break
      count++
    }
    return count
  })

for (const [width, most] of [[1100, 40], [1280, 60]]) {
  page(`titles keep ${most} characters beside the open column of a window of ${width} pixels, and forty in the list`, async page => {
    await open(page, `/s/${long}`)
    await page.getByRole('complementary').first().waitFor()
    const head = await readable(page.locator('.session-title h1'))
    assert.ok(head >= most, `${head} characters beside the open column`)
    await open(page, '/sessions?q=fence')
    const row = page.locator('.session-list .row-title', { hasText: 'paint the fence' })
    await row.waitFor()
    const listed = await readable(row)
    assert.ok(listed >= 40, `${listed} characters in the list`)
  }, { viewport: { width, height: 800 } })
}

page('what needs the person fits a phone', async page => {
  await open(page, '/')
  const card = page.getByRole('article', { name: 'deploy it' })
  const { x, width } = await card.boundingBox()
  assert.ok(x >= 0 && x + width <= 390, `${x} and ${width}`)
  await open(page, '/sessions?show=waiting')
  await page.locator('.session-list article', { hasText: 'deploy it' }).waitFor()
}, { viewport: { width: 390, height: 844 } })

page('on a phone a title that has nothing but its age behind it is one line with that', async page => {
  await open(page, '/')
  const row = page.locator('.repository .row', { hasText: 'without a branch' })
  await row.waitFor()
  const [title, age] = await Promise.all(['.row-title', '.age'].map(name => row.locator(name).boundingBox()))
  assert.ok(age.y < title.y + title.height, JSON.stringify([title, age]))
}, { viewport: { width: 390, height: 844 } })

page('titles have two lines on a phone', async page => {
  await open(page, `/s/${long}`)
  const title = page.locator('.session-title h1', { hasText: 'paint the fence' })
  await title.waitFor()
  assert.ok((await readable(title)) >= 60)
  await open(page, '/search?q=fence')
  const hit = page.locator('.hit-title', { hasText: 'paint the fence' })
  await hit.waitFor()
  assert.ok((await readable(hit)) >= 60)
}, { viewport: { width: 390, height: 844 } })

page('a change without a patch is compared by lines and by words', async page => {
  await open(page, `/s/${long}`)
  await page.getByRole('button', { name: /gate\.rs/ }).getByText('+1').waitFor()
  assert.deepEqual(await page.locator('.diff-line mark').allInnerTexts(), ['red', 'green'])
})

page('a background job that is blocked needs the person, who copies the command that opens it', async page => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await open(page, '/')
  const card = page.getByRole('article', { name: 'deploy it' })
  await card.getByText('Job blocked: set DEPLOY_TOKEN, and').waitFor()
  await card.getByText('“rollout”').waitFor()
  const copied = words => page.waitForFunction(async words => (await navigator.clipboard.readText()) === words, words)
  await card.getByRole('button', { name: 'Copy claude attach a1b2c3d4' }).click()
  await copied('claude attach a1b2c3d4')
  await page.locator('.repository .row', { hasText: 'mender · mend it' }).getByText('job done').waitFor()
  assert.deepEqual(await seriousFindings(page), [])
  await open(page, '/sessions?group=none')
  const row = page.locator('.session-list article', { hasText: 'rollout · deploy it' })
  await row.getByText('set DEPLOY_TOKEN, and').waitFor()
  await row.getByRole('img', { name: 'needs you' }).waitFor()
  while (!(await row.locator('.row.current').count())) await page.keyboard.press('j')
  await page.evaluate(() => navigator.clipboard.writeText(''))
  await page.keyboard.press('a')
  await page.getByText('Copied the command').waitFor()
  await copied('claude attach a1b2c3d4')
  await open(page, `/s/${blocked}`)
  await page.locator('.session-facts').getByText('Job blocked: set DEPLOY_TOKEN, and').waitFor()
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Copy the command that attaches to it' }).waitFor()
}, { bypassCSP: true })

page('a background job is in the world, and is recognised', async page => {
  await open(page, '/world')
  await page.getByRole('link', { name: /^rollout · deploy it Background job. Job blocked: set DEPLOY_TOKEN, and/ }).waitFor()
  await page.keyboard.press('1')
  const agent = page.locator('.flat-agent', { hasText: 'rollout · deploy it' })
  await agent.getByText('Job blocked: set DEPLOY_TOKEN, and').waitFor()
  await agent.getByText('job', { exact: true }).waitFor()
  await page.keyboard.press('3')
  await page.waitForFunction(() => window.backstoryWorld?.scene().agents.some(agent => agent.isJob))
  await page.keyboard.press('v')
  const card = page.locator('.agent-card', { hasText: 'rollout · deploy it' })
  await card.getByRole('button', { name: 'Copy claude attach a1b2c3d4' }).waitFor()
  await page.locator('.label.job').first().waitFor()
}, { reducedMotion: 'reduce' })

page('the usage window that runs says what is left of it', async page => {
  await open(page, '/cost')
  const section = page.getByRole('region', { name: '5-hour blocks' })
  await section.getByText(/^\dh \d+m left$/).waitFor()
  await section.getByText(/tokens used in 3 sessions/).waitFor()
  await section.getByRole('row').nth(2).waitFor()
  const opener = section.getByRole('button', { name: / to / }).first()
  await opener.click()
  await section.getByRole('link', { name: /^paint the fence/ }).waitFor()
  assert.equal(await section.getByRole('listitem').count(), 3, 'each session of the window is there')
  assert.equal(await opener.getAttribute('aria-expanded'), 'true')
  assert.deepEqual(await seriousFindings(page), [])
}, { bypassCSP: true })
