// The rules of the dashboard, bundled for node: what is pure is tested without a browser.

import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { WEB } from './places.mjs'

const MODULES = ['chat/asked', 'chat/command', 'chat/field', 'chat/grouped', 'chat/plan-text', 'chat/reason', 'format', 'live/fold', 'live/names', 'live/overlay', 'live/stream', 'pages/filter', 'pages/hit', 'pages/insights', 'pages/schedule', 'pages/spending', 'pages/stack', 'pages/today', 'palette/score', 'reader/as-markdown', 'reader/diff-rows', 'reader/groups', 'reader/items', 'reader/load', 'reader/window', 'ui/states', 'world/actors', 'world/coins', 'world/crew', 'world/layout', 'world/look', 'world/poses', 'world/replay', 'world/scene', 'world/space']

// What the page's own address keeps is kept nowhere here.
globalThis.localStorage ??= { getItem: () => null, setItem() {}, removeItem() {} }

const require = createRequire(join(WEB, 'package.json'))
const vite = await import(pathToFileURL(require.resolve('vite').replace(/index\.cjs$/, 'dist/node/index.js')))
const outDir = mkdtempSync(join(tmpdir(), 'backstory-rules-'))
await vite.build({
  configFile: false,
  root: WEB,
  logLevel: 'error',
  build: { outDir, emptyOutDir: true, minify: false, target: 'node20', lib: { entry: Object.fromEntries(MODULES.map(name => [name.replace('/', '_'), join(WEB, `src/${name}.ts`)])), formats: ['es'], fileName: (_, name) => `${name}.mjs` } },
})
const load = name => import(pathToFileURL(join(outDir, `${name.replace('/', '_')}.mjs`)))

export const asked = await load('chat/asked')
export const command = await load('chat/command')
export const reason = await load('chat/reason')
export const grouped = await load('chat/grouped')
export const states = await load('ui/states')
export const plan = await load('chat/plan-text')
export const field = await load('chat/field')
export const format = await load('format')
export const live = await load('live/fold')
export const names = await load('live/names')
export const stream = await load('live/stream')
export const overlay = await load('live/overlay')
export const filter = await load('pages/filter')
export const hit = await load('pages/hit')
export const insights = await load('pages/insights')
export const schedule = await load('pages/schedule')
export const spending = await load('pages/spending')
export const stack = await load('pages/stack')
export const today = await load('pages/today')
export const palette = await load('palette/score')
export const diffRows = await load('reader/diff-rows')
export const reader = await load('reader/items')
export const groups = await load('reader/groups')
export const { Loader } = await load('reader/load')
export const asMarkdown = await load('reader/as-markdown')
export const windows = await load('reader/window')
export const actors = await load('world/actors')
export const crew = await load('world/crew')
export const layout = await load('world/layout')
export const look = await load('world/look')
export const replay = await load('world/replay')
export const coins = await load('world/coins')
export const poses = await load('world/poses')
export const { scene } = await load('world/scene')
export const { Space } = await load('world/space')

// All of it has been read.
rmSync(outDir, { recursive: true })
