// What repositories and forks are called where several share a name: by as much of their paths as tells them apart, and by their
// number. Pure.

export interface Named {
  path?: string | null | undefined
  project?: string | null | undefined
}

export interface Repository {
  path: string
  project: string
}

/** The names of those repositories that share one, by their paths. */
export function ownNames(all: readonly Named[]): Map<string, string> {
  const paths = new Map<string, Set<string>>()
  for (const { path, project } of all) {
    if (!path || !project) continue
    const same = paths.get(project)
    if (same) same.add(path)
    else paths.set(project, new Set([path]))
  }
  const names = new Map<string, string>()
  for (const same of paths.values()) {
    if (same.size > 1) for (const path of same) names.set(path, shortest(path, same))
  }
  return names
}

/** The same, each with a name of its own. */
export function withOwnNames<T extends Named>(all: readonly T[], names = ownNames(all)): T[] {
  if (!names.size) return all as T[]
  return all.map(one => {
    const project = one.path ? names.get(one.path) : undefined
    return project ? { ...one, project } : one
  })
}

/** Finds the repository of a session: that of its row, or, where it has none yet, the one that its directory is in. */
export function repositories(rows: readonly (Named & { id: string })[]): (session: { id: string; path: string }) => Repository | undefined {
  const byId = new Map<string, Repository>()
  const byPath = new Map<string, Repository>()
  for (const { id, path, project } of rows) {
    if (!path || !project) continue
    const known = byPath.get(path) ?? { path, project }
    byPath.set(path, known)
    byId.set(id, known)
  }
  return session => byId.get(session.id) ?? above(session.path).map(path => byPath.get(path)).find(Boolean)
}

/** A directory and those that it is in, the nearest first. */
function above(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, at) => parts.slice(0, parts.length - at).join('/')).filter(Boolean)
}

/** The fewest last parts of a path that no other path ends with. */
function shortest(path: string, all: ReadonlySet<string>): string {
  const parts = path.split('/').filter(Boolean)
  for (let count = 2; count < parts.length; count++) {
    const end = parts.slice(-count).join('/')
    if ([...all].every(other => other === path || !other.endsWith(`/${end}`))) return end
  }
  return path
}

interface Forked {
  id: string
  title?: string | null | undefined
  fork_of?: string | null | undefined
  created?: number | null | undefined
}

/** The titles of forks that are called the same as another session: with their number, the oldest first. */
export function forkTitles(rows: readonly Forked[]): Map<string, string> {
  const found = new Map<string, string>()
  const forks = rows.filter(row => row.fork_of && row.title)
  if (!forks.length) return found
  const counts = new Map<string, number>()
  for (const { title } of rows) if (title) counts.set(title, (counts.get(title) ?? 0) + 1)
  const numbers = new Map<string, number>()
  for (const { id, title } of forks.sort((one, other) => (one.created ?? 0) - (other.created ?? 0))) {
    if (counts.get(title!)! < 2) continue
    const number = (numbers.get(title!) ?? 0) + 1
    numbers.set(title!, number)
    found.set(id, `${title} · fork${number > 1 ? ` ${number}` : ''}`)
  }
  return found
}

/** The same rows, with such titles. */
export function withForkTitles<T extends Forked>(rows: readonly T[], titles = forkTitles(rows)): T[] {
  return titles.size ? rows.map(row => (titles.has(row.id) ? { ...row, title: titles.get(row.id)! } : row)) : (rows as T[])
}
