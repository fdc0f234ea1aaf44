// Shows notifications where a page may not, as on phones. It answers no request and keeps nothing.

self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', event => event.waitUntil(self.clients.claim()))
self.addEventListener('notificationclick', event => {
  event.notification.close()
  event.waitUntil(open(event.notification.data))
})

/** Shows an address of the dashboard, in the page that is open where there is one. */
async function open(address) {
  const [page] = await self.clients.matchAll({ type: 'window' })
  if (!page) return self.clients.openWindow(address)
  page.postMessage({ open: address })
  return page.focus()
}
