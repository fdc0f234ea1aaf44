// A scratch home with the real Claude Code, the real server and a browser that looks at it.

import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Model } from './model.mjs'

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
export const WEB = join(ROOT, 'web')
const require = createRequire(join(WEB, 'package.json'))
export const { chromium } = require('playwright-core')
export const AXE = require.resolve('axe-core/axe.min.js')
const CLAUDE = process.env.CLAUDE ?? join(ROOT, 'tests/tools/node_modules/@anthropic-ai/claude-code-linux-x64/claude')
const BACKSTORY = process.env.BACKSTORY ?? join(ROOT, 'target/debug/backstory')
/** A folder with a build to look at in place of the one in the program. */
const FRONT = process.env.FRONT
/** Debian's Firefox, by WebDriver BiDi. */
export const firefox = async () => {
  const { default: puppeteer } = await import(pathToFileURL(require.resolve('puppeteer-core')))
  // The size of the window is that of the page: not every release can be told another one.
  const size = { defaultViewport: null, args: ['--width=1280', '--height=800'] }
  return puppeteer.launch({ browser: 'firefox', executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr', timeout: 120_000, ...size })
}
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const KEY = 'sk-ant-not-a-key'

export class Home {
  static async open() {
    const home = new Home()
    home.model = await Model.start()
    home.path = realpathSync(mkdtempSync(join(tmpdir(), 'backstory-web-')))
    home.config = join(home.path, '.claude')
    for (const folder of ['bin', '.claude', 'shop']) mkdirSync(join(home.path, folder))
    symlinkSync(CLAUDE, join(home.path, 'bin/claude'))
    const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
    const known = { hasCompletedOnboarding: true, theme: 'dark', customApiKeyResponses: { approved: [KEY], rejected: [] }, projects: { [join(home.path, 'shop')]: trusted } }
    writeFileSync(join(home.config, '.claude.json'), JSON.stringify(known))
    return home
  }

  get environment() {
    return {
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: this.model.url,
      BACKSTORY_HOME: join(this.path, 'state'),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
      CLAUDE_CONFIG_DIR: this.config,
      DISABLE_AUTOUPDATER: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_TELEMETRY: '1',
      HOME: this.path,
      PATH: `${join(this.path, 'bin')}:/usr/local/bin:/usr/bin:/bin`,
    }
  }

  /** Starts the server; `link` signs one browser in, which may do everything, and `printed` one that may act. */
  async serve(...words) {
    const options = { cwd: this.path, env: this.environment, stdio: ['ignore', 'pipe', 'inherit'] }
    const front = FRONT ? ['--front', resolve(FRONT)] : []
    this.server = spawn(realpathSync(BACKSTORY), ['serve', '--port', '0', '--print-link', ...front, ...words], options)
    for await (const line of createInterface({ input: this.server.stdout })) {
      this.printed = /https?:\S+/.exec(line)?.[0]
      if (this.printed) break
    }
    this.address = new URL(this.printed).origin
    this.link = this.run('serve', 'link', '--scope', 'admin').trim()
  }

  /** Asks the server as the browser would. */
  async get(page, path) {
    return page.evaluate(async path => (await window.ask(path)).json(), path)
  }

  /** Runs a command of the program, as in a terminal of the same person; what it prints. */
  run(...words) {
    return execFileSync(realpathSync(BACKSTORY), words, { cwd: this.path, env: this.environment, encoding: 'utf8' })
  }

  async close() {
    await this.browser?.close()
    if (this.server?.exitCode === null) {
      const ended = new Promise(done => this.server.once('exit', done))
      this.server.kill()
      await ended
    }
    await stopWorkers(this)
    this.model.close()
    rmSync(this.path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }

  /** A signed-in browser; what goes wrong in its pages is kept in `complaints`. */
  async browse(options = {}) {
    this.browser ??= await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'] })
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, storageState: this.signedIn, ...options })
    await context.addInitScript(() => {
      window.ask = (path, options) => fetch(path, { ...options, headers: { ...options?.headers, 'Backstory-Key': localStorage.getItem('backstory-key') ?? '' } })
    })
    const page = await context.newPage()
    page.complaints = []
    page.on('console', message => {
      if (message.type() === 'error') page.complaints.push(`${message.text()} (${message.location().url})`)
    })
    page.on('pageerror', error => page.complaints.push(String(error)))
    page.on('request', request => {
      if (!request.url().startsWith(this.address) && !/^(data|blob):/.test(request.url())) page.complaints.push(`asks ${request.url()}`)
    })
    if (!this.signedIn) {
      await page.goto(this.link)
      this.signedIn = await context.storageState()
    }
    page.setDefaultTimeout(60_000)
    return page
  }
}

/** Workers outlive the server; a test leaves none behind. */
async function stopWorkers(home) {
  const run = words => new Promise(done => spawn(realpathSync(BACKSTORY), words, { env: home.environment, cwd: home.path, stdio: ['ignore', 'pipe', 'ignore'] }).on('exit', done))
  for (let worker = 1; worker <= home.workers; worker++) await run(['stop', String(worker)])
}

/** What axe finds to be serious on a page. */
export async function seriousFindings(page) {
  await page.addScriptTag({ path: AXE }).catch(() => page.evaluate(require('node:fs').readFileSync(AXE, 'utf8')))
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
  return found.violations
    .filter(one => one.impact === 'serious' || one.impact === 'critical')
    .map(one => `${one.id}: ${one.nodes.map(node => node.target.join(' ')).slice(0, 4).join(', ')}`)
}
