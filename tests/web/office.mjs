// A made-up office: so many sessions in so many rooms, always the same ones, in all states.

const TITLES = ['Fix token refresh with clock skew', 'Move the queue to SQLite', 'Why is the first page slow', 'Add a rate limit to search', 'Dark mode flashes white', 'Explain the cache layer', 'Remove the old billing code', 'Flaky login test', 'Upgrade to Node 26', 'Draft the release notes', 'Why does CI fail on arm64', 'Type the config loader']
const PROJECTS = ['harbor-api', 'tidepool-web', 'almanac', 'meadow-ios', 'lantern-cli', 'quarry-db', 'ferry-ops', 'orchard-ml', 'cobalt-ui', 'ember-auth', 'delta-sync', 'fjord-etl', 'juniper-docs']
const TOOLS = [['Bash', 'Run the tests'], ['Edit', 'src/token.rs'], ['Read', 'config.rs'], ['Grep', 'refresh_token'], ['WebFetch', 'docs.rs'], ['TodoWrite', '4 of 7 done'], ['Write', 'notes.md']]
const HELPERS = [['Find the callers', 'Grep'], ['Read the tests', 'Read'], ['Run the suite', 'Bash'], ['Check the docs', 'WebFetch'], ['Look at CI', 'Bash']]
/** None of them leaves for having done nothing, however long a test takes. */
const STAYS = 3_600_000

/** Actors of the world; the first ones need the person, the next failed, and for the next it is the person's turn. */
export function office(count, { needs = count <= 5 ? 1 : count <= 24 ? 3 : 6, failed = count <= 5 ? 1 : 2, turns = count <= 5 ? 1 : 3, hasSubs = true } = {}) {
  let seed = count * 7 + 3
  const chance = () => ((seed = (seed * 1103515245 + 12345) % 2147483648), seed / 2147483648)
  const rooms = count <= 5 ? 3 : count <= 24 ? 7 : 13
  return Array.from({ length: count }, (_, at) => {
    const project = count <= 5 ? PROJECTS[[0, 2, 1, 1, 0][at]] : PROJECTS[Math.floor(chance() ** 1.3 * rooms)]
    const [tool, detail] = TOOLS[Math.floor(chance() * TOOLS.length)]
    const mood = chance()
    const one = {
      id: `s${at}`, title: TITLES[at % TITLES.length], project, path: `/home/sam/code/${project}`, branch: 'main', tool, detail, state: mood < 0.4 ? 'tool_use' : mood < 0.62 ? 'thinking' : mood < 0.8 ? 'responding' : 'idle',
      last: Date.now() + STAYS, since: Date.now() - (count - at) * 61_000, context: Math.floor((at % 9 === 2 ? 0.95 : at % 7 === 3 ? 0.83 : chance() * 0.7) * 200_000), cost: chance() * chance() * 20, subagents: [],
    }
    if (at < needs) return { ...one, state: 'waiting_permission', tool: at % 3 ? 'Bash' : 'Edit', detail: at % 3 ? 'git push origin main' : 'src/token.rs', words: undefined }
    if (at < needs + failed) return { ...one, state: 'failed', detail: 'API error 529: overloaded', tool: undefined }
    if (at < needs + failed + turns) return { ...one, state: 'waiting_input', detail: undefined, tool: undefined }
    if (!hasSubs || one.state === 'idle' || chance() > (count <= 5 ? 1 : 0.17)) return one
    const helpers = HELPERS.slice(0, count <= 5 ? 3 : 1 + Math.floor(chance() * 5)).map(([name, helper], number) => ({ id: `t${number}`, name, tool: helper, since: Date.now() - 120_000 }))
    return { ...one, state: 'tool_use', tool: 'Agent', detail: 'Find the callers', subagents: helpers }
  })
}

/** The same as live sessions, as the event stream tells them. */
export function liveOffice(count, options) {
  return office(count, options).map((one, at) => ({
    sessionId: idOf(at), label: one.title, project_name: one.project, projectPath: one.path, gitBranch: 'main', model: 'claude-opus-4-5', pid: 1000 + at, contextTokens: one.context, hasTranscript: true, lastActivity: Date.now() - 60_000,
    activity: { state: one.state, tool: one.tool, detail: one.detail, asking: one.state === 'waiting_permission' ? one.detail : undefined, since: new Date(one.since).toISOString(), evidence: 'registry' },
    subagents: one.subagents.map(sub => ({ taskId: sub.id, description: sub.name, toolName: sub.tool })),
  }))
}

/** Has a page see these sessions live, and in the list; it asks the server for neither. */
export async function showLive(page, live) {
  const rows = live.map(one => ({
    agents: 0, archived: false, context: one.contextTokens, gone: false, hidden: false, id: one.sessionId, messages: 12, pinned: false, running: true, tags: [], title: one.label, project: one.project_name, path: one.projectPath,
    branch: 'main', cost: 1.25, last: one.lastActivity, created: one.lastActivity - 60_000, state: one.activity.state,
  }))
  await page.route('**/api/v1/rows*', route => route.fulfill({ json: { rows, next: null } }))
  await page.addInitScript(live => {
    window.EventSource = class extends EventTarget {
      constructor() {
        super()
        setTimeout(() => this.dispatchEvent(Object.assign(new Event('sessions-refresh'), { data: JSON.stringify({ sessions: live }) })))
      }
      close() {}
    }
  }, live)
}

function idOf(at) {
  return `${String(at + 1).padStart(8, '0')}-0000-4000-8000-000000000001`
}
