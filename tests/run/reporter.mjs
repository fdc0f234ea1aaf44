// A reporter of `node --test`: a line of JSON for each test, with its time, and why it failed.

import { inspect } from 'node:util'

export default async function* report(events) {
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.details.type === 'suite') continue
    const test = { name: data.name, seconds: data.details.duration_ms / 1000 }
    if (type === 'test:fail') test.failure = inspect(data.details.error.cause ?? data.details.error)
    // One that is still to be done proves nothing either.
    if (data.skip !== undefined || data.todo !== undefined) test.skipped = true
    yield `${JSON.stringify(test)}\n`
  }
}
