// Builds the dashboard into dist: scripts and styles named by what is in them, each also compressed with gzip and Brotli.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

/** Files that are smaller gain nothing. */
const WORTH_IT = 512

/** Writes `name.br` and `name.gz` beside every file of the build. */
function precompress(): Plugin {
  let folder = ''
  return {
    name: 'precompress',
    apply: 'build',
    configResolved(config) {
      folder = resolve(config.root, config.build.outDir)
    },
    closeBundle() {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || /\.(br|gz)$/.test(entry.name)) continue
        const file = join(entry.parentPath, entry.name)
        const bytes = readFileSync(file)
        if (bytes.length < WORTH_IT) continue
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
        writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }))
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
      }
    },
  }
}

/** Lets the browser paint nothing before the script has run: an empty page would be drawn for nothing, and white by night. */
function paintOnce(): Plugin {
  return {
    name: 'paint-once',
    transformIndexHtml: { order: 'post', handler: html => html.replace('<script type="module"', '<script type="module" blocking="render"') },
  }
}

const server = process.env.BACKSTORY_URL ?? 'http://127.0.0.1:8787'

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  resolve: {
    alias: {
      'react/jsx-runtime': 'preact/jsx-runtime',
      'react-dom': 'preact/compat',
      react: 'preact/compat',
    },
  },
  build: {
    target: 'es2022',
    outDir: 'dist',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    // What the first screen needs is one file beside its own, however many pages share parts of it.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'base', test: /\/src\/(?:(?:api|live|ui)\/|(?:chat\/command|format|keys|router)\.ts)/ }] } } },
  },
  worker: { format: 'es' },
  server: { proxy: { '/api': server, '/health': server, '^/\\?token=': server } },
  plugins: [paintOnce(), precompress()],
})
