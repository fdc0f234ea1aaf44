// What the pages measure in seconds of a person, the tests do in their own time: however slow a machine is, nothing is missed.

/** How long the page shows a note with a button (web/src/ui/toast.tsx), in milliseconds. */
const NOTE_TIME = 8000

/** Prepares all pages of a context of Chromium. */
export async function unhurried(context) {
  await context.addInitScript(withoutHurry, NOTE_TIME)
  context.on('page', waitForKeys)
}

/** Prepares a page of Firefox. */
export async function unhurriedPage(page) {
  await page.evaluateOnNewDocument(withoutHurry, NOTE_TIME)
  waitForKeys(page)
}

/** In the page, before its own scripts. */
function withoutHurry(noteTime) {
  // Two keys that belong together are struck together, and no field comes too late for what was typed for it.
  Object.defineProperty(Event.prototype, 'timeStamp', { get: () => 0 })
  // Notes with a button stay until it is used.
  const { setTimeout } = window
  window.setTimeout = (act, time, ...more) => (time === noteTime ? 0 : setTimeout(act, time, ...more))
}

/** Keys are bound a frame after what they belong to is on the screen; nobody is quicker than that, but a test. */
function waitForKeys(page) {
  const press = page.keyboard.press.bind(page.keyboard)
  page.keyboard.press = async (...words) => {
    await drawn(page)
    await press(...words)
  }
}

/** Two frames later, when all that they led to has been done. */
export function drawn(page) {
  return page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))))
}
