// What a fresh pair of eyes stumbled over: words typed before their field is there, what a screen reader hears of a
// conversation, names that are cut or shared, what is gone, and what was said later.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { Home, seriousFindings } from './scratch-home.mjs'
import { idOf, Transcript } from './transcripts.mjs'
import { hold, walks } from './page-test.mjs'

const home = await Home.open()
const DEEP = 'crates/engines/painting/src/colours/of/the/harbor/at/night/lantern.rs'
const LONG = 400
let read, long, split, cited, twice
const searches = []

before(async () => {
  const one = new Transcript(home, 'shop', idOf(1))
  one.prompt('where is the lantern painted?')
  one.uses('Read', { file_path: join(one.cwd, DEEP) }, '1→fn lantern() {}')
  one.uses('Task', { description: 'Find the ladder', prompt: 'Look in the shed', subagent_type: 'Explore' }, 'It is in the shed.', { toolUseResult: { agentId: 'a1b2c3', status: 'completed' } })
  one.uses('Bash', { command: 'paint' }, [{ type: 'text', text: '<tool_use_error>No paint is left</tool_use_error>' }])
  one.says('The lantern is painted amber, because amber is seen through fog.')
  for (let at = 0; at < 6; at++) {
    one.prompt(`what about the door ${at}?`)
    one.says('It stays as it is.')
  }
  one.prompt('the lantern again: is it still painted amber, and seen through fog?')
  one.says('The lantern is painted green now, because amber was not seen through fog: the amber lantern is painted over.')
  read = one.write()
  const many = new Transcript(home, 'harbor', idOf(2))
  for (let at = 0; at < LONG; at++) {
    many.prompt(`question ${at}`)
    many.says(`answer ${at}`)
  }
  long = many.write()
  for (const [at, folder] of ['north/mill', 'south/mill'].entries()) {
    const mill = new Transcript(home, folder, idOf(3 + at))
    mill.prompt(`grind in the ${folder.split('/')[0]}`)
    mill.says('Ground.')
    mill.write()
  }
  const sled = new Transcript(home, 'sled', idOf(5))
  sled.prompt('paint the sled amber')
  sled.says('We decided: the sled is painted amber.')
  for (let at = 0; at < 6; at++) {
    sled.prompt(`what about the rope ${at}?`)
    sled.says('It stays as it is.')
  }
  sled.prompt('the sled again')
  sled.says('We decided again: the sled is painted green, not amber.')
  sled.write()
  const asked = new Transcript(home, 'well', idOf(6))
  asked.prompt('dig a well')
  const call = { type: 'tool_use', id: 'toolu_ask', name: 'AskUserQuestion', input: { questions: [{ question: 'How deep?', header: 'Depth', multiSelect: false, options: [] }] } }
  asked.add('assistant', [call])
  asked.at += 240_000
  asked.add('user', [{ type: 'tool_result', tool_use_id: call.id, content: 'Ten metres' }])
  asked.says('Dug.')
  asked.write()
  const cellars = new Transcript(home, 'cellars', idOf(10))
  cellars.prompt('where is the barrel?')
  for (let at = 0; at < 5; at++) {
    const call = { type: 'tool_use', id: `toolu_${at}`, name: 'Task', input: { description: `Search cellar ${at}`, prompt: 'Look', subagent_type: 'Explore' } }
    searches.push({ id: call.id, call: cellars.add('assistant', [call]) })
  }
  for (const [at, search] of searches.slice(0, 4).entries()) {
    search.result = cellars.add('user', [{ type: 'tool_result', tool_use_id: search.id, content: `Nothing in cellar ${at}`, is_error: at === 0 }])
  }
  cellars.write()
  const branches = new Transcript(home, 'gate', idOf(7))
  branches.prompt('paint the gate')
  const question = branches.says('Which colour?')
  branches.prompt('red')
  branches.says('It is red.')
  branches.prompt('is the red dry?')
  branches.says('It is dry.')
  branches.parent = question
  branches.prompt('green')
  const green = branches.says('It is green.')
  branches.says('And the hinges are red.')
  branches.parent = green
  branches.says('And the hinges are green.')
  split = branches.write()
  const days = new Transcript(home, 'gate', idOf(9), Date.now() - 30 * 3_600_000)
  days.prompt('plan the gate')
  days.uses('ExitPlanMode', { plan: '# The gate\n\nFirst the posts.' }, 'ok')
  days.at = Date.now() - 1000
  days.prompt('and paint it')
  days.says('Painted.')
  twice = days.write()
  const shed = new Transcript(home, 'shed', idOf(8))
  shed.prompt('where are the oars?')
  const thought = shed.add('assistant', [{ type: 'thinking', thinking: 'They were lent.\nThe ferryman has the oars, and a paddle.' }])
  const output = shed.uses('Bash', { command: 'ls shed' }, 'a barrel\na windlass')
  shed.says('Across the river, with the ferryman.')
  cited = { session: shed.write(), thought, output }
  mkdirSync(join(home.path, '.config/backstory'), { recursive: true })
  writeFileSync(join(home.path, '.config/backstory/config.toml'), '[prices.claude-opus-4-5]\ninput = 1\noutput = 2\n')
  await home.serve()
})
after(() => home.close())

