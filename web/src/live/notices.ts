// Tells the person that a session needs them: the number in the tab's title, one polite line for screen readers, and,
// where it was asked for in the settings, a notification of the system while the page is hidden.

import { effect, signal } from '@preact/signals'
import { sessionAddress } from '../router.ts'
import { sessionInWords } from './fold.ts'
import { persisted } from './persisted.ts'
import { needing } from './store.ts'
import { followNotices, registerNotices, show, unregisterNotices } from './system-notice.ts'

/** Whether the person asked for notifications. */
export const wantsNotices = persisted('notices', false)
/** Whether this browser shows none, whatever it has granted. */
export const isRefused = persisted('notices.refused', false)
/** What is said of a browser that shows none. */
export const REFUSED = 'This browser shows no notifications for this address, as those of phones do without HTTPS. The number of sessions that need you is in the title of the tab.'
/** The line that is read aloud. */
export const announced = signal('')

/** Asks the browser, and shows the first one, because some browsers grant what they then refuse; only ever from a click. Says why there
 *  are none. */
export async function turnOnNotices(): Promise<string | undefined> {
  if (!('Notification' in window)) return 'This browser has no notifications for pages.'
  if ((await Notification.requestPermission()) !== 'granted') return 'The browser does not allow notifications for this address. Allow them in its settings for this address and turn them on again.'
  await registerNotices()
  const first = { title: 'Notifications are on', body: 'One comes when a session needs you while this page is in the background.', tag: 'on', address: '/settings' }
  isRefused.value = !(await show(first))
  wantsNotices.value = !isRefused.value
  return isRefused.value ? REFUSED : undefined
}

export async function turnOffNotices(): Promise<void> {
  wantsNotices.value = false
  await unregisterNotices()
}

export function startNotices(): void {
  let known: Set<string> | undefined
  followNotices()
  effect(() => {
    const sessions = needing.value
    const count = sessions.length
    document.title = document.title.replace(/^\(\d+\) /, '')
    if (count) document.title = `(${count}) ${document.title}`
    const fresh = known ? sessions.filter(session => !known!.has(session.id)) : []
    known = new Set(sessions.map(session => session.id))
    const first = fresh[0]
    if (!first) return
    const text = `${first.title} in ${first.project}: ${sessionInWords(first)}`
    announced.value = text
    if (document.hidden && wantsNotices.peek()) void notify(first.id, first.title, sessionInWords(first))
  })
}

async function notify(id: string, title: string, body: string): Promise<void> {
  if (!('Notification' in window) || Notification.permission !== 'granted') return
  isRefused.value = !(await show({ title, body, tag: id, address: sessionAddress(id) }))
}
