// The world in a browser: what it shows, what it costs, and what becomes of it without a graphics card.

import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { focusOn } from './page-test.mjs'
import { Home, seriousFindings } from './scratch-home.mjs'

const home = await Home.open()
before(() => home.serve())
afterEach(() => home.closePages())
after(() => home.close())

/** Sessions of five states; none of them leaves for having done nothing, however long a test takes. */
const actors = count =>
  Array.from({ length: count }, (_, at) => ({
    id: `s${at}`, title: `Session ${at}`, project: `project-${at % 20}`, last: Date.now() + 3_600_000,
    state: ['tool_use', 'thinking', 'responding', 'waiting_input', 'idle'][at % 5], detail: `step ${at}`, subagents: [],
  }))

/** The world with these sessions in it. In these browsers there is no graphics card: three dimensions are what the person chose. */
async function world(path, all, { view = '3d', ...options } = {}) {
  const page = await home.browse({ viewport: { width: 900, height: 600 }, ...options })
  if (view && options.reducedMotion !== 'reduce') await page.addInitScript(view => localStorage.setItem('backstory.world.view', JSON.stringify(view)), view)
  await page.goto(home.address + path)
  await page.waitForFunction(() => window.backstoryWorld)
  if (all) await page.evaluate(all => window.backstoryWorld.stage(all), all)
  return page
}

test('two hundred sessions take few draw calls', async () => {
  const page = await world('/world', actors(200))
  await page.waitForFunction(() => window.backstoryWorld.scene().agents.length === 200)
  const { drawn } = await page.evaluate(() => window.backstoryWorld.stats())
  await page.waitForFunction(drawn => window.backstoryWorld.stats().drawn > drawn, drawn)
  const { calls } = await page.evaluate(() => window.backstoryWorld.stats())
  assert.ok(calls > 0 && calls <= 16, `${calls} draw calls`)
  assert.deepEqual(page.complaints, [])
})

test('one who waits is flown to, and opened', async () => {
  const all = actors(10)
  all[3] = { ...all[3], state: 'waiting_permission', detail: 'rm -rf build' }
  const page = await world('/world', all)
  await page.waitForFunction(() => window.backstoryWorld.scene().agents.length === 10)
  await page.keyboard.press('v')
  await page.locator('.agent-card', { hasText: 'Session 3' }).waitFor()
  await page.locator('.label.needs', { hasText: 'rm -rf build' }).waitFor()
  await page.keyboard.press('o')
  await page.waitForURL(/\/s\/s3/)
})

test('a lost graphics card comes back, or gives way to the map', async () => {
  const page = await world('/world', actors(5))
  await page.waitForFunction(() => window.backstoryWorld.stats().calls > 0)
  await page.evaluate(() => {
    window.heard = []
    for (const name of ['webglcontextlost', 'webglcontextrestored']) document.querySelector('.scene canvas').addEventListener(name, () => window.heard.push(name))
  })
  const hears = (...names) => page.waitForFunction(names => window.heard.join() === names, names.join())
  await page.clock.install()
  // Later than it can have become meanwhile.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 600_000))
  await page.evaluate(() => window.backstoryWorld.loseContext(300))
  await hears('webglcontextlost')
  await page.clock.fastForward(300)
  await hears('webglcontextlost', 'webglcontextrestored')
  // Longer than a card is waited for that does not come back.
  await page.clock.fastForward(10_000)
  assert.equal(await page.locator('.scene canvas').count(), 1, 'a short loss is not the end')
  assert.equal(await page.getByText('The graphics card was lost').count(), 0)
  await page.evaluate(() => window.backstoryWorld.loseContext(0))
  await hears('webglcontextlost', 'webglcontextrestored', 'webglcontextlost')
  await page.clock.fastForward(10_000)
  await page.clock.resume()
  await page.locator('.map-agent').nth(4).waitFor()
  assert.equal(await page.locator('.map-agent').count(), 5)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.waitForFunction(() => window.backstoryWorld.stats().calls > 0)
})

test('who wants less motion has the map, and the list by a key', async () => {
  const page = await world('/world', actors(5), { reducedMotion: 'reduce' })
  await page.locator('.map-agent').first().waitFor()
  await page.keyboard.press('1')
  await page.locator('.flat-agent', { hasText: 'Session 2' }).waitFor()
  await page.keyboard.press('2')
  await page.getByRole('link', { name: /Session 2/ }).click()
  await page.waitForURL(/\/s\/s2/)
})