const { page, open } = walks(home)

page('what is typed before a field is there goes into it, and is no command', async page => {
  await open(page, '/sessions')
  await page.locator('.session-list article').first().waitFor()
  await page.keyboard.press('j')
  let release = await hold(page, '**/assets/search-*.js')
  await page.keyboard.press('/')
  await page.keyboard.type('pexx')
  await page.keyboard.press('Backspace')
  release()
  await page.waitForURL(/q=pex$/)
  assert.equal(await page.getByRole('searchbox').inputValue(), 'pex')
  assert.doesNotMatch(home.run('list', '--hidden'), /lantern|question|grind/)
  release = await hold(page, '**/assets/start-*.js')
  await page.getByRole('searchbox').press('Escape')
  await page.keyboard.press('n')
  await page.keyboard.type('grind next')
  release()
  await page.waitForFunction(() => document.querySelector('textarea')?.value === 'grind next')
  await open(page, `/s/${read}`)
  await page.locator('.item').first().waitFor()
  release = await hold(page, '**/assets/find-*.js')
  await page.keyboard.press('f')
  await page.keyboard.type('certainly')
  release()
  await page.waitForFunction(() => document.querySelector('.find input')?.value === 'certainly')
  assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), '')
})

page('a conversation is a feed, and the keys that go through it take the focus along', async page => {
  await open(page, `/s/${read}`)
  const feed = page.getByRole('feed', { name: 'Conversation' })
  await feed.getByText('amber was not seen').waitFor()
  const places = () => feed.evaluate(feed => [...feed.children].map(child => [child.tagName, child.getAttribute('aria-posinset'), child.getAttribute('aria-setsize')]))
  const all = await places()
  assert.deepEqual(all, all.map((_, at) => ['ARTICLE', String(at + 1), String(all.length)]))
  await page.locator('[role=feed][aria-busy=false]').waitFor()
  await page.keyboard.press('Shift+K')
  assert.match(await page.evaluate(() => document.activeElement.innerText), /still painted amber/)
  await page.keyboard.press('j')
  assert.match(await page.evaluate(() => document.activeElement.innerText), /painted green now/)
  assert.deepEqual(await seriousFindings(page), [])
}, { bypassCSP: true })

page('the name of a file is in view, however deep it is', async page => {
  await page.setViewportSize({ width: 420, height: 800 })
  await open(page, `/s/${read}`)
  const head = page.locator('.tool-head', { hasText: 'Read' })
  const name = head.locator('.path-name')
  assert.equal(await name.innerText(), 'lantern.rs')
  assert.match(await head.innerText(), /crates\/engines/)
  // It is named from the directory of the session, once that is known.
  await page.waitForFunction(path => !document.querySelector('.tool-head').innerText.includes(path), home.path)
  // The folder is cut, not the name; what is above may still be on its way.
  await page.waitForFunction(() => {
    const name = document.querySelector('.tool-head .path-name').getBoundingClientRect()
    return name.right <= document.querySelector('.tool-head').getBoundingClientRect().right
  })
})

