// Help: every key, from where it is bound, and what the pages are for.

import { Head, Keys } from '../ui/parts.tsx'
import '../style/settings.css'

const KEYS: [string, [string, string][]][] = [
  ['Everywhere', [
    ['Ctrl K', 'Go to a session, a page or a command (⌘ K on a Mac)'],
    ['/', 'Search all sessions'],
    ['n', 'Start a session'],
    ['!', 'Go to the session that has waited longest'],
    ['g h', 'Home'], ['g s', 'Sessions'], ['g f', 'Search'], ['g w', 'World'], ['g p', 'Projects'], ['g c', 'Cost'], ['g j', 'Schedule'], ['g ,', 'Settings'],
    ['?', 'This page'],
  ]],
  ['Sessions and search', [
    ['j k', 'Next, previous'], ['Enter', 'Open'], ['f', 'Filter'], ['m', 'Mark as read'], ['x', 'Hide, or show again'], ['a', 'Copy the command that attaches to a background job'],
  ]],
  ['A session', [
    ['j k', 'Next, previous message'], ['J K', 'Next, previous prompt'], ['G', 'To the end, and follow'],
    ['f', 'Find in the whole session'], ['l', 'All, conversation, or prompts only'], ['i', 'The side column'],
    ['c', 'Write to the session'], ['Esc', 'Back to the list'],
  ]],
  ['A session, in the list or open', [
    ['p', 'Pin'], ['t', 'Tags'], ['r', 'Name'], ['e', 'Note'],
  ]],
  ['World', [
    ['w a s d', 'Move'], ['+ -', 'Nearer, farther'], ['[ ]', 'Previous, next agent'], ['Enter', 'Open its session, as a double click does'],
    ['v', 'Go to the next one that waits'], ['1 2 3', 'List, map, 3D'], ['Space', 'Play or pause a replay'], ['Esc', 'Close the card, then the replay'],
  ]],
]

export function Help() {
  return (
    <>
      <Head title="Help" />
      <div class="content narrow">
        {KEYS.map(([name, all]) => (
          <section key={name} class="section">
            <h2>{name}</h2>
            <table>
              <thead class="hidden">
                <tr>
                  <th>Keys</th>
                  <th>What they do</th>
                </tr>
              </thead>
              <tbody>
                {all.map(([keys, what]) => (
                  <tr key={keys}>
                    <td class="keys">
                      <Keys>{keys}</Keys>
                    </td>
                    <td>{what}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        ))}
        <section class="section">
          <h2>Dots</h2>
          <ul class="legend">
            <li><i class="dot dot-waiting_permission" /> needs you: a permission, a question or a plan</li>
            <li><i class="dot dot-responding" /> working</li>
            <li><i class="dot dot-waiting_input" /> your turn, in a terminal that is open</li>
            <li><i class="dot dot-failed" /> its turn failed with an error of the API</li>
            <li><i class="dot dot-idle" /> idle</li>
            <li><i class="dot dot-lost" /> its process ended without saying so</li>
          </ul>
          <p class="dim">Hover over a dot to see how the state is known.</p>
        </section>
      </div>
    </>
  )
}
