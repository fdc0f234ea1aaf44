// What is committed is what is built, and it is as small as promised.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { WEB } from './house.mjs'

const DIST = join(WEB, 'dist')
const run = (program, ...words) => execFileSync(join(WEB, 'node_modules/.bin', program), words, { cwd: WEB, encoding: 'utf8', stdio: 'pipe' })
const files = folder => readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort()
const isPlain = name => !/\.(br|gz)$/.test(name)
const size = names => names.reduce((sum, name) => sum + gzipSync(readFileSync(join(DIST, name)), { level: 9 }).length, 0)

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
  const chunk = (name, ending = 'js') => all.filter(file => new RegExp(`^assets/${name}-[\\w-]{8}\\.${ending}$`).test(file))
  const index = readFileSync(join(DIST, 'index.html'), 'utf8')
  const first = all.filter(name => index.includes(name))
  const check = (what, names, most) => {
    assert.ok(names.length > 0, what)
    const bytes = size(names)
    assert.ok(bytes <= most * 1024, `${what}: ${(bytes / 1024).toFixed(1)} kB of ${most}`)
  }
  check('first script', first.filter(name => name.endsWith('.js')), 30)
  check('first style', first.filter(name => name.endsWith('.css')), 10)
  check('reader', [...chunk('session'), ...chunk('markdown')], 40)
  check('colours', chunk('colours.worker'), 30)
  check('chart', chunk('cost-chart'), 25)
  check('3D', [...chunk('engine'), ...chunk('page')], 150)
})

test('the page holds no script and no style, and names no other place', () => {
  const index = readFileSync(join(DIST, 'index.html'), 'utf8')
  assert.ok(!/<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/.test(index), index)
  for (const name of files(DIST).filter(name => /\.(html|css)$/.test(name))) {
    assert.ok(!/(?:src|href|url|@import)\s*[=(]\s*["']?(?:https?:)?\/\//.test(readFileSync(join(DIST, name), 'utf8')), name)
  }
})