/** Sessions of one room. */
const together = count => actors(count).map(one => ({ ...one, project: 'shop', path: '/shop' }))

test('the map shows rooms with everybody at a desk of their own, who waits in red, and is walked by keys', async () => {
  const all = together(20)
  all[7] = { ...all[7], state: 'waiting_permission', detail: 'rm -rf build', subagents: [{ id: 't', name: 'Look' }] }
  const page = await world('/world', all, { reducedMotion: 'reduce', bypassCSP: true })
  await page.locator('.map-agent').nth(14).waitFor()
  assert.equal(await page.getByRole('link', { name: '5 more' }).getAttribute('href'), '/sessions?project=%2Fshop')
  const robots = () => page.locator('.map-robot').evaluateAll(all => all.map(one => one.getBoundingClientRect()).map(({ left, right, top, bottom }) => ({ left, right, top, bottom })))
  const isOver = (one, other) => one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top
  const places = await robots()
  assert.equal(places.filter((one, at) => places.some((other, place) => place > at && isOver(one, other))).length, 0, 'nobody stands in another')
  await page.keyboard.press('v')
  const waits = page.getByRole('link', { name: /^Session 7 Needs permission: rm -rf build · 1 sub-agent/ })
  await focusOn(waits)
  const requested = waits.locator('.map-request', { hasText: 'rm -rf build' })
  assert.equal(await requested.evaluate(bubble => getComputedStyle(bubble).backgroundColor), 'rgb(198, 48, 28)')
  assert.deepEqual(await seriousFindings(page), [])
  await page.keyboard.press(']')
  await page.waitForFunction(link => link !== document.activeElement, await waits.elementHandle())
  // Whatever they do, they keep their desks.
  const desk = name => page.locator('.map-agents > li', { hasText: name }).evaluate(one => [one.style.left, one.style.top])
  const before = await desk('Session 7')
  await page.evaluate(all => window.backstoryWorld.stage(all), all.map(one => ({ ...one, subagents: [], state: one.id === 's7' ? 'thinking' : 'idle' })))
  await page.locator('.map-agent.working', { hasText: 'Session 7' }).waitFor()
  assert.deepEqual(await desk('Session 7'), before)
  // Where it leads to there is nothing, and maybe that is said already.
  assert.deepEqual(page.complaints, [])
  await page.getByRole('link', { name: /^Session 7 / }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/s\/s7/)
})

/** The world of who wants less motion, in three dimensions: nothing moves that nobody moved. */
async function still(all, options, count = all.length) {
  const page = await world('/world', all, { reducedMotion: 'reduce', ...options })
  await page.locator('.map-agent').first().waitFor()
  await page.getByRole('button', { name: '3D' }).click()
  await page.waitForFunction(count => window.backstoryWorld.scene().agents.length === count && window.backstoryWorld.stats().calls > 0, count)
  return page
}
const frame = page => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
const sight = async page => (await frame(page), page.evaluate(() => Object.fromEntries(Object.entries(window.backstoryWorld.cameraView()).map(([name, value]) => [name, Number(value.toFixed(6))]))))
/** How far the names of the rooms are outside of what is seen. */
const outside = async page => (await frame(page), page.evaluate(() => {
  const { left, right, top, bottom } = document.querySelector('.scene').getBoundingClientRect()
  const all = [...document.querySelectorAll('.label.room')].map(label => label.getBoundingClientRect())
  return { count: all.length, most: Math.max(...all.map(at => Math.max(left - (at.left + at.right) / 2, (at.left + at.right) / 2 - right, top - at.bottom, at.bottom - bottom))) }
}))
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

test('on a phone all rooms are seen, and are arranged anew when it is turned', async () => {
  const page = await still(actors(8), PHONE)
  const upright = await outside(page)
  assert.equal(upright.count, 8)
  assert.ok(upright.most <= 0, `${upright.most} pixels outside`)
  const [canvas, ...tools] = await Promise.all(['.scene canvas', '.world-tools', '.world-status'].map(part => page.locator(part).boundingBox()))
  assert.ok(canvas.width >= 389 && canvas.height >= 700, JSON.stringify(canvas))
  for (const { x, width } of tools) assert.ok(x >= 0 && x + width <= 390, `${x} and ${width}`)
  await page.setViewportSize({ width: 844, height: 390 })
  await page.waitForFunction(() => innerWidth > innerHeight)
  const turned = await outside(page)
  assert.equal(turned.count, 8)
  assert.ok(turned.most <= 0, `${turned.most} pixels outside`)
  assert.deepEqual(page.complaints, [])
})

