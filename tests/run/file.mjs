// Runs one file of tests as `node --test` does, and ends it when it hangs.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file that takes longer hangs, in seconds. */
const LIMIT = 900
const REPORTER = join(import.meta.dirname, 'reporter.mjs')

const groups = new Set()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    for (const group of groups) kill(group, signal)
    process.exit(1)
  })
}

/** What a file printed, how long it took, and its tests. */
export async function runFile(root, file, environment, limit = LIMIT) {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-results-'))
  const log = join(folder, 'tests.jsonl')
  const reporters = ['--test-reporter=spec', '--test-reporter-destination=stdout', `--test-reporter=${REPORTER}`, `--test-reporter-destination=${log}`]
  const began = performance.now()
  try {
    const { output, end } = await run(root, ['--test', ...reporters, file], environment, limit)
    const tests = readTests(log)
    // What ended without a word about why has failed all the same.
    if (end !== 0 && !tests.some(test => test.failure)) tests.push({ name: 'the file itself', seconds: 0, failure: end === 'hangs' ? hanging(limit) : `ended with ${end}` })
    return { file, output, tests, seconds: (performance.now() - began) / 1000 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The tests that a reporter wrote down; the last line of one that was killed may be cut. */
function readTests(log) {
  const lines = readFileSync(log, { encoding: 'utf8', flag: 'a+' }).split('\n').slice(0, -1)
  return lines.map(line => JSON.parse(line))
}

/** What a program in a process group of its own prints, and how it ends: its exit code, a signal, or `hangs`. */
function run(cwd, words, environment, limit) {
  // Who runs this below another test runner wants the results all the same.
  const { NODE_TEST_CONTEXT, ...env } = { ...process.env, ...environment }
  const child = spawn(process.execPath, words, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  groups.add(child.pid)
  const pieces = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', piece => pieces.push(piece))
  return new Promise((done, failed) => {
    let hangs = false
    const timer = setTimeout(() => {
      hangs = true
      pieces.push(Buffer.from(`\n${words.at(-1)}: ${hanging(limit)}\n`))
      kill(child.pid, 'SIGTERM')
      setTimeout(() => kill(child.pid, 'SIGKILL'), 10_000).unref()
    }, limit * 1000)
    child.once('error', failed)
    // Not `close`: what a file left running may hold its output open.
    child.once('exit', (code, signal) => {
      clearTimeout(timer)
      groups.delete(child.pid)
      if (hangs) kill(child.pid, 'SIGKILL')
      setImmediate(() => done({ output: Buffer.concat(pieces).toString(), end: hangs ? 'hangs' : (code ?? signal) }))
    })
  })
}

function hanging(limit) {
  return `it hangs: it was ended after ${limit} seconds`
}

/** Ends a process and those that it started. */
function kill(group, signal) {
  try {
    process.kill(-group, signal)
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}
