// Every page as a person uses it, in Chromium, with the real server and the real Claude Code behind it.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Home, seriousFindings } from './house.mjs'
import { idOf, Transcript } from './transcripts.mjs'

const EDIT = { filePath: '/shop/fence.rs', structuredPatch: [{ oldStart: 7, oldLines: 2, newStart: 7, newLines: 2, lines: [' fn paint() {', '-    red()', '+    green()'] }] }
const LONG = 20_000
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const home = await Home.open()
let painted, long

before(async () => {
  const one = new Transcript(home, 'shop', idOf(1))
  one.prompt('paint the fence green, and do it so that nobody who walks by the harbor at night can ever take it for the wall')
  one.says('I will look **first**. <img src=x onerror=alert(1)> [a link](https://example.com)')
  one.uses('Edit', { file_path: '/shop/fence.rs', old_string: 'red()', new_string: 'green()' }, 'ok', { toolUseResult: EDIT })
  one.uses('Bash', { command: 'cargo test', description: 'Run the tests' }, '\u001b[32mok\u001b[0m\n' + 'line\n'.repeat(60))
  one.add('user', [{ type: 'text', text: 'like this' }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } }])
  one.says('The fence is green.')
  painted = one.write()
  const many = new Transcript(home, 'harbor', idOf(2), Date.now() - 90_000_000)
  for (let at = 0; at < LONG / 2; at++) {
    many.prompt(`question ${at}`)
    many.says(`answer ${at}${at === 77 ? ' with the needle' : ''}`)
  }
  long = many.write()
  await home.serve()
})
after(() => home.close())

/** Runs on a page of its own; nothing may go wrong in it. */
function page(name, use, options) {
  test(name, async () => {
    const page = await home.browse(options)
    await use(page)
    assert.deepEqual(page.complaints, [])
    await page.context().close()
  })
}
const open = (page, path) => page.goto(home.address + path)

page('home says what was done', async page => {
  await open(page, '/')
  await page.getByRole('heading', { name: 'Nothing needs you' }).waitFor()
  await page.getByRole('link', { name: /paint the fence green/ }).click()
  await page.getByText('The fence is green.').waitFor()
  assert.match(page.url(), new RegExp(`/s/${painted}`))
})

page('sessions are filtered, and the filter is in the address', async page => {
  await open(page, '/sessions')
  await page.getByRole('searchbox').fill('fence')
  await page.waitForURL(/q=fence/)
  await page.waitForFunction(() => document.querySelectorAll('.session-list article').length === 1)
  await page.reload()
  assert.equal(await page.getByRole('searchbox').inputValue(), 'fence')
  await page.keyboard.press('Escape')
  await page.keyboard.press('j')
  await page.keyboard.press('p')
  await page.getByRole('button', { name: /Pinned/ }).waitFor()
})

page('pins, tags, names and notes are those of the command line', async page => {
  const other = await home.browse()
  await open(other, `/s/${painted}`)
  await other.locator('.session-title h1').waitFor()
  await open(page, '/sessions?q=fence&group=none')
  const row = page.locator('.session-list article')
  await row.waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('t')
  const dialog = page.getByRole('dialog', { name: 'Name, tags and note' })
  await dialog.getByRole('textbox', { name: /^Tags/ }).fill('garden #later')
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('The green fence')
  await dialog.getByRole('textbox', { name: 'Note' }).fill('ask Ada about the colour')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await row.getByText('The green fence').waitFor()
  await row.getByText('garden').waitFor()
  assert.match(home.run('tag', painted), /#garden #later/)
  assert.match(home.run('note', painted), /ask Ada/)
  // The other page has heard of it, and so of what the command line does.
  await other.locator('.session-title h1', { hasText: 'The green fence' }).waitFor()
  await other.locator('.session-note', { hasText: 'ask Ada' }).waitFor()
  home.run('tag', painted, 'urgent', '--remove', 'later')
  home.run('pin', painted)
  for (const one of [row, other.locator('.session-head')]) await one.getByText('urgent').waitFor()
  await other.getByRole('button', { name: 'Unpin' }).click()
  await other.getByRole('button', { name: 'Pin', exact: true }).waitFor()
  const isUnpinned = async () => !home.run('list', '--pinned').includes('The green fence')
  for (let tries = 0; !(await isUnpinned()); tries++) assert.ok(tries < 50)
  home.run('name', painted, '--clear')
  await other.locator('.session-title h1', { hasText: /^paint the fence/ }).waitFor()
  home.run('note', painted, '--clear')
  home.run('tag', painted, '--remove', 'urgent', '--remove', 'garden')
  await other.locator('.session-note').waitFor({ state: 'detached' })
  assert.deepEqual(other.complaints, [])
  await other.context().close()
})

page('a session is hidden, and that is undone', async page => {
  await open(page, '/sessions?group=none')
  const rows = page.locator('.session-list article')
  const fence = rows.filter({ hasText: 'paint the fence' })
  await fence.waitFor()
  while (!(await fence.locator('.row.current').count())) await page.keyboard.press('j')
  await page.keyboard.press('x')
  await fence.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await fence.waitFor()
  home.run('hide', painted)
  await fence.waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: 'Which sessions' }).selectOption('hidden')
  await fence.waitFor()
  assert.equal(await rows.count(), 1)
  await page.keyboard.press('Escape')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.getByText('No session is hidden').waitFor()
  await page.getByRole('combobox', { name: 'Which sessions' }).selectOption('all')
  await fence.waitFor()
  assert.doesNotMatch(home.run('list', '--hidden'), /paint the fence/)
})

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