test('on a phone nothing lies over the map and the list, and what an agent at the side says is on the screen', async () => {
  const page = await world('/world', together(15).map((one, at) => (at ? one : { ...one, state: 'waiting_permission' })), { ...PHONE, reducedMotion: 'reduce' })
  const isBelow = async part => {
    const [tools, first] = await Promise.all([page.locator('.world-tools'), page.locator(part).first()].map(one => one.boundingBox()))
    assert.ok(first.y >= tools.y + tools.height, `${part}: ${first.y}`)
  }
  await page.locator('.map-agent').nth(14).waitFor()
  await isBelow('.map-room')
  for (const agent of await page.locator('.map-agent').all()) {
    await agent.focus()
    const { x, width } = await agent.locator('.map-bubble').boundingBox()
    assert.ok(x >= 0 && x + width <= 390, `${x} and ${width}`)
  }
  await page.keyboard.press('1')
  await isBelow('.flat-room')
})

/** The labels that are shown, with where they are. */
const labelsOf = async page => (await frame(page), page.locator('.label').evaluateAll(all => all.map(one => [one.className, one.textContent, one.getBoundingClientRect()]).map(([kind, text, { left, right, top, bottom }]) => ({ kind, text, left, right, top, bottom }))))
const isOver = (one, other) => one.left < other.right - 0.5 && one.right > other.left + 0.5 && one.top < other.bottom - 0.5 && one.bottom > other.top + 0.5

test('on a phone names of rooms and what is said are beside each other, one line each', async () => {
  const name = at => `a project with a name that goes on and on ${at}`
  const all = actors(5).map((one, at) => ({ ...one, project: name(at), path: `/${at}`, state: 'waiting_permission', detail: 'cargo test --workspace '.repeat(9) }))
  const page = await still(all, PHONE)
  await page.locator('.label.bubble').first().waitFor()
  const labels = await labelsOf(page)
  assert.equal(labels.filter(one => one.kind.includes('room')).length, 5)
  for (const [at, one] of labels.entries()) {
    assert.ok(one.left >= 0 && one.right <= 390 && one.bottom - one.top < 30, JSON.stringify(one))
    assert.ok(one.kind.includes('room') ? /^a projec/.test(one.text) : /^cargo te.*…/.test(one.text), one.text)
    assert.ok(!labels.some((other, place) => place > at && isOver(one, other)), JSON.stringify(one))
  }
})

test('two fingers bring the rooms nearer, and one moves them', async () => {
  const page = await still(actors(8), PHONE)
  const session = await page.context().newCDPSession(page)
  const touch = (type, ...points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) })
  const before = await sight(page)
  await touch('touchStart', [180, 400], [210, 400])
  for (let by = 10; by <= 100; by += 10) await touch('touchMove', [180 - by, 400], [210 + by, 400])
  await touch('touchEnd')
  const near = await sight(page)
  assert.ok(near.distance < before.distance * 0.8, `${near.distance} after ${before.distance}`)
  await touch('touchStart', [200, 400])
  for (let by = 10; by <= 100; by += 10) await touch('touchMove', [200 - by, 400])
  await touch('touchEnd')
  const moved = await sight(page)
  assert.ok(moved.x > near.x + 0.2, `${moved.x} after ${near.x}`)
  assert.ok(Math.abs(moved.distance - near.distance) < 0.5)
  assert.equal(await page.locator('.agent-card').count(), 0, 'nobody was meant')
})

test('the camera follows who comes until somebody has moved it', async () => {
  const page = await still(actors(2))
  const stage = all => page.evaluate(all => window.backstoryWorld.stage(all), all)
  const rooms = count => page.waitForFunction(count => window.backstoryWorld.scene().rooms.length === count, count)
  const two = await sight(page)
  await stage(actors(5))
  await rooms(5)
  const five = await sight(page)
  assert.ok(five.distance > two.distance, 'a room more is shown')
  await page.mouse.move(450, 400)
  await page.mouse.down()
  await page.mouse.move(350, 350, { steps: 5 })
  await page.mouse.up()
  const dragged = await sight(page)
  assert.ok(Math.hypot(dragged.x - five.x, dragged.z - five.z) > 1)
  await stage(actors(9))
  await rooms(9)
  assert.deepEqual(await sight(page), dragged, 'it stays where it was put')
  await page.keyboard.press('0')
  assert.ok((await sight(page)).distance > five.distance)
})

