// What becomes of a file's tests when it was run twice. Pure.

/** A test that passed in one of two runs has passed, and is flaky. */
export function merge(first, second) {
  const before = new Map(first.tests.map(test => [test.name, test]))
  const tests = second.tests.map(test => {
    const earlier = before.get(test.name)
    before.delete(test.name)
    const failures = [earlier, test].map(one => one?.failure).filter(Boolean)
    return failures.length === 1 && earlier ? flaky(test, failures[0]) : test
  })
  // What was there the first time alone: the failure of the file itself, or a test that the second run did not reach.
  for (const test of before.values()) tests.push(test.failure && !tests.some(one => one.failure) ? flaky(test, test.failure) : test)
  return { ...second, tests, seconds: first.seconds + second.seconds }
}

function flaky({ failure, ...test }, why) {
  return { ...test, flaky: why }
}
