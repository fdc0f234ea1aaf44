// A Chromium that stays while one file after another connects to it.

export class Browser {
  /** The variables by which a file finds it; it is started if it does not run. */
  async environment() {
    this.shared ??= await this.start()
    return this.shared.environment
  }

  async start() {
    // Not before it is needed: playwright is large.
    const { shareChromium } = await import('../web/browser.mjs')
    const shared = await shareChromium()
    // One that has crashed is replaced for the next file.
    shared.server.on('close', () => this.shared === shared && (this.shared = undefined))
    return shared
  }

  async close() {
    await this.shared?.server.close()
    this.shared = undefined
  }
}