page('a sub-agent whose transcript is gone, and an error of Claude Code, are said in words', async page => {
  await open(page, `/s/${read}`)
  await page.getByRole('button', { name: /Find the ladder/ }).click()
  await page.getByRole('button', { name: 'Show what the sub-agent did' }).click()
  await page.getByText('Its transcript is gone').waitFor()
  await page.getByText('It is in the shed.').waitFor()
  assert.equal(await page.locator('.toast').count(), 0)
}, { causes: /status of 404/ })

page('sub-agents that were started together are one line, which opens to one for each', async page => {
  await open(page, `/s/${idOf(10)}`)
  const group = page.locator('.agents')
  const head = group.getByRole('button', { name: /^5 sub-agents/ })
  await head.waitFor()
  assert.match(await head.innerText(), /Search cellar 0, Search cellar 1.*\n4 done\n1 failed/s)
  assert.equal(await page.locator('.tool').count(), 0)
  await head.click()
  assert.equal(await group.locator('.tool').count(), 5)
  await group.getByRole('button', { name: /Search cellar 2/ }).click()
  await group.getByText('Nothing in cellar 2').waitFor()
  await head.click()
  assert.equal(await group.locator('.tool').count(), 0)
  // What an address names is open, by its call and by its result, and so is what was closed before.
  for (const [uuid, text] of [searches[3].result, searches[1].call].map((uuid, at) => [uuid, ['Nothing in cellar 3', 'Nothing in cellar 1'][at]])) {
    await page.evaluate(hash => (location.hash = hash), uuid)
    await group.getByText(text).waitFor()
    await head.click()
    assert.equal(await group.locator('.tool').count(), 0)
  }
})

page('a branch that was left is opened, and left again', async page => {
  await open(page, `/s/${split}`)
  const feed = page.getByRole('feed')
  await feed.getByText('And the hinges are green.').waitFor()
  assert.equal(await feed.getByText('It is red.').count(), 0)
  const prompts = page.locator('.outline li')
  await prompts.nth(3).waitFor()
  assert.deepEqual(await prompts.evaluateAll(all => all.map(one => one.classList.contains('left'))), [false, true, true, false])
  // Once at the prompt that was asked otherwise, once at the answer that was given otherwise.
  const lefts = page.getByRole('button', { name: /^Another branch was left here/ })
  await lefts.nth(1).waitFor()
  assert.equal(await lefts.count(), 2)
  await lefts.first().click()
  await feed.getByText('It is dry.').waitFor()
  assert.equal(await feed.getByText('It is green.').count(), 0)
  await page.getByRole('button', { name: /^This branch was left for another one/ }).click()
  await feed.getByText('It is green.').waitFor()
  await feed.getByText('It is dry.').waitFor({ state: 'detached' })
  await lefts.last().click()
  await feed.getByText('And the hinges are red.').waitFor()
  await page.goBack()
  await feed.getByText('And the hinges are green.').waitFor()
})

page('the menu of a session is walked by keys and closes when one goes elsewhere', async page => {
  await open(page, `/s/${read}`)
  const opener = page.locator('.session-head').getByRole('button', { name: 'More' })
  await opener.focus()
  await page.keyboard.press('Enter')
  const focused = () => page.evaluate(() => document.activeElement.textContent)
  await page.waitForFunction(() => document.activeElement.textContent === 'Name, tags and note…')
  await page.keyboard.press('ArrowDown')
  assert.equal(await focused(), 'Hide from lists')
  await page.keyboard.press('End')
  assert.equal(await focused(), 'Play it in the world')
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'detached' })
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'More')
  assert.match(page.url(), /\/s\//, 'the key closed the menu alone')
  await opener.click()
  await page.getByRole('menu').waitFor()
  await page.locator('.item-text').first().click()
  await page.getByRole('menu').waitFor({ state: 'detached' })
})

