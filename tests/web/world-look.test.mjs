// How the world looks: nothing covers what one has to see, bubbles stay with whom they belong to, all is as large as it can be, states
// are told by their shapes, and the pictures are those that were looked at.

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { liveOffice, office, showLive } from './office.mjs'
import { ROOT } from './places.mjs'
import { Home } from './scratch-home.mjs'

const home = await Home.open()
before(() => home.serve())
afterEach(() => home.closePages())
after(() => home.close())

const DESK = { viewport: { width: 1280, height: 800 } }
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
/** `UPDATE_STILLS=1` keeps the pictures as they are now; a person looks at them then. */
const UPDATES = Boolean(process.env.UPDATE_STILLS)

/** The world in three dimensions with these sessions; nothing moves in it. */
async function still(all, { isFull = false, ...options } = {}) {
  const page = await home.browse({ reducedMotion: 'reduce', ...DESK, ...options })
  await page.addInitScript(isFull => {
    localStorage.setItem('backstory.world.view', '"3d"')
    if (isFull) localStorage.setItem('backstory.world.detail', '"full"')
  }, isFull)
  await page.goto(home.address + '/world')
  await page.waitForFunction(() => window.backstoryWorld)
  await page.evaluate(all => window.backstoryWorld.stage(all), all)
  await page.waitForFunction(count => window.backstoryWorld.scene().agents.filter(agent => !agent.parent).length >= Math.min(count, 5) && window.backstoryWorld.stats().calls > 0, all.length)
  await settled(page)
  return page
}

/** Waits until the labels are where they stay. */
async function settled(page) {
  await page.waitForFunction(() => {
    const now = [...document.querySelectorAll('.label')].map(one => one.style.transform + one.textContent).join() + window.backstoryWorld.cameraView().scale
    const isSame = window.before === now
    window.before = now
    return isSame
  }, undefined, { polling: 350 })
}

/** What covers what. */
function covered() {
  const { left, top } = document.querySelector('.scene').getBoundingClientRect()
  const labels = [...document.querySelectorAll('.label')].map(one => ({ key: one.dataset.of, name: one.querySelector('b').textContent, isRoom: one.classList.contains('room'), at: one.getBoundingClientRect() }))
  const isOver = (one, other) => one.left < other.right - 0.5 && one.right > other.left + 0.5 && one.top < other.bottom - 0.5 && one.bottom > other.top + 0.5
  const holds = (at, x, y) => x > at.left && x < at.right && y > at.top && y < at.bottom
  const found = { labels: 0, pins: 0, heads: 0, short: [] }
  labels.forEach((one, number) => labels.forEach((other, place) => (found.labels += place > number && isOver(one.at, other.at) ? 1 : 0)))
  for (const { key, kind, head, pin } of window.backstoryWorld.places()) {
    for (const label of labels) {
      if (label.key === key) continue
      if (pin && holds(label.at, left + pin.x, top + pin.y - pin.size * 0.5)) found.pins++
      if (kind !== 'sub' && holds(label.at, left + head.x, top + head.y)) found.heads++
    }
  }
  const names = new Map(window.backstoryWorld.scene().rooms.map(room => [`room ${room.key}`, room.name]))
  for (const { key, name, isRoom } of labels) if (isRoom && name !== names.get(key) && name.replace('…', '').length < 7) found.short.push(name)
  return { ...found, rooms: labels.filter(one => one.isRoom).length }
}

for (const [where, options] of [['a desk', DESK], ['a phone', PHONE]]) {
  test(`no label covers another, a pin or a head, on the screen of ${where}`, async () => {
    for (const count of [5, 24, 100, 200]) {
      for (const colorScheme of ['light', 'dark']) {
        const page = await still(office(count), { ...options, colorScheme })
        const found = await page.evaluate(covered)
        const rooms = await page.evaluate(() => window.backstoryWorld.scene().rooms.length)
        assert.deepEqual([found.labels, found.pins, found.short, found.rooms], [0, 0, [], rooms], `${count}, ${colorScheme}: ${JSON.stringify(found)}`)
        // A hundred on a phone are so small that a name may be over some who need nothing: their heads are ten pixels high.
        assert.ok(found.heads <= (where === 'a phone' && count >= 100 ? 10 : 0), `${count}, ${colorScheme}: ${found.heads} heads`)
        assert.deepEqual(page.complaints, [])
        await page.context().close()
      }
    }
  })
}

