// What repositories are called where several share a name: by as much of their paths as tells them apart. Pure.

export interface Named {
  path?: string | null | undefined
  project?: string | null | undefined
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

/** The fewest last parts of a path that no other path ends with. */
function shortest(path: string, all: ReadonlySet<string>): string {
  const parts = path.split('/').filter(Boolean)
  for (let count = 2; count < parts.length; count++) {
    const end = parts.slice(-count).join('/')
    if ([...all].every(other => other === path || !other.endsWith(`/${end}`))) return end
  }
  return path
}