page('who comes back to the list goes on where they were', async page => {
  await open(page, '/sessions?q=grind&group=none')
  await page.waitForFunction(() => document.querySelectorAll('.session-list article').length === 2)
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  const title = await page.locator('.row.current .row-title').innerText()
  await page.keyboard.press('Enter')
  await page.locator('.item').first().waitFor()
  await page.keyboard.press('Escape')
  await page.waitForURL(/q=grind&group=none/)
  assert.equal(await page.locator('.row.current .row-title').innerText(), title)
})

page('repositories that share a name are told apart', async page => {
  await open(page, '/cost?span=all')
  for (const name of ['north/mill', 'south/mill']) await page.getByRole('button', { name, exact: true }).waitFor()
  await page.getByRole('button', { name: 'north/mill', exact: true }).click()
  await page.locator('.wide').getByRole('link', { name: 'grind in the north' }).waitFor()
  assert.equal(await page.locator('.wide').getByRole('link').count(), 1)
  await open(page, '/projects')
  await page.getByRole('link', { name: 'south/mill' }).click()
  await page.getByRole('link', { name: 'Cost' }).last().click()
  await page.locator('.wide').getByRole('link', { name: 'grind in the south' }).waitFor()
  assert.equal(await page.locator('.wide').getByRole('link').count(), 1)
  await open(page, '/sessions?group=project')
  await page.getByRole('button', { name: /^north\/mill/ }).waitFor()
  await open(page, '/search?q=grind')
  await page.getByRole('combobox', { name: 'Project' }).selectOption({ label: 'north/mill' })
  await page.waitForFunction(() => document.querySelectorAll('.hit').length === 1)
  await page.locator('.hit', { hasText: 'north/mill' }).waitFor()
})

page('a hit names the place in the session that is as good and was said later', async page => {
  await open(page, '/search?q=' + encodeURIComponent('sled painted amber'))
  const later = page.locator('.hit .later', { hasText: 'decided again' })
  await later.waitFor()
  const said = await home.get(page, '/api/v1/search?query=' + encodeURIComponent('sled painted amber'))
  const hit = said.hits.find(hit => hit.later?.snippet.includes('decided again'))
  assert.match(await later.innerText(), /Later in this session/)
  await later.click()
  await page.waitForURL(url => url.hash === `#${hit.later.uuid}`)
  await page.locator('.found').waitFor()
})

/** The words that are marked. */
const matches = page => page.evaluate(() => [...(CSS.highlights.get('match') ?? [])].map(String))

page('a thought and what a tool printed are open where they are cited, with the words that led there', async page => {
  await open(page, '/search?q=' + encodeURIComponent('paddle lent'))
  await page.locator('.hit a', { hasText: 'paddle' }).first().click()
  await page.waitForURL(url => url.hash === `#${cited.thought}`)
  await page.locator('.found .thinking-text', { hasText: 'The ferryman has the oars' }).waitFor()
  await page.waitForFunction(() => [...CSS.highlights.get('match')].map(String).join() === 'lent,paddle')
  // It is shown although thoughts are not shown otherwise.
  await page.getByRole('button', { name: 'Talk' }).click()
  await page.locator('.found .thinking-text').waitFor()
  assert.equal(await page.locator('.item-tool').count(), 0)
  await page.goto(`${home.address}/s/${cited.session}#${cited.output}`)
  await page.locator('.found .output', { hasText: 'a windlass' }).waitFor()
  assert.deepEqual(await matches(page), [])
  await page.getByRole('button', { name: 'All', exact: true }).click()
  await page.locator('.reader-scroll').press('f')
  await page.getByRole('searchbox', { name: 'Find in the whole session' }).fill('FERRYMAN')
  await page.getByText('2 of 2').waitFor()
  await page.waitForFunction(() => CSS.highlights.get('match').size === 1)
  // The other match is in the thought, which opens.
  await page.keyboard.press('Enter')
  await page.locator('.found .thinking-text').waitFor()
  await page.waitForFunction(() => CSS.highlights.get('match').size === 2)
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => CSS.highlights.get('match').size === 0)
})

