#!/usr/bin/env node
// Starts the program that npm installed beside this package, in the package of this platform.

const { spawn } = require('node:child_process')
const { constants } = require('node:os')

const PLATFORMS = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']
const INSTALLED = `${process.platform}-${process.arch}`

const program = find()
if (program === null) {
  console.error(missing())
  process.exitCode = 1
} else {
  start(program, process.argv.slice(2))
}

function find() {
  try {
    return require.resolve(`@backstory-sessions/${INSTALLED}/bin/backstory`)
  } catch {
    return null
  }
}

function missing() {
  if (!PLATFORMS.includes(INSTALLED)) {
    return (
      `backstory: npm has no build of Backstory for ${INSTALLED}; there are ${PLATFORMS.join(', ')}.\n` +
      'Build it with Rust and a C compiler: cargo install --locked --git https://github.com/backstory-sessions/backstory backstory-cli'
    )
  }
  return (
    `backstory: npm did not install the package @backstory-sessions/${INSTALLED}, which holds the program. It is left out by --omit=optional, by\n` +
    'a package-lock.json from another platform, and on Linux without glibc (Alpine). Install it again with --include=optional.'
  )
}

/** Becomes the program where node can; otherwise stays in between, passes signals on and ends as it does. */
function start(path, words) {
  if (process.execve) {
    try {
      process.execve(path, [path, ...words], process.env)
    } catch (error) {
      fail(path, error)
    }
    return
  }
  const child = spawn(path, words, { stdio: 'inherit' })
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // A terminal sends its Ctrl-C to both.
  process.on('SIGINT', () => {})
  child.once('error', error => fail(path, error))
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

function fail(path, error) {
  console.error(`backstory: cannot start ${path}: ${error.message}`)
  process.exit(1)
}
