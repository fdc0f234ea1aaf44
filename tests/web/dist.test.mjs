// What is committed is what is built, and it is as small as promised.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { WEB } from './places.mjs'

const DIST = join(WEB, 'dist')
const run = (program, ...words) => execFileSync(join(WEB, 'node_modules/.bin', program), words, { cwd: WEB, encoding: 'utf8', stdio: 'pipe' })
const files = folder => readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort()
const isPlain = name => !/\.(br|gz)$/.test(name)
const size = names => names.reduce((sum, name) => sum + gzipSync(readFileSync(join(DIST, name)), { level: 9 }).length, 0)

/** Scripts, and all that must be there before they run. */
function withImports(names) {
  const all = new Set(names)
  for (const name of all) {
    const imported = readFileSync(join(DIST, name), 'utf8').matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([^"']+\.js)["']/g)
    for (const [, other] of imported) all.add(`assets/${other}`)
  }
  return [...all]
}

test('a new build gives the same files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-dist-'))
  try {
    run('vite', 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'error')
    assert.deepEqual(files(folder).filter(isPlain), files(DIST).filter(isPlain), 'run `npm run build` in web/')
    for (const name of files(folder).filter(isPlain)) assert.ok(readFileSync(join(folder, name)).equals(readFileSync(join(DIST, name))), `${name}: run \`npm run build\` in web/`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the types of the API are those of its description', () => {
  const made = run('openapi-typescript', '../docs/openapi.json', '--default-non-nullable', 'false')
  assert.equal(readFileSync(join(WEB, 'src/api/schema.d.ts'), 'utf8').trim(), made.trim(), 'run `npm run types` in web/')
})

test('the types agree', () => run('tsc', '--noEmit'))

test('compressed files hold the same', () => {
  for (const name of files(DIST).filter(name => !isPlain(name))) {
    const unpack = name.endsWith('.br') ? brotliDecompressSync : gunzipSync
    assert.ok(unpack(readFileSync(join(DIST, name))).equals(readFileSync(join(DIST, name.replace(/\.\w+$/, '')))), name)
  }
})

test('each part is within its budget', () => {
  const all = files(DIST).filter(isPlain)
  const chunk = name => {
    const found = all.filter(file => new RegExp(`^assets/${name}-[\\w-]{8}\\.js$`).test(file))
    assert.equal(found.length, 1, name)
    return found
  }
  const index = readFileSync(join(DIST, 'index.html'), 'utf8')
  const first = all.filter(name => index.includes(name))
  const check = (what, names, most) => {
    assert.ok(names.length > 0, what)
    const bytes = size(names)
    assert.ok(bytes <= most * 1024, `${what}: ${(bytes / 1024).toFixed(1)} kB of ${most}`)
  }
  check('first script', first.filter(name => name.endsWith('.js')), 30)
  check('first style', first.filter(name => name.endsWith('.css')), 10)
  // What every session shows, and the two parts that come with the first change and the first coloured output.
  const later = names => withImports(names.flatMap(name => chunk(name))).filter(name => !first.includes(name))
  check('reader', later(['session', 'side', 'more-menu', 'compare', 'ansi_up']), 41)
  check('colours', chunk('colours.worker'), 30)
  check('chart', chunk('cost-chart'), 25)
  check('3D', later(['engine', 'page']), 150)
})

test('nothing is painted before the script has run', () => {
  assert.match(readFileSync(join(DIST, 'index.html'), 'utf8'), /<script type="module" blocking="render"/)
})

test('the page holds no script and no style, and names no other place', () => {
  const index = readFileSync(join(DIST, 'index.html'), 'utf8')
  assert.ok(!/<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/.test(index), index)
  for (const name of files(DIST).filter(name => /\.(html|css)$/.test(name))) {
    assert.ok(!/(?:src|href|url|@import)\s*[=(]\s*["']?(?:https?:)?\/\//.test(readFileSync(join(DIST, name), 'utf8')), name)
  }
})
