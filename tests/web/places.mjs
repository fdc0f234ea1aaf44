// What all files of these tests agree on: where things are, what time of day it is, and how long a hang is waited for.

import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
export const WEB = join(ROOT, 'web')

/** After so many milliseconds something does not come at all: this decides when a test fails that hangs, and nothing else. */
export const PATIENCE = 180_000

/** A time zone without summer time in which it is about noon: whoever runs this at midnight, all is of one day, and yesterday is
 *  eleven hours away. The tests, the programs and the browsers are all in it. */
export const ZONE = noonZone(new Date().getUTCHours())
process.env.TZ = ZONE

function noonZone(hour) {
  const ahead = 12 - hour
  // The names count to the west.
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
}
