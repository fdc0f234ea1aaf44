// Starts the dashboard.

import { render } from 'preact'
import { App } from './app.tsx'
import { startKeys } from './keys.ts'
import { startLive } from './live/store.ts'
import { startNotices } from './live/notices.ts'
import { startRouter } from './router.ts'
import { startTheme } from './ui/theme.ts'
import './style/base.css'
import './style/parts.css'
import './style/home.css'

/** How long the first screen waits for the list, in milliseconds. */
const SOON = 60

startTheme()
startRouter()
startKeys()
const listed = startLive()
startNotices()
// Home is painted once rather than twice where its list is about to come.
const show = () => render(<App />, document.getElementById('app')!)
if (location.pathname === '/') void Promise.race([listed, new Promise(done => setTimeout(done, SOON))]).then(show)
else show()
