// The dashboard over HTTPS, with a certificate that a person gives.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { Home } from './scratch-home.mjs'
import { idOf, Transcript } from './transcripts.mjs'

const home = await Home.open()
let ca
before(async () => {
  const [key, certificate] = ['key.pem', 'certificate.pem'].map(name => join(home.path, name))
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=backstory -addext subjectAltName=IP:127.0.0.1,DNS:mac.example'
  execFileSync('openssl', [...words.split(' '), '-keyout', key, '-out', certificate], { stdio: 'pipe' })
  ca = readFileSync(certificate)
  const one = new Transcript(home, 'shop', idOf(1))
  one.prompt('paint the fence green')
  one.write()
  await home.serve('--tls-certificate', certificate, '--tls-key', key)
})
afterEach(() => home.closePages())
after(() => home.close())

/** Asks over a connection whose certificate is checked. */
const ask = (path, options = {}) =>
  new Promise((done, failed) => {
    const asked = request(home.address + path, { ca, ...options }, answer => {
      let body = ''
      answer.on('data', piece => (body += piece)).on('end', () => done({ status: answer.statusCode, headers: answer.headers, body }))
    })
    asked.on('error', failed).end()
  })

test('the link is encrypted, and the cookie never travels in the clear', async () => {
  assert.match(home.link, /^https:\/\/127\.0\.0\.1:\d+\/\?token=/)
  assert.equal((await ask('/health')).body, '{"status":"healthy"}')
  assert.equal((await ask('/api/v1/rows')).status, 401)
  // A browser has compared a name with the certificate; an origin in the clear is another one.
  assert.equal((await ask('/health', { headers: { host: 'mac.example' } })).status, 200)
  const stranger = { host: 'mac.example', origin: 'http://mac.example' }
  assert.equal((await ask('/health', { headers: stranger })).status, 403)
})

test('who talks in the clear, or says nothing, hears nothing', async () => {
  const heard = await new Promise(done => {
    let text = ''
    const socket = connect(Number(new URL(home.address).port), '127.0.0.1', () => socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'))
    socket.on('data', piece => (text += piece)).on('close', () => done(text)).on('error', () => {})
  })
  assert.ok(!heard.includes('HTTP/1.1'), heard)
})

test('a browser signs in, and follows what happens', async () => {
  const page = await home.browse({ ignoreHTTPSErrors: true })
  const [cookie] = await page.context().cookies()
  assert.deepEqual([cookie.secure, cookie.httpOnly, cookie.sameSite], [true, true, 'Strict'])
  await page.goto(home.address)
  await page.getByRole('link', { name: /paint the fence green/ }).waitFor()
  const two = new Transcript(home, 'shop', idOf(2), Date.now() - 1000)
  two.prompt('now the gate')
  two.write()
  await page.getByRole('link', { name: /now the gate/ }).waitFor()
  assert.deepEqual(page.complaints, [])
})
