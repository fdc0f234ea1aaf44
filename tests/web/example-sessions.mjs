// What was said in the shop and at the harbor: the sessions that the stories of the pages begin with.

import { idOf, Transcript } from './transcripts.mjs'

const EDIT = { filePath: '/shop/fence.rs', structuredPatch: [{ oldStart: 7, oldLines: 2, newStart: 7, newLines: 2, lines: [' fn paint() {', '-    red()', '+    green()'] }] }
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A fence is painted: a change, what a program printed, and a picture; the id of its session. */
export function paintFence(home) {
  const one = new Transcript(home, 'shop', idOf(1))
  one.prompt('paint the fence green, and do it so that nobody who walks by the harbor at night can ever take it for the wall')
  one.says('I will look **first**. <img src=x onerror=alert(1)> [a link](https://example.com)')
  one.uses('Edit', { file_path: '/shop/fence.rs', old_string: 'red()', new_string: 'green()' }, 'ok', { toolUseResult: EDIT })
  one.uses('Bash', { command: 'cargo test', description: 'Run the tests' }, '\u001b[32mok\u001b[0m\n' + 'line\n'.repeat(60))
  one.add('user', [{ type: 'text', text: 'like this' }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } }])
  one.says('The fence is green.')
  return one.write()
}

/** An answer in Markdown, with what only looks like it. */
export function writeLetter(home) {
  const one = new Transcript(home, 'shop', idOf(3))
  one.prompt('write')
  one.says('| a | b |\n|---|--:|\n| x | 1 &lt; 2 |\n\n1. first\n   - nested\n\n<details>a < b</details>\n\n```rust\nlet a = 1;\n```\n\n[no](javascript:alert(1)) [nor](/etc/passwd) [yes](https://example.com/?a=1&b=2)')
  one.says(`${'>'.repeat(5000)} deep down`)
  return one.write()
}

/** Yesterday's questions at the harbor, so many with their answers; the 78th has a needle. */
export function askAtHarbor(home, count) {
  const many = new Transcript(home, 'harbor', idOf(2), Date.now() - 90_000_000)
  for (let at = 0; at < count; at++) {
    many.prompt(`question ${at}`)
    many.says(`answer ${at}${at === 77 ? ' with the needle' : ''}`)
  }
  return many.write()
}
