// Tells the person that a session needs them: the number in the tab's title, one polite line for screen readers, and,
// where it was asked for in the settings, a notification of the system while the page is hidden.

import { effect, signal } from '@preact/signals'
import { go, sessionAddress } from '../router.ts'
import { inWords } from './fold.ts'
import { kept } from './kept.ts'
import { needing } from './store.ts'

/** Whether the person asked for notifications. */
export const wantsNotices = kept('notices', false)
/** The line that is read aloud. */
export const announced = signal('')

/** Asks the browser; only ever from a click. */
export async function askForNotices(): Promise<boolean> {
  if (!('Notification' in window)) return false
  const answer = await Notification.requestPermission()
  wantsNotices.value = answer === 'granted'
  return wantsNotices.value
}

export function startNotices(): void {
  let known: Set<string> | undefined
  effect(() => {
    const sessions = needing.value
    const count = sessions.length
    document.title = document.title.replace(/^\(\d+\) /, '')
    if (count) document.title = `(${count}) ${document.title}`
    const fresh = known ? sessions.filter(session => !known!.has(session.id)) : []
    known = new Set(sessions.map(session => session.id))
    const first = fresh[0]
    if (!first) return
    const text = `${first.title} in ${first.project}: ${inWords(first.activity)}`
    announced.value = text
    if (document.hidden && wantsNotices.peek()) notify(first.id, first.title, inWords(first.activity))
  })
}

function notify(id: string, title: string, body: string): void {
  if (!('Notification' in window) || Notification.permission !== 'granted') return
  const notice = new Notification(title, { body, tag: id, icon: '/icon.svg' })
  notice.onclick = () => {
    focus()
    go(sessionAddress(id))
    notice.close()
  }
}
