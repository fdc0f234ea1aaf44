// An npm registry on the loopback interface with the packages of a folder, as `npx` and `npm install` ask it.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, join } from 'node:path'

export class Registry {
  static async open(folder) {
    const packed = readdirSync(folder).filter(name => name.endsWith('.tgz'))
    const registry = new Registry(packed.map(name => join(folder, name)))
    await new Promise(done => registry.server.listen(0, '127.0.0.1', done))
    return registry
  }

  constructor(packed) {
    this.packages = new Map(packed.map(path => [manifestOf(path).name, path]))
    this.server = createServer((request, response) => this.answer(request, response))
  }

  get url() {
    return `http://127.0.0.1:${this.server.address().port}/`
  }

  answer(request, response) {
    const asked = decodeURIComponent(request.url.slice(1))
    const path = [...this.packages.values()].find(one => asked === `files/${basename(one)}`)
    if (path) return response.end(readFileSync(path))
    const known = this.packages.get(asked)
    if (!known) return response.writeHead(404).end('{}')
    response.setHeader('content-type', 'application/json')
    return response.end(JSON.stringify(this.described(known)))
  }

  described(path) {
    const manifest = manifestOf(path)
    const integrity = `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`
    const version = { ...manifest, dist: { tarball: `${this.url}files/${basename(path)}`, integrity } }
    return { name: manifest.name, 'dist-tags': { latest: manifest.version }, versions: { [manifest.version]: version } }
  }

  close() {
    this.server.close()
    this.server.closeAllConnections()
  }
}

function manifestOf(path) {
  return JSON.parse(execFileSync('tar', ['-xzOf', path, 'package/package.json'], { encoding: 'utf8' }))
}