test('rooms are as large as they can be', async () => {
  const scale = async (count, options) => {
    const page = await still(office(count, options))
    const { scale } = await page.evaluate(() => window.backstoryWorld.cameraView())
    await page.context().close()
    return scale
  }
  assert.ok((await scale(5)) >= 70)
  assert.ok((await scale(24)) >= 38)
  assert.ok((await scale(100, { needs: 2 })) >= 22)
  assert.ok((await scale(100)) >= 19, 'beside the list')
})

test('two hundred take sixteen draw calls and two hundred thousand triangles at most', async () => {
  const page = await still(office(200, { hasSubs: false }), { isFull: true, colorScheme: 'dark' })
  const { calls, triangles } = await page.evaluate(() => window.backstoryWorld.stats())
  assert.ok(calls <= 16 && triangles <= 200_000, `${calls} calls, ${triangles} triangles`)
})

test('a bubble stays at its pin while the world is moved and brought nearer', async () => {
  const page = await still(office(24))
  await page.evaluate(() => {
    window.farthest = 0
    const tailOf = (label, at) => {
      const side = ['above-right', 'above-left', 'above', 'right', 'left'].find(name => label.classList.contains(name))
      if (side === 'right') return [at.left, at.top + 12]
      if (side === 'left') return [at.right, at.top + 12]
      return [side === 'above' ? (at.left + at.right) / 2 : side === 'above-right' ? at.left + 22 : at.right - 22, at.bottom]
    }
    const look = () => {
      // All of what a frame does, so that labels and places are of the same moment.
      window.backstoryWorld.measure(1)
      const { left, top } = document.querySelector('.scene').getBoundingClientRect()
      const places = new Map(window.backstoryWorld.places().map(one => [one.key, one]))
      for (const label of document.querySelectorAll('.label.bubble')) {
        const place = places.get(label.dataset.of)
        if (!place?.pin) continue
        const [x, y] = tailOf(label, label.getBoundingClientRect())
        const half = place.pin.size * 0.4
        const [px, py] = [left + place.pin.x, top + place.pin.y]
        const away = Math.hypot(Math.max(0, Math.abs(x - px) - half), Math.max(0, py - place.pin.size * 0.92 - y, y - py))
        window.farthest = Math.max(window.farthest, away)
      }
      requestAnimationFrame(look)
    }
    look()
  })
  await page.mouse.move(700, 500)
  await page.mouse.down()
  await page.mouse.move(560, 430, { steps: 12 })
  await page.mouse.up()
  for (let count = 0; count < 6; count++) await page.mouse.wheel(0, count < 4 ? -60 : 60)
  await settled(page)
  const farthest = await page.evaluate(() => window.farthest)
  assert.ok(farthest > 0 && farthest <= 8, `${farthest} pixels`)
})

test('a frame without changes makes no element and reads no layout', async () => {
  const page = await still(office(100), { reducedMotion: 'no-preference', isFull: true })
  const done = await page.evaluate(async () => {
    // Whoever comes is at the desk, and what was said has gone.
    window.backstoryWorld.measure(900)
    const seen = { added: 0, read: 0 }
    const watch = new MutationObserver(records => (seen.added += records.reduce((sum, one) => sum + one.addedNodes.length, 0)))
    watch.observe(document.querySelector('.labels'), { childList: true, subtree: true })
    const { getBoundingClientRect } = Element.prototype
    Element.prototype.getBoundingClientRect = function () {
      seen.read++
      return getBoundingClientRect.call(this)
    }
    for (const name of ['offsetWidth', 'offsetHeight']) {
      const own = Object.getOwnPropertyDescriptor(HTMLElement.prototype, name)
      Object.defineProperty(HTMLElement.prototype, name, { get() { return seen.read++, own.get.call(this) } })
    }
    window.backstoryWorld.measure(300)
    await new Promise(done => setTimeout(done))
    watch.disconnect()
    Element.prototype.getBoundingClientRect = getBoundingClientRect
    return seen
  })
  assert.deepEqual(done, { added: 0, read: 0 })
})

