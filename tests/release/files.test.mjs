// What a release says about itself is the same everywhere, and GitHub's workflows hold.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

const ROOT = resolve(import.meta.dirname, '../..')
const read = path => readFileSync(join(ROOT, path), 'utf8')
const VERSION = /^version = "(.*)"$/m.exec(read('Cargo.toml'))[1]

test('every file names the same version', () => {
  assert.equal(JSON.parse(read('plugin/.claude-plugin/plugin.json')).version, VERSION)
  const server = JSON.parse(read('server.json'))
  assert.deepEqual([server.version, ...server.packages.map(one => one.version)], [VERSION, VERSION, VERSION])
  for (const name of [`backstory_${VERSION}-1_amd64.deb`, `backstory-${VERSION}-1.x86_64.rpm`]) assert.ok(read('README.md').includes(name), name)
  assert.ok(read('CHANGELOG.md').includes(`\n## ${VERSION}`))
})

test('the MCP registry takes the entry', () => {
  const server = JSON.parse(read('server.json'))
  assert.ok(server.description.length <= 100)
  assert.ok(read('packaging/description.md').includes(`mcp-name: ${server.name} `))
  assert.ok(read('scripts/packing/npm.py').includes(`"mcpName": "${server.name}"`))
})

test('every platform that npm has is one that the starter finds', () => {
  const list = (path, pattern) => pattern.exec(read(path))[1].replaceAll(/['" ]/g, '').split(',')
  assert.deepEqual(list('packaging/npm/bin/backstory.js', /^const PLATFORMS = \[(.*)\]$/m), list('scripts/packing/npm.py', /^PLATFORMS = \[(.*)\]$/m))
})

test('the workflows hold', () => {
  const files = readdirSync(join(ROOT, '.github/workflows')).map(name => join(ROOT, '.github/workflows', name))
  const { status, stdout, stderr } = spawnSync(join(ROOT, 'tests/tools/actionlint/actionlint'), files, { encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
})
