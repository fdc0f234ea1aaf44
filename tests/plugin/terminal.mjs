// A program in a real terminal: tmux, with a server of its own.

import { execFileSync } from 'node:child_process'

/** After so many milliseconds something does not come at all: this decides when a test fails that hangs, and nothing else. */
export const PATIENCE = 180_000

/** A terminal in which a program runs; both end when it is closed. */
export class Terminal {
  constructor(environment, directory, words) {
    this.socket = `backstory-plugin-${process.pid}`
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    const size = ['-x', '160', '-y', '42', '-c', directory]
    this.tmux('-f', '/dev/null', 'new-session', '-d', ...size, '--', 'env', '-i', ...variables, ...words)
  }

  tmux(...words) {
    return execFileSync('tmux', ['-L', this.socket, ...words], { encoding: 'utf8' })
  }

  screen() {
    return this.tmux('capture-pane', '-p')
  }

  type(text) {
    this.tmux('send-keys', '-l', text)
  }

  key(name) {
    this.tmux('send-keys', name)
  }

  /** Waits until the screen shows this; returns the screen. */
  async until(pattern) {
    const end = Date.now() + PATIENCE
    for (;;) {
      const screen = this.screen()
      if (pattern.test(screen)) return screen
      if (Date.now() > end) throw new Error(`${pattern} is not on the screen:\n${screen}`)
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }

  /** Waits until the screen shows this ten times in a row: what is being drawn may show it for a moment. */
  async steadily(pattern) {
    for (let shown = 0; shown < 10; shown++) {
      const screen = await this.until(pattern)
      await new Promise(resolve => setTimeout(resolve, 50))
      if (this.screen() !== screen) shown = -1
    }
  }

  close() {
    this.tmux('kill-server')
  }
}
