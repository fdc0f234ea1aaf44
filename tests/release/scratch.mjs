// A scratch folder with a home of its own, in which packages are installed and removed.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A program that runs longer hangs, in milliseconds. */
const PATIENCE = 300_000

export class Scratch {
  static open() {
    return new Scratch(realpathSync(mkdtempSync(join(tmpdir(), 'backstory-install-'))))
  }

  constructor(path) {
    this.path = path
    this.home = join(path, 'home')
    mkdirSync(this.home)
    // Where node and the rest are; a Backstory of the person's is not found.
    const places = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin']
    this.environment = { HOME: this.home, PATH: places.join(':'), TMPDIR: path, LANG: 'C.UTF-8' }
  }

  /** Runs a program to its end: its exit code and what it printed. */
  run(program, words, environment = {}) {
    return new Promise((done, failed) => {
      const child = spawn(program, words, { cwd: this.home, env: { ...this.environment, ...environment }, timeout: PATIENCE })
      const [out, err] = [[], []]
      child.stdout.on('data', piece => out.push(piece))
      child.stderr.on('data', piece => err.push(piece))
      child.once('error', failed)
      child.once('close', (code, signal) => done({ code: code ?? signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }))
    })
  }

  /** Runs a program that has to succeed; returns what it printed. */
  async succeed(program, words, environment) {
    const { code, stdout, stderr } = await this.run(program, words, environment)
    assert.equal(code, 0, `${program} ${words.join(' ')}\n${stdout}\n${stderr}`)
    return stdout
  }

  /** All files below a folder, without what Python compiles on the way. */
  files(folder) {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    const files = entries.filter(entry => !entry.isDirectory()).map(entry => join(entry.parentPath ?? entry.path, entry.name))
    return files.filter(path => !path.includes('__pycache__')).sort()
  }

  close() {
    rmSync(this.path, { recursive: true })
  }
}
