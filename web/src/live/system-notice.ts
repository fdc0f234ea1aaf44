// A notification of the system: by the service worker, because browsers of phones let no page make one itself; by the page where there is no
// worker.

import { go } from '../router.ts'

interface Notice {
  title: string
  body: string
  /** Another one with the same tag takes its place. */
  tag: string
  /** The address of the dashboard that it leads to. */
  address: string
}

/** Registers the service worker; browsers have it on `https` and on this machine. */
export async function registerNotices(): Promise<void> {
  await navigator.serviceWorker?.register('/sw.js').then(() => navigator.serviceWorker.ready, () => undefined)
}

/** Removes it again. */
export async function unregisterNotices(): Promise<void> {
  await (await registration())?.unregister()
}

/** Follows a notification that was clicked. */
export function followNotices(): void {
  navigator.serviceWorker?.addEventListener('message', event => typeof event.data?.open === 'string' && go(event.data.open))
  navigator.serviceWorker?.startMessages()
}

/** Shows it; false where this browser does not. */
export async function show({ title, address, ...rest }: Notice): Promise<boolean> {
  const options = { ...rest, icon: '/icon.svg' }
  try {
    const worker = await registration()
    if (worker?.active) {
      await worker.showNotification(title, { ...options, data: address })
      return true
    }
    const notice = new Notification(title, options)
    notice.onclick = () => {
      focus()
      go(address)
      notice.close()
    }
    return true
  } catch {
    return false
  }
}

async function registration(): Promise<ServiceWorkerRegistration | undefined> {
  return navigator.serviceWorker?.getRegistration('/')
}
