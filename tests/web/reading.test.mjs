// What a fresh pair of eyes stumbled over: words typed before their field is there, what a screen reader hears of a
// conversation, names that are cut or shared, what is gone, and what was said later.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Home, seriousFindings } from './house.mjs'
import { idOf, Transcript } from './transcripts.mjs'

const home = await Home.open()
const DEEP = 'crates/engines/painting/src/colours/of/the/harbor/at/night/lantern.rs'
const LONG = 400
let read, long

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
  mkdirSync(join(home.path, '.config/backstory'), { recursive: true })
  writeFileSync(join(home.path, '.config/backstory/config.toml'), '[prices.claude-opus-4-5]\ninput = 1\noutput = 2\n')
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

/** Holds back what matches until the returned function is called. */
async function hold(page, pattern) {
  let release
  const held = new Promise(done => (release = done))
  await page.route(pattern, async route => {
    await held
    await route.continue()
  })
  return release
}

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
  assert.equal(await feed.getAttribute('aria-busy'), 'false')
  await page.keyboard.press('Shift+K')
  assert.match(await page.evaluate(() => document.activeElement.innerText), /still painted amber/)
  await page.keyboard.press('j')
  assert.match(await page.evaluate(() => document.activeElement.innerText), /painted green now/)
  assert.deepEqual(await seriousFindings(page), [])
}, { bypassCSP: true })

page('a feed whose beginning is not loaded says so, and is busy while more comes', async page => {
  // Before the page asks for anything: it may look ahead as soon as its end is there.
  const release = await hold(page, '**/blocks?*before=*')
  await open(page, `/s/${long}`)
  const feed = page.getByRole('feed')
  await feed.getByText(`answer ${LONG - 1}`, { exact: true }).waitFor()
  assert.equal(await feed.locator('article').first().getAttribute('aria-setsize'), '-1')
  // At each frame, as a hand on the wheel: the page may still be on its way to the end.
  await page.waitForFunction(() => {
    document.querySelector('.reader-scroll').scrollTop = 0
    return document.querySelector('[role=feed][aria-busy=true]') !== null
  })
  const before = await feed.locator('article').count()
  release()
  await page.locator('[role=feed][aria-busy=false]').waitFor()
  const last = feed.locator('article').last()
  assert.ok(Number(await last.getAttribute('aria-posinset')) > before)
})

page('the name of a file is in view, however deep it is', async page => {
  await page.setViewportSize({ width: 420, height: 800 })
  await open(page, `/s/${read}`)
  const head = page.locator('.tool-head', { hasText: 'Read' })
  const name = head.locator('.path-name')
  assert.equal(await name.innerText(), 'lantern.rs')
  assert.match(await head.innerText(), /crates\/engines/, 'it is named from the directory of the session')
  assert.ok(!(await head.innerText()).includes(home.path))
  const [inner, outer] = await Promise.all([name.boundingBox(), head.boundingBox()])
  assert.ok(inner.x + inner.width <= outer.x + outer.width, 'the folder is cut, not the name')
})

test('a sub-agent whose transcript is gone, and an error of Claude Code, are said in words', async () => {
  const page = await home.browse()
  await open(page, `/s/${read}`)
  await page.getByRole('button', { name: /Find the ladder/ }).click()
  await page.getByRole('button', { name: 'Show what the sub-agent did' }).click()
  await page.getByText('Its transcript is gone').waitFor()
  await page.getByText('It is in the shed.').waitFor()
  assert.equal(await page.locator('.toast').count(), 0)
  // The request for it is the one that fails.
  assert.deepEqual(page.complaints.filter(one => !one.includes('status of 404')), [])
  await page.context().close()
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

page('on a phone the message field is one row until somebody writes', async page => {
  await page.setViewportSize({ width: 390, height: 844 })
  await open(page, `/s/${read}`)
  const composer = page.locator('.composer')
  await composer.waitFor()
  assert.ok((await composer.boundingBox()).height < 60)
  await page.getByRole('textbox', { name: 'Message' }).click()
  await page.getByRole('combobox', { name: 'Model' }).waitFor()
})