page('a price of the person’s own is marked', async page => {
  await open(page, '/cost?span=all')
  const line = page.locator('tr', { hasText: 'claude-opus-4-5' })
  await line.getByText('your price').waitFor()
  await page.getByText('and 1 price of your own').waitFor()
})

page('a day that is being read is not an empty office', async page => {
  const release = await hold(page, '**/api/v1/replay?*')
  await open(page, '/world?replay=latest')
  await page.getByText('The day is being read').waitFor()
  assert.equal(await page.getByText('Nobody is here').count(), 0)
  release()
  await page.getByRole('slider').waitFor()
})

page('a replay stops where somebody waited, and covers nothing of a phone that one needs', async page => {
  await page.setViewportSize({ width: 390, height: 844 })
  await open(page, '/world?replay=latest')
  await page.getByRole('button', { name: 'Next wait' }).click()
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
  const bar = await page.locator('.replay').boundingBox()
  assert.ok(bar.height < 110, 'its buttons are one row')
  await page.waitForFunction(() => window.backstoryWorld.scene().agents.some(agent => agent.state === 'waiting_input'))
  await page.keyboard.press(']')
  const link = await page.locator('.agent-card').getByRole('link', { name: /^Open/ }).boundingBox()
  assert.ok(link.y + link.height <= bar.y, 'the card is above the bar')
})

page('prompts of several days are under the names of their days, and tools have names that one would say', async page => {
  await open(page, `/s/${twice}`)
  const column = page.getByRole('complementary')
  const headings = column.getByRole('heading')
  await headings.nth(1).waitFor()
  assert.equal(await headings.count(), 2)
  assert.equal(await headings.nth(1).innerText(), 'Today')
  const call = page.getByRole('button', { name: /^Plan / })
  await call.waitFor()
  assert.match(await call.innerText(), /The gate/)
  assert.doesNotMatch(await call.innerText(), /#/)
  await column.getByRole('tab', { name: 'Timing' }).click()
  const [bar, panel] = await Promise.all([column.getByRole('meter').first(), column.getByRole('tabpanel')].map(part => part.boundingBox()))
  assert.ok(bar.width > panel.width / 3, `${bar.width} of ${panel.width}`)
  // Where all is of one day there is no heading.
  await open(page, `/s/${read}`)
  await column.getByRole('button', { name: /what about the door 0/ }).waitFor()
  assert.equal(await column.getByRole('heading').count(), 0)
})

page('who has gone back in a session comes to its end with one button', async page => {
  await open(page, `/s/${long}`)
  await page.getByText(`answer ${LONG - 1}`, { exact: true }).waitFor()
  const end = page.getByRole('button', { name: 'To the end' })
  assert.equal(await end.count(), 0)
  await page.locator('.reader-scroll').evaluate(scroller => (scroller.scrollTop -= 2.5 * scroller.clientHeight))
  await end.click()
  await end.waitFor({ state: 'detached' })
  await page.getByText(`answer ${LONG - 1}`, { exact: true }).waitFor()
  // A link leads to the middle of it, and from there it is as far.
  await open(page, `/s/${long}#${idOf(9, 3)}`)
  await page.locator('.found').waitFor()
  await end.click()
  await page.getByText(`answer ${LONG - 1}`, { exact: true }).waitFor()
  await end.waitFor({ state: 'detached' })
})

page('on a phone the message field is one row until somebody writes', async page => {
  await page.setViewportSize({ width: 390, height: 844 })
  await open(page, `/s/${read}`)
  const composer = page.locator('.composer')
  await composer.waitFor()
  assert.ok((await composer.boundingBox()).height < 60)
  await page.getByRole('textbox', { name: 'Message' }).click()
  await page.getByRole('combobox', { name: 'Model' }).waitFor()
})
