// What is shown where something fails or is not there, and what keeps its place while the page changes.

import assert from 'node:assert/strict'
import { realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { Home } from './scratch-home.mjs'
import { idOf, Transcript } from './transcripts.mjs'
import { walks } from './page-test.mjs'

const home = await Home.open()
let read, grown
before(async () => {
  const one = new Transcript(home, 'shop', idOf(1))
  one.prompt('paint the fence green')
  one.says('# Done\n\n- [x] the fence\n- [ ] the gate')
  read = one.write()
  grown = new Transcript(home, 'shop', idOf(2))
  grown.prompt('mend the gate')
  grown.says('I begin with the hinge.')
  grown.compacts('The hinge of the gate was oiled.')
  grown.says('The gate closes again.')
  grown.write()
  await home.serve()
})
after(() => home.close())

const { page, open } = walks(home)
const NOT_LOADED = /net::ERR_FAILED/
const AWAY = /net::ERR_INTERNET_DISCONNECTED/
const UNKNOWN = /status of 404/

page('a page whose script does not come says so, and comes when it is tried again', async page => {
  await page.route(/assets\/cost-[^.]*\.js/, route => route.abort())
  await open(page, '/cost')
  await page.getByRole('alert').getByText('could not be loaded').waitFor()
  await page.getByRole('button', { name: 'Reload' }).waitFor()
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Insights', exact: true }).waitFor()
}, { causes: NOT_LOADED })

page('a column whose script does not come says so in its own place, and comes when it is tried again', async page => {
  await page.route(/assets\/side-/, route => route.abort())
  await open(page, `/s/${read}`)
  const side = page.locator('.side')
  await side.getByRole('alert').getByText('could not be loaded').waitFor()
  await page.locator('.prose', { hasText: 'the fence' }).waitFor()
  await page.getByRole('textbox', { name: 'Message' }).fill('still here')
  await page.unrouteAll()
  await side.getByRole('button', { name: 'Try again' }).click()
  await side.getByRole('tab', { name: 'Prompts' }).waitFor()
  assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'still here')
}, { causes: NOT_LOADED })

page('on a phone the column that does not come is closed again', async page => {
  await page.route(/assets\/side-/, route => route.abort())
  await open(page, `/s/${read}`)
  await page.getByRole('button', { name: 'Side column' }).click()
  const side = page.locator('.side')
  await side.getByRole('alert').waitFor()
  await side.getByRole('button', { name: 'Close' }).click()
  await side.waitFor({ state: 'detached' })
}, { causes: NOT_LOADED, viewport: { width: 390, height: 844 } })

page('a menu whose script does not come leaves a button that asks for it again', async page => {
  await page.route(/assets\/more-menu-/, route => route.abort())
  await open(page, `/s/${read}`)
  await page.getByRole('button', { name: /menu could not be loaded/ }).waitFor()
  await page.unrouteAll()
  await page.getByRole('button', { name: /menu could not be loaded/ }).click()
  await page.getByRole('button', { name: 'More', exact: true }).waitFor()
}, { causes: NOT_LOADED })

page('a palette that does not come leaves the page as it is, and comes with its styles when it is tried again', async page => {
  await page.route(/assets\/palette-/, route => route.abort())
  await open(page, `/s/${read}`)
  await page.getByRole('textbox', { name: 'Message' }).fill('still here')
  await page.keyboard.press('Control+k')
  await page.getByText('This could not be opened').waitFor()
  assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'still here')
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('combobox', { name: /^A session, a page/ }).waitFor()
  await page.waitForFunction(() => getComputedStyle(document.querySelector('.palette')).borderRadius === '13px')
}, { causes: NOT_LOADED })

page('a dialog and a bar that do not come leave the session as it is, and come when they are tried again', async page => {
  await page.route(/assets\/(dialog|find)-/, route => route.abort())
  await open(page, `/s/${read}`)
  await page.locator('.prose', { hasText: 'the fence' }).waitFor()
  await page.keyboard.press('f')
  await page.getByRole('alert').getByText('could not be loaded').waitFor()
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.locator('.reader-scroll').press('t')
  await page.getByText('This could not be opened').waitFor()
  await page.unrouteAll()
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('searchbox', { name: 'Find in the whole session' }).waitFor()
  await page.locator('.toast').getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('dialog', { name: 'Name, tags and note' }).getByRole('textbox', { name: /^Tags/ }).waitFor()
}, { causes: NOT_LOADED })

page('a world without its script says so, and is there when it is tried again', async page => {
  await page.route(/assets\/(engine|bar)-/, route => route.abort())
  await open(page, '/world')
  await page.getByRole('alert').getByText('could not be loaded').waitFor()
  await page.getByRole('button', { name: 'List' }).waitFor()
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.locator('.scene canvas').waitFor()
  await page.route(/assets\/bar-/, route => route.abort())
  await open(page, '/world?replay=latest')
  await page.getByRole('alert').getByText('The replay could not be loaded').waitFor()
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('group', { name: 'Replay' }).waitFor()
}, { causes: NOT_LOADED })

page('what was compacted is said, and what the model was left with opens', async page => {
  await open(page, `/s/${grown.id}`)
  await page.getByText('Compacted here').waitFor()
  const summary = page.getByText('The hinge of the gate was oiled.')
  assert.equal(await summary.count(), 0)
  await page.getByRole('button', { name: 'The summary that the model went on with' }).click()
  await summary.waitFor()
  await page.getByRole('button', { name: 'Hide the summary' }).click()
  await summary.waitFor({ state: 'detached' })
})

