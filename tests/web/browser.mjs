// The browsers: Chromium, which files that are run together share, and Firefox.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PATIENCE, WEB } from './places.mjs'

const require = createRequire(join(WEB, 'package.json'))
const { chromium } = require('playwright-core')

/** Where a Chromium listens that somebody else started, and will end. */
const SHARED = process.env.BACKSTORY_TEST_BROWSER
const CHROMIUM = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader'],
  timeout: PATIENCE,
}

/** The shared Chromium, in which others see nothing of this one's pages, or one of its own. */
export function openChromium() {
  return SHARED ? chromium.connect(SHARED, { timeout: PATIENCE }) : chromium.launch(CHROMIUM)
}

/** A Chromium to share, and the variables by which files find it. */
export async function shareChromium() {
  const server = await chromium.launchServer({ ...CHROMIUM, host: '127.0.0.1' })
  return { server, environment: { BACKSTORY_TEST_BROWSER: server.wsEndpoint() } }
}

/** Debian's Firefox, by WebDriver BiDi. */
export async function openFirefox() {
  const { default: puppeteer } = await import(pathToFileURL(require.resolve('puppeteer-core')))
  // The size of the window is that of the page: not every release can be told another one.
  const size = { defaultViewport: null, args: ['--width=1280', '--height=800'] }
  const patience = { timeout: PATIENCE, protocolTimeout: PATIENCE }
  return puppeteer.launch({ browser: 'firefox', executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr', ...patience, ...size })
}
