#!/usr/bin/env node
// Runs the JavaScript tests, two files at a time: the plugin in the real Claude Code, the skill in the real OpenClaw, packages, and the
// dashboard in browsers. What a file prints is shown once it has ended.
//
//     node tests/run.mjs [--junit FILE] [--retry-failed] [FILES]
//
// --junit FILE    writes the results to FILE, and a line for each flaky test to FILE.flaky
// --retry-failed  runs a file in which a test failed a second time; a test that passes only then is flaky, and does not
//                 fail the run. A file that starts no other program is not run again: its result is always the same.

import { readdirSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Browser } from './run/browser.mjs'
import { runFile } from './run/file.mjs'
import { junit } from './run/junit.mjs'
import { merge } from './run/results.mjs'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDERS = ['tests/plugin', 'tests/openclaw', 'tests/release', 'tests/run', 'tests/web']
const AT_ONCE = 2
/** What takes longest comes first, so that no file is left over at the end. */
const LONGEST = ['plugin/installing', 'release/installing', 'web/chat', 'plugin/terminal', 'web/reader', 'web/world-look', 'web/world-scene', 'web/dist']
/** Rules and files: no browser, and no other program that may be late. */
const PURE = ['release/files', 'run/run', 'web/dist', 'web/language', 'web/loader', 'web/rules', 'web/world-rules']

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { junit: { type: 'string' }, 'retry-failed': { type: 'boolean' } },
})
const began = performance.now()
const queue = positionals.length ? positionals.map(file => relative(ROOT, resolve(file))) : inOrder(allFiles())
const results = []
await Promise.all(Array.from({ length: AT_ONCE }, work))
process.exitCode = report()

function allFiles() {
  return FOLDERS.flatMap(folder => readdirSync(join(ROOT, folder)).filter(name => name.endsWith('.test.mjs')).map(name => `${folder}/${name}`))
}

function inOrder(files) {
  const place = file => (LONGEST.indexOf(nameOf(file)) + 1 || LONGEST.length + 1)
  return files.toSorted((one, other) => place(one) - place(other) || one.localeCompare(other))
}

/** `web/chat` for tests/web/chat.test.mjs. */
function nameOf(file) {
  return file.replace(/^tests\//, '').replace(/\.test\.mjs$/, '')
}

function isPure(file) {
  return PURE.includes(nameOf(file))
}

/** Takes one file after another, with a browser that they share. */
async function work() {
  const browser = new Browser()
  for (let file = queue.shift(); file; file = queue.shift()) results.push(await resultOf(file, browser))
  await browser.close()
}

async function resultOf(file, browser) {
  const result = await attempt(file, browser)
  if (!options['retry-failed'] || !isBroken(result) || isPure(file)) return result
  return merge(result, await attempt(file, browser))
}

async function attempt(file, browser) {
  const needsBrowser = file.startsWith('tests/web/') && !isPure(file)
  const result = await runFile(ROOT, file, needsBrowser ? await browser.environment() : {})
  console.log(`\n==> ${file} (${result.seconds.toFixed(1)} s)\n${result.output.trimEnd()}`)
  // Whatever went wrong may have been the browser's fault.
  if (isBroken(result)) await browser.close()
  return result
}

function isBroken(result) {
  return result.tests.some(test => test.failure)
}

/** Says and writes what has become of all; the exit code. */
function report() {
  results.sort((one, other) => one.file.localeCompare(other.file))
  const all = results.flatMap(({ file, tests }) => tests.map(test => ({ ...test, file })))
  const flaky = all.filter(test => test.flaky).map(test => `${test.file}: ${test.name}`)
  const failed = all.filter(test => test.failure)
  const skipped = all.filter(test => test.skipped)
  if (options.junit) {
    writeFileSync(options.junit, junit(results))
    writeFileSync(`${options.junit}.flaky`, flaky.map(line => `${line}\n`).join(''))
  }
  console.log('')
  for (const line of flaky) console.log(`FLAKY ${line}`)
  for (const { file, name } of failed) console.log(`FAILED ${file}: ${name}`)
  const passed = all.length - failed.length - skipped.length
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  console.log(`${passed} tests passed, ${failed.length} failed, ${skipped.length} skipped, ${flaky.length} flaky, in ${seconds} s.`)
  return failed.length || !all.length ? 1 : 0
}