test('who wants less motion has no frame without a change', async () => {
  const page = await still(office(24))
  const drawn = () => page.evaluate(() => window.backstoryWorld.stats().drawn)
  await page.waitForFunction(() => {
    const now = window.backstoryWorld.stats().drawn
    const isSame = window.drawnBefore === now
    window.drawnBefore = now
    return isSame
  }, undefined, { polling: 600 })
  const before = await drawn()
  await page.evaluate(() => new Promise(done => {
    let left = 90
    const next = () => (left-- ? requestAnimationFrame(next) : done())
    next()
  }))
  assert.equal(await drawn(), before)
})

test('without a graphics card there is less of it, or the map', async () => {
  const page = await home.browse(DESK)
  await page.goto(home.address + '/world')
  await page.waitForFunction(() => window.backstoryWorld)
  await page.evaluate(all => window.backstoryWorld.stage(all), office(24))
  await page.waitForFunction(() => {
    const canvas = document.querySelector('.scene canvas')
    return document.querySelector('.map-agent') || (canvas && window.backstoryWorld.stats().drawn > 6 && canvas.width * 2 === canvas.clientWidth)
  })
  if (await page.locator('.map-agent').count()) {
    await page.getByRole('button', { name: 'Try anyway' }).click()
    await page.locator('.scene canvas').waitFor()
  }
  assert.deepEqual(page.complaints, [])
})

