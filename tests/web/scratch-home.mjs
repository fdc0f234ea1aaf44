// A scratch home with the real Claude Code, the real server and a browser that looks at it.

import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { openChromium } from './browser.mjs'
import { Model } from './model.mjs'
import { PATIENCE, ROOT, WEB, ZONE } from './places.mjs'
import { unhurried } from './unhurried.mjs'

const AXE = createRequire(join(WEB, 'package.json')).resolve('axe-core/axe.min.js')
const CLAUDE = process.env.CLAUDE ?? join(ROOT, 'tests/tools/node_modules/@anthropic-ai/claude-code-linux-x64/claude')
const BACKSTORY = process.env.BACKSTORY ?? join(ROOT, 'target/debug/backstory')
/** A folder with a build to look at in place of the one in the program. */
const FRONT = process.env.FRONT
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
      TZ: ZONE,
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
    if (!this.printed) throw new Error('the server ended before it listened')
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
    if (this.server?.exitCode === null && this.server.signalCode === null) {
      const ended = new Promise(done => this.server.once('exit', done))
      this.server.kill()
      await ended
    }
    await stopWorkers(this)
    this.model.close()
    // A program that is on its way out may still write.
    await rm(this.path, { recursive: true, force: true, maxRetries: 60, retryDelay: 100 })
  }

  /** Closes all pages: one that a failed test has left open would keep the machine busy. */
  async closePages() {
    await Promise.all((this.browser?.contexts() ?? []).map(context => context.close()))
  }

  /** A page in a browser that is signed in; what goes wrong in it is kept in `complaints`. */
  async browse(options = {}) {
    this.browser ??= await openChromium()
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, storageState: this.signedIn, timezoneId: ZONE, ...options })
    context.setDefaultTimeout(PATIENCE)
    await unhurried(context)
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
  await page.addScriptTag({ path: AXE }).catch(() => page.evaluate(readFileSync(AXE, 'utf8')))
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
  return found.violations
    .filter(one => one.impact === 'serious' || one.impact === 'critical')
    .map(one => `${one.id}: ${one.nodes.map(node => node.target.join(' ')).slice(0, 4).join(', ')}`)
}
