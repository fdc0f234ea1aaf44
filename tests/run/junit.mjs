// The results as JUnit's XML: a suite for each file. Pure.

/** A test that passed only once carries a `<flakyFailure>`, as Maven and Jenkins have it, and counts as passed. */
export function junit(results) {
  const all = results.flatMap(({ tests }) => tests)
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="javascript" ${counts(all, seconds)}>\n${results.map(suite).join('')}</testsuites>\n`
}

function counts(tests, seconds) {
  const failed = tests.filter(test => test.failure).length
  const skipped = tests.filter(test => test.skipped).length
  return `tests="${tests.length}" failures="${failed}" errors="0" skipped="${skipped}" time="${seconds.toFixed(3)}"`
}

function suite({ file, tests, seconds }) {
  return `  <testsuite name="${escape(file)}" ${counts(tests, seconds)}>\n${tests.map(test => testCase(file, test)).join('')}  </testsuite>\n`
}

function testCase(file, { name, seconds, failure, flaky, skipped }) {
  const head = `    <testcase classname="${escape(file)}" name="${escape(name)}" time="${seconds.toFixed(3)}"`
  if (failure) return `${head}>\n${reason('failure', failure)}    </testcase>\n`
  if (flaky) return `${head}>\n${reason('flakyFailure', flaky)}    </testcase>\n`
  if (skipped) return `${head}><skipped/></testcase>\n`
  return `${head}/>\n`
}

function reason(tag, text) {
  return `      <${tag} message="${escape(text.split('\n')[0])}">${escape(text)}</${tag}>\n`
}

/** Text as XML may hold it: colours of a terminal are no characters there. */
function escape(text) {
  const names = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/\u001b\[[0-9;]*m/g, '').replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '').replace(/[&<>"]/g, sign => names[sign])
}
