// The packages to be tested: those in the folder that BACKSTORY_DIST names, else those of the debug build, packed now.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const PROGRAM = process.env.BACKSTORY ?? join(ROOT, 'target/debug/backstory')

/** A folder of packages. */
export class Dist {
  static open() {
    if (process.env.BACKSTORY_DIST) return new Dist(resolve(process.env.BACKSTORY_DIST), null)
    const scratch = mkdtempSync(join(tmpdir(), 'backstory-dist-'))
    const [program, folder] = [join(scratch, 'backstory'), join(scratch, 'dist')]
    // What a debugger needs is most of it.
    execFileSync('strip', ['-o', program, PROGRAM])
    execFileSync(join(ROOT, 'scripts/pack'), ['--quick', '--out', folder, program])
    return new Dist(folder, scratch)
  }

  constructor(folder, scratch) {
    this.path = folder
    this.scratch = scratch
  }

  /** The one file for this machine with a name like that. */
  file(pattern) {
    const found = readdirSync(this.path).filter(name => pattern.test(name))
    if (found.length !== 1) throw new Error(`${found.length} files in ${this.path} are like ${pattern}: ${found.join(', ')}`)
    return join(this.path, found[0])
  }

  close() {
    if (this.scratch) rmSync(this.scratch, { recursive: true })
  }
}

/** The architecture as file names have it. */
export const MACHINE = { x64: 'x86_64', arm64: process.platform === 'darwin' ? '(arm64|aarch64)' : 'aarch64' }[process.arch]