test('who comes while another leaves is looked at', async () => {
  const [one, other] = actors(2)
  const page = await still([one])
  await page.evaluate(all => window.backstoryWorld.stage(all), [other])
  await page.waitForFunction(() => window.backstoryWorld.scene().rooms[0].name === 'project-1')
  const { count, most } = await outside(page)
  assert.deepEqual([count, most <= 0], [1, true])
})

test('a click on an agent shows its card, a double click and Enter open its session, and the card goes with it', async () => {
  const page = await still(actors(1))
  const head = () => page.evaluate(() => {
    const { left, top } = document.querySelector('.scene').getBoundingClientRect()
    const { x, y } = window.backstoryWorld.places()[0].head
    return [left + x, top + y]
  })
  const at = await head()
  const card = page.locator('.agent-card')
  await page.mouse.click(...at)
  await card.waitFor()
  assert.equal(new URL(page.url()).pathname, '/world')
  await page.evaluate(() => window.backstoryWorld.stage([]))
  await card.waitFor({ state: 'detached' })
  await page.evaluate(all => window.backstoryWorld.stage(all), actors(1))
  await page.waitForFunction(() => window.backstoryWorld.scene().agents.length === 1)
  assert.equal(await card.count(), 0, 'who comes back is not chosen')
  await page.keyboard.press(']')
  await card.waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/s\/s0/)
  await page.goBack()
  await page.waitForFunction(() => window.backstoryWorld)
  await page.evaluate(all => window.backstoryWorld.stage(all), actors(1))
  await page.waitForFunction(() => window.backstoryWorld.places().length === 1)
  await frame(page)
  await page.mouse.dblclick(...(await head()))
  await page.waitForURL(/\/s\/s0/)
})

test('a session of a worker is in its room with its name from the first moment, and what it asks is said', async () => {
  for (const folder of ['harbor', 'port']) mkdirSync(join(home.path, folder))
  const page = await world('/world')
  await page.evaluate(() => {
    window.seen = new Set()
    const look = () => {
      const { agents, rooms } = window.backstoryWorld.scene()
      for (const agent of agents) if (!agent.parent) window.seen.add(`${agent.name} in ${rooms.find(room => room.key === agent.room)?.name}`)
      requestAnimationFrame(look)
    }
    look()
  })
  const start = (task, folder) => {
    home.workers = (home.workers ?? 0) + 1
    return page.evaluate(body => window.ask('/api/v1/workers', { method: 'POST', headers: { 'content-type': 'application/json' }, body }), JSON.stringify({ task, fresh: true, repo: join(home.path, folder) }))
  }
  await start('make a file in the harbor', 'harbor')
  await page.locator('.label.room', { hasText: 'harbor' }).waitFor()
  await page.locator('.label.needs', { hasText: /^touch made/ }).waitFor()
  await start('send a scout from the port', 'port')
  await page.waitForFunction(() => window.backstoryWorld.scene().agents.some(agent => agent.parent && agent.name === 'Scout the harbor'))
  // It supervises.
  await page.waitForFunction(() => window.backstoryWorld.scene().agents.find(agent => agent.name.startsWith('send a scout'))?.kind === 'directing')
  assert.deepEqual([...(await page.evaluate(() => [...window.seen]))].sort(), ['make a file in the harbor in harbor', 'send a scout from the port in port'])
  await page.locator('.label.room', { hasText: 'port' }).waitFor()
  await page.waitForFunction(() => {
    const { left, right, top, bottom } = document.querySelector('.scene').getBoundingClientRect()
    const all = [...document.querySelectorAll('.label.room')].map(label => label.getBoundingClientRect())
    return all.length === 2 && all.every(at => at.left >= left && at.right <= right && at.top >= top && at.bottom <= bottom)
  })
  assert.deepEqual(page.complaints, [])
})

test('without WebGL there is the map', async () => {
  const page = await home.browse()
  await page.addInitScript(() => {
    const { getContext } = HTMLCanvasElement.prototype
    HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
      return kind.startsWith('webgl') ? null : getContext.call(this, kind, ...more)
    }
  })
  await page.goto(home.address + '/world')
  await page.waitForFunction(() => window.backstoryWorld)
  await page.evaluate(all => window.backstoryWorld.stage(all), actors(3))
  await page.locator('.map-agent').nth(2).waitFor()
  assert.ok(await page.getByRole('button', { name: '3D' }).isDisabled())
  assert.deepEqual(page.complaints, [])
})

