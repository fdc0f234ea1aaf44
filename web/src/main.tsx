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

startTheme()
startRouter()
startKeys()
startLive()
startNotices()
render(<App />, document.getElementById('app')!)