test('each state is told by its shape, without any colour', async () => {
  const all = office(24).map((one, at) => (at === 12 ? { ...one, state: 'tool_use', tool: 'Agent', subagents: [{ id: 't', name: 'Look' }] } : at === 13 ? { ...one, state: 'idle', subagents: [] } : at === 14 ? { ...one, state: 'thinking', subagents: [] } : one))
  const page = await still(all)
  await page.keyboard.press('1')
  await page.locator('.flat-agent').first().waitFor()
  const shapes = await page.evaluate(() => Object.fromEntries(['needs', 'failed', 'turn', 'working', 'directing', 'idle'].map(kind => [kind, document.querySelector(`.flat-agent.${kind} .sign svg`).innerHTML.replace(/ class="[^"]*"/g, '')])))
  assert.equal(new Set(Object.values(shapes)).size, 6, JSON.stringify(shapes))
  // On the pins of the map as well.
  await page.keyboard.press('2')
  await page.locator('.map-agent').first().waitFor()
  const pins = await page.evaluate(() => ['needs', 'failed', 'turn'].map(kind => document.querySelector(`.map-agent.${kind} .map-pin path`).getAttribute('d')))
  assert.equal(new Set(pins).size, 3)
})

test('an error of the API asks nothing, in any view', async () => {
  const live = liveOffice(8, { needs: 0, failed: 2, turns: 1 })
  const page = await home.browse({ ...DESK, reducedMotion: 'reduce' })
  await showLive(page, live)
  await page.goto(home.address + '/')
  const failed = page.getByRole('region', { name: /^Failed/ })
  await failed.getByText('API error 529').first().waitFor()
  assert.equal(await failed.getByRole('img', { name: 'failed' }).count(), 2)
  assert.equal(await page.getByRole('heading', { name: 'Nothing needs you' }).count(), 1)
  assert.equal(await page.getByRole('region', { name: /^Your turn/ }).locator('.row').count(), 1)
  await page.goto(home.address + '/world')
  await page.locator('.map-agent.failed').nth(1).waitFor()
  await page.keyboard.press('1')
  await page.locator('.flat-agent.failed').nth(1).waitFor()
  assert.equal(await page.getByText(/Asks|needs you|need you/).count(), 0)
})

test('fifteen who ask the same are one card, and in the world one row with their numbers', async () => {
  const live = liveOffice(24, { needs: 17, failed: 0, turns: 1 }).map((one, at) => (at < 15 ? { ...one, activity: { ...one.activity, tool: 'Bash', detail: 'git push origin main', asking: 'git push origin main' } } : at < 17 ? { ...one, activity: { ...one.activity, tool: 'Edit', detail: `src/${at}.rs`, asking: `src/${at}.rs` } } : one))
  const page = await home.browse({ ...DESK, reducedMotion: 'reduce' })
  await showLive(page, live)
  await page.addInitScript(() => localStorage.setItem('backstory.world.view', '"3d"'))
  await page.goto(home.address + '/')
  await page.getByText('and 14 more').first().waitFor()
  assert.equal(await page.locator('.need').count(), 3)
  const { y } = await page.locator('.need').nth(1).boundingBox()
  assert.ok(y < 400, `the next request is at ${y}`)
  await page.goto(home.address + '/world')
  await page.locator('.world-queue li').nth(2).waitFor()
  assert.equal(await page.locator('.world-queue ol > li').count(), 3)
  await page.locator('.queue-more', { hasText: '14 more sessions' }).waitFor()
  await settled(page)
  assert.equal(await page.locator('.label.bubble.needs').count(), 0)
  const pins = await page.evaluate(() => window.backstoryWorld.scene().agents.filter(agent => agent.kind === 'needs').map(agent => agent.number).sort((one, other) => one - other))
  assert.deepEqual(pins, Array.from({ length: pins.length }, (_, at) => at + 1))
})

test('columns are under each other in all groups', async () => {
  for (const width of [1280, 900]) {
    const page = await home.browse({ viewport: { width, height: 800 } })
    await showLive(page, liveOffice(24))
    for (const path of ['/', '/sessions']) {
      await page.goto(home.address + path)
      await page.locator('a.row').nth(9).waitFor()
      const edges = await page.evaluate(() => [...document.querySelectorAll('a.row')].map(row => [...row.children].map(cell => cell.getBoundingClientRect()).map(({ left, right }) => `${left.toFixed(1)}-${right.toFixed(1)}`).join(' ')))
      assert.equal(new Set(edges).size, 1, `${path}: ${[...new Set(edges)].join('\n')}`)
    }
    await page.context().close()
  }
})

for (const count of [5, 24]) {
  test(`the office of ${count} looks as it did`, async () => {
    const page = await still(office(count), { isFull: true, viewport: { width: 1112, height: 600 } })
    await page.evaluate(() => document.querySelectorAll('.labels, .world-bar').forEach(one => (one.style.visibility = 'hidden')))
    const picture = await page.locator('.scene').screenshot()
    const path = join(ROOT, `tests/web/stills/world-${count}.png`)
    if (UPDATES || !existsSync(path)) {
      assert.ok(UPDATES, `${path} is missing: look at the picture that UPDATE_STILLS=1 keeps`)
      writeFileSync(path, picture)
    }
    // Both are made so small that how a machine rounds does not matter.
    const differ = await page.evaluate(async both => {
      const [one, other] = await Promise.all(both.map(async data => {
        const image = new Image()
        image.src = `data:image/png;base64,${data}`
        await image.decode()
        const pen = Object.assign(document.createElement('canvas'), { width: 96, height: 60 }).getContext('2d')
        pen.drawImage(image, 0, 0, 96, 60)
        return pen.getImageData(0, 0, 96, 60).data
      }))
      return one.reduce((sum, value, at) => sum + Math.abs(value - other[at]), 0) / one.length
    }, [picture.toString('base64'), readFileSync(path).toString('base64')])
    assert.ok(differ < 3, `${differ} of 255 on average: look at it, and keep it with UPDATE_STILLS=1`)
  })
}
