// The runner itself: what it counts, what it runs again, and how it ends what hangs.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { runFile } from './file.mjs'
import { junit } from './junit.mjs'
import { merge } from './results.mjs'

const RUN = resolve(import.meta.dirname, '../run.mjs')
const HEAD = "import assert from 'node:assert/strict'\nimport { existsSync, writeFileSync } from 'node:fs'\nimport { test } from 'node:test'\n"
const folder = mkdtempSync(join(tmpdir(), 'backstory-run-'))
after(() => rmSync(folder, { recursive: true }))

/** A file of tests. */
function write(name, text) {
  const path = join(folder, `${name}.test.mjs`)
  writeFileSync(path, HEAD + text)
  return path
}

/** Runs the runner as scripts/test does: its exit code, what it printed, and the files that it wrote. */
function run(...words) {
  const results = join(folder, 'results.xml')
  const { status, stdout } = spawnSync(process.execPath, [RUN, '--junit', results, ...words], { encoding: 'utf8' })
  const [xml, flaky] = [results, `${results}.flaky`].map(file => readFileSync(file, 'utf8'))
  return { status, stdout, xml, flaky }
}

const good = write('good', "test('it holds', () => {})\ntest('later', { skip: true }, () => {})\n")
const bad = write('bad', "test('one & <two>', () => assert.equal(1, 2))\ntest('it holds', () => {})\n")
const crashed = write('crashed', "throw new Error('no test is reached')\n")
const once = JSON.stringify(join(folder, 'once'))
const unsteady = write('unsteady', `test('by luck', () => {\n  if (existsSync(${once})) return\n  writeFileSync(${once}, '')\n  assert.fail('the first time')\n})\n`)

test('passed, failed and skipped tests are counted, and say why', () => {
  const { status, stdout, xml, flaky } = run(good, bad, crashed)
  assert.equal(status, 1)
  assert.match(stdout, /\n2 tests passed, 2 failed, 1 skipped, 0 flaky, in \d+ s\.\n$/)
  assert.match(stdout, /FAILED .*bad\.test\.mjs: one & <two>\n/)
  assert.match(stdout, /no test is reached/)
  assert.match(xml, /<testsuites name="javascript" tests="5" failures="2" errors="0" skipped="1" time="[\d.]+">/)
  assert.match(xml, /name="one &amp; &lt;two&gt;" time="[\d.]+">\n *<failure message="[^"]*"/)
  assert.equal(flaky, '')
})

test('a test that passes when it is run again is flaky, and fails nothing', () => {
  const { status, stdout, xml, flaky } = run('--retry-failed', good, unsteady)
  assert.equal(status, 0)
  assert.match(stdout, /\nFLAKY .*unsteady\.test\.mjs: by luck\n/)
  assert.match(flaky, /^\S*unsteady\.test\.mjs: by luck\n$/)
  assert.match(xml, /<testcase [^>]*name="by luck"[^>]*>\n *<flakyFailure message="[^"]*the first time/)
  assert.match(xml, / failures="0" /)
})

test('a file that hangs is ended with what it started', async () => {
  const hangs = write('hangs', "test('it holds', () => {})\ntest('for ever', () => new Promise(() => setInterval(() => {}, 1000)))\n")
  const { tests, output } = await runFile(folder, hangs, {}, 5)
  assert.match(output, /hangs\.test\.mjs: it hangs: it was ended after 5 seconds/)
  assert.ok(tests.some(one => one.failure))
})

test('of two runs it counts what passed in one of them', () => {
  const made = (...tests) => ({ file: 'f', output: '', seconds: 1, tests: tests.map(([name, failure]) => ({ name, seconds: 1, ...(failure ? { failure } : {}) })) })
  const check = (first, second, expected) => assert.deepEqual(merge(made(...first), made(...second)).tests.map(({ name, failure, flaky }) => [name, failure, flaky]), expected)
  check([['a'], ['b', 'why']], [['a'], ['b', 'still']], [['a', undefined, undefined], ['b', 'still', undefined]])
  check([['a'], ['b', 'why']], [['a', 'now'], ['b']], [['a', undefined, 'now'], ['b', undefined, 'why']])
  check([['the file', 'crashed']], [['a']], [['a', undefined, undefined], ['the file', undefined, 'crashed']])
  check([['a', 'why'], ['b']], [['the file', 'crashed']], [['the file', 'crashed', undefined], ['a', 'why', undefined], ['b', undefined, undefined]])
})

test('times are those of each test, and of each file', () => {
  const xml = junit([{ file: 'tests/a.test.mjs', seconds: 3.5, tests: [{ name: 'one', seconds: 1.25 }, { name: 'two', seconds: 2 }] }])
  assert.match(xml, /<testsuites name="javascript" tests="2" failures="0" errors="0" skipped="0" time="3\.500">\n *<testsuite name="tests\/a\.test\.mjs" tests="2" failures="0" errors="0" skipped="0" time="3\.500">/)
  assert.match(xml, /<testcase classname="tests\/a\.test\.mjs" name="one" time="1\.250"\/>/)
})