page('a session in which something was said since it was read is unread, and says from where', async page => {
  await open(page, `/s/${grown.id}`)
  await page.getByText('The gate closes again.').waitFor()
  await open(page, '/sessions?q=gate')
  await page.locator('.session-list .row:not(.unread)', { hasText: 'mend the gate' }).waitFor()
  grown.append(one => one.says('It squeaks, though.'))
  await page.locator('.session-list .row.unread', { hasText: 'mend the gate' }).waitFor()
  await page.locator('.session-list .row.unread').click()
  await page.getByText('New since you read').waitFor()
  await page.getByText('It squeaks, though.').waitFor()
  await open(page, '/sessions?q=gate')
  await page.locator('.session-list .row:not(.unread)', { hasText: 'mend the gate' }).waitFor()
})

page('a session whose transcript was deleted says so, and can be read', async page => {
  const gone = new Transcript(home, 'shop', idOf(3))
  gone.prompt('a session that will vanish')
  gone.says('It was here.')
  gone.write()
  await open(page, '/sessions?q=vanish')
  const row = page.locator('.session-list .row', { hasText: 'a session that will vanish' })
  await row.waitFor()
  home.run('archive')
  rmSync(gone.path)
  await page.waitForFunction(async id => (await (await window.ask('/api/v1/rows')).json()).rows.some(row => row.id === id && row.gone), gone.id)
  await page.reload()
  await page.locator('.session-list .row.gone', { hasText: 'a session that will vanish' }).waitFor()
  await open(page, `/s/${gone.id}`)
  await page.locator('.session-facts', { hasText: 'transcript gone' }).waitFor()
  await page.getByText('It was here.').waitFor()
})

page('values that no search has are dropped from the address', async page => {
  await open(page, '/search?q=fence&mode=meaning&role=nobody&since=30d')
  await page.locator('.hit', { hasText: 'paint the fence green' }).waitFor()
  assert.equal(new URL(page.url()).search, '?q=fence&since=30d')
  assert.equal(await page.getByRole('alert').count(), 0)
})

page('a session is named by its tab; its tasks have boxes, and its headings are below its own', async page => {
  await open(page, `/s/${read}`)
  await page.waitForFunction(() => document.title === 'paint the fence green · Backstory')
  assert.match(await page.locator('.prose').innerText(), /☑ the fence\s+☐ the gate/)
  assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1)
  await page.getByRole('heading', { level: 2, name: 'Done' }).waitFor()
})

page('an address of an unknown message shows the end, and an unknown session cannot be written to', async page => {
  await open(page, `/s/${read}#${idOf(7)}`)
  await page.getByText('is not in this session').waitFor()
  await page.locator('.prose', { hasText: 'the fence' }).waitFor()
  await open(page, `/s/${idOf(9)}`)
  await page.getByRole('heading', { name: 'There is no such session' }).waitFor()
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor()
  assert.deepEqual(await page.locator('main :is(button, input, textarea, select)').allInnerTexts(), ['Try again'], 'nothing else can be done with it')
  await page.keyboard.press('t')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('unpin')
  await page.getByText('Nothing matches').or(page.getByRole('option', { name: /Search for/ })).first().waitFor()
  assert.equal(await page.getByRole('option', { name: 'Pin or unpin' }).count(), 0, 'no command needs it')
}, { causes: UNKNOWN })

page('one can write below the line that says that the server is away', async page => {
  await open(page, `/s/${read}`)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.context().setOffline(true)
  await page.evaluate(() => document.querySelector('main').insertAdjacentHTML('afterbegin', '<p class="offline">The server does not answer</p>'))
  const { y, height } = await page.locator('.composer').boundingBox()
  assert.ok(y + height <= 800, `${y} and ${height}`)
}, { causes: AWAY })

page('a session whose worker failed before anything was written says why', async page => {
  const program = join(home.path, 'bin/claude')
  const real = realpathSync(program)
  rmSync(program)
  writeFileSync(program, `#!/bin/sh\n[ "$1" = --version ] && exec '${real}' --version\necho no more disk >&2\nexit 3\n`, { mode: 0o755 })
  await open(page, '/')
  const body = { task: 'mend the gate', fresh: true, repo: join(home.path, 'shop') }
  const started = await page.evaluate(async body => (await window.ask('/api/v1/workers', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json(), body)
  home.workers = 1
  await open(page, `/s/${started.session_id}`)
  await page.getByRole('heading', { name: 'Nothing was written' }).waitFor()
  await page.getByRole('alert').getByText('no more disk').waitFor()
  await page.getByText('mend the gate').waitFor()
}, { causes: UNKNOWN })

page('the menu of a phone begins with the pages that its bar has no room for', async page => {
  await open(page, '/')
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('option').first().waitFor()
  assert.equal(await page.getByRole('option').first().getAttribute('data-group'), 'Commands')
  await page.getByRole('option', { name: 'Schedule' }).waitFor()
}, { viewport: { width: 390, height: 844 } })

page('a browser that was signed out says so, and what to do', async page => {
  const other = await home.browse({ storageState: undefined })
  await other.goto(`${home.address}/?token=${home.run('serve', 'token', 'add', 'guest').trim()}`)
  await other.locator('.home-title').waitFor()
  await open(page, '/')
  await page.locator('.home-title').waitFor()
  home.run('serve', 'token', 'revoke', 'guest')
  await other.getByRole('link', { name: 'Insights' }).click()
  await other.getByRole('alert').getByText('This browser is not signed in any more. Run backstory serve link').waitFor()
  assert.equal(await other.getByText('was upgraded').count(), 0)
  assert.equal(await page.getByRole('alert').count(), 0, 'others go on')
  await other.context().close()
})