page('a long session opens at its end, and keeps its place to its beginning', async page => {
  await open(page, `/s/${long}`)
  await page.getByText(`answer ${LONG / 2 - 1}`, { exact: true }).waitFor()
  const dropped = await page.evaluate(async () => {
    const scroller = document.querySelector('.reader-scroll')
    const first = () => [...scroller.querySelectorAll('[data-key]')].find(item => item.getBoundingClientRect().bottom > scroller.getBoundingClientRect().top)
    // What is between two frames is never seen.
    const shown = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
    let dropped = 0
    for (let count = 0; count < 40; count++) {
      scroller.scrollTop = Math.max(0, scroller.scrollTop - 900)
      await shown()
      const anchor = first()
      const top = anchor.getBoundingClientRect().top
      await new Promise(done => setTimeout(done, 60))
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

page('on a phone the age of a session is on the line of what else is said of it', async page => {
  await page.setViewportSize({ width: 390, height: 844 })
  await open(page, '/sessions')
  const row = page.locator('.session-list .row').first()
  await row.waitFor()
  const [project, age] = await Promise.all(['.row-project', '.age'].map(name => row.locator(name).boundingBox()))
  assert.ok(Math.abs(project.y - age.y) < 6 && age.x > project.x, JSON.stringify([project, age]))
  // What one page hides on a phone another one shows.
  await page.keyboard.press('g')
  await page.keyboard.press('c')
  await page.locator('.wide').getByRole('link', { name: /paint the fence/ }).waitFor()
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

page('search finds what was said as one types', async page => {
  await open(page, '/search')
  await page.getByRole('searchbox').pressSequentially('fence green')
  await page.locator('.hit', { hasText: 'fence' }).first().waitFor()
  assert.match(await page.locator('.hit').first().getAttribute('title'), /Score \d/)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/s\//)
})

page('a question for a branch is answered by its sessions, and can be searched for as words', async page => {
  await open(page, '/search?q=' + encodeURIComponent('sessions on the main branch'))
  await page.getByRole('heading', { name: 'Sessions on the branch main' }).waitFor()
  await page.locator('.hinted').getByRole('link', { name: /paint the fence/ }).waitFor()
  await page.getByRole('button', { name: 'Search for these words instead' }).click()
  await page.waitForURL(/%22/)
  await page.getByText('Nothing found').waitFor()
})

page('the palette goes everywhere', async page => {
  await open(page, '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('fence')
  await page.getByRole('option', { name: /paint the fence/ }).first().waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(new RegExp(painted))
})

page('a task is started, asks for permission, and is answered', async page => {
  await open(page, `/new?repo=${encodeURIComponent(home.path + '/shop')}`)
  await page.getByRole('textbox', { name: 'What should be done' }).fill('make a file for me, please')
  await page.getByText('Who should have it').waitFor()
  await page.getByText('A fresh session').first().waitFor()
  home.workers = 3
  await page.getByRole('button', { name: /Start a fresh session|Continue that session/ }).click()
  await page.waitForURL(/\/s\//)
  await page.locator('.ask', { hasText: 'touch made' }).waitFor()
  const other = await home.browse()
  await open(other, '/')
  await other.getByRole('heading', { name: '1 session needs you' }).waitFor()
  assert.match(await other.title(), /^\(1\)/)
  // Where no events come through, it is asked for.
  const cut = await home.browse()
  await cut.route('**/api/v1/events', route => route.abort())
  await open(cut, '/')
  await cut.getByRole('heading', { name: '1 session needs you' }).waitFor()
  await cut.getByText('Events do not arrive').waitFor()
  await cut.locator('.need').getByRole('button', { name: 'Allow', exact: true }).waitFor()
  await cut.context().close()
  await other.locator('.need').getByRole('button', { name: 'Allow', exact: true }).click()
  await other.getByRole('heading', { name: 'Nothing needs you' }).waitFor()
  await page.locator('.item:not(.draft)', { hasText: 'It is made.' }).waitFor()
  assert.deepEqual(other.complaints, [])
  await other.context().close()
  await page.getByRole('textbox', { name: 'Message' }).fill('ask me')
  await page.keyboard.press('Enter')
  await page.getByText('Which colour?').first().waitFor()
  await page.getByRole('radio', { name: /Blue/ }).check()
  await page.getByRole('button', { name: 'Answer', exact: true }).click()
  await page.locator('.item:not(.draft)', { hasText: 'Blue it is.' }).waitFor()
  // A session that has just been started is not written yet.
  page.complaints = page.complaints.filter(one => !one.includes('status of 404'))
})

page('a job is added and removed', async page => {
  page.on('dialog', dialog => dialog.accept())
  await open(page, '/cron')
  await page.getByRole('button', { name: 'New job' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('nightly')
  await page.getByRole('textbox', { name: 'Task' }).fill('run the tests')
  await page.getByRole('combobox', { name: 'Directory' }).fill(`${home.path}/shop`)
  await page.getByRole('button', { name: 'Add the job' }).click()
  await page.getByText('daily at 04:00').waitFor()
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No jobs').waitFor()
})

page('cost: a sum opens its sessions', async page => {
  await open(page, '/cost?span=all')
  await page.getByRole('heading', { name: 'Project' }).waitFor()
  await page.getByRole('button', { name: 'shop', exact: true }).click()
  await page.waitForURL(/project=shop/)
  await page.locator('.wide').getByRole('link', { name: /paint the fence/ }).waitFor()
})

const PAGES = ['/', '/sessions', '/search?q=fence', '/new', '/world', '/projects', '/cost?span=all', '/cron', '/settings', '/help']
const address = path => (path === '/s' ? `/s/${painted}` : path)

for (const colorScheme of ['light', 'dark']) {
  page(`axe finds nothing serious (${colorScheme})`, async page => {
    for (const path of [...PAGES, '/s']) {
      await open(page, address(path))
      await page.locator('main :is(h1, h2)').first().waitFor({ state: 'attached' })
      await page.waitForTimeout(700)
      assert.deepEqual(await seriousFindings(page), [], path)
    }
  }, { colorScheme, bypassCSP: true, reducedMotion: 'reduce' })
}

page('nothing is wider than a phone, or than a page at 200 %', async page => {
  for (const size of [{ width: 375, height: 740 }, { width: 640, height: 400 }]) {
    await page.setViewportSize(size)
    for (const path of [...PAGES, '/s']) {
      await open(page, address(path))
      await page.locator('main :is(h1, h2)').first().waitFor({ state: 'attached' })
      await page.waitForTimeout(300)
      const wide = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth])
      assert.ok(Math.max(...wide) <= 1, `${path} at ${size.width}: ${wide}`)
    }
  }
})

page('a person with a keyboard alone reads a session', async page => {
  await open(page, '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the page')
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main')
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await page.waitForURL(/\/sessions/)
  await page.locator('.session-list article').first().waitFor()
  await page.keyboard.press('f')
  await page.keyboard.type('fence')
  await page.waitForURL(/q=fence/)
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => !location.search.includes('q='))
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/s\//)
  await page.locator('.item').first().waitFor()
  await page.keyboard.press('i')
  await page.locator('.side').waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await page.waitForURL(/\/help/)
})

page('the first screen asks for little', async page => {
  await open(page, '/help')
  await page.goto('about:blank')
  const asked = []
  page.on('request', request => asked.push(new URL(request.url()).pathname))
  await open(page, '/')
  await page.locator('.home-title').waitFor()
  const files = asked.filter(path => path.startsWith('/assets/'))
  assert.ok(files.length <= 4, files.join(' '))
  assert.ok(asked.length - files.length <= 8, asked.join(' '))
})
