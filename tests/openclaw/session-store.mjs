// Changes a session store with the real OpenClaw's own function, for the tests of `store`.
//
//   node session-store.mjs PACKAGE STORE KEY TIMES    counts up `theirs` of an entry, TIMES times
//
// A line `waits` says that somebody else's lock was found, `done` that all is written.
// PACKAGE is the folder of an installed OpenClaw whose sessions are JSON, as tests/tools/openclaw/node_modules/openclaw.
import fs from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, store, key, times] = process.argv.slice(2)
// It asks for a lock's age when it cannot have it.
const { stat } = fs.promises
fs.promises.stat = (path, ...rest) => {
  if (String(path).endsWith('.lock')) console.log('waits')
  return stat(path, ...rest)
}
const { updateSessionStore } = await import(pathToFileURL(join(resolve(folder), 'dist/config/sessions/store.js')).href)
for (let time = 0; time < Number(times); time += 1) {
  await updateSessionStore(store, sessions => {
    sessions[key] = { ...sessions[key], theirs: (sessions[key]?.theirs ?? 0) + 1, updatedAt: Date.now() }
  })
}
console.log('done')
