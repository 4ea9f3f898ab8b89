import { mergeKeys } from './patch.ts'

type Members = Record<string, unknown>

/** A server-side apply of one manager (kubernetes.io, "Server-Side Apply"). */
export interface Applying {
  /** undefined: there is none yet */
  live: unknown
  /** what this manager applied before: what it leaves out now goes; undefined: nothing */
  last: unknown
  next: unknown
}

/** What it comes to, and the fields in which others have set something else since, as `.spec.replicas`. */
export function applied(applying: Applying): { object: unknown; conflicts: readonly string[] } {
  const conflicts: string[] = []
  const object = merged(applying, '', '', conflicts)
  return { object, conflicts }
}

function merged({ live, last, next }: Applying, field: string, path: string, conflicts: string[]): unknown {
  const key = mergeKeys[field]
  if (Array.isArray(next) && key !== undefined) return mergedList({ live, last, next }, key, path, conflicts)
  if (isMembers(next)) {
    const [now, before] = [isMembers(live) ? live : {}, isMembers(last) ? last : {}]
    const result: Members = { ...now }
    for (const name of Object.keys(before)) {
      if (name in next || !(name in now)) continue
      const left = isMembers(before[name]) ? merged({ live: now[name], last: before[name], next: {} }, name, `${path}.${name}`, conflicts) : {}
      if (isMembers(left) && Object.keys(left).length === 0) delete result[name]
      else result[name] = left
    }
    for (const [name, value] of Object.entries(next)) result[name] = merged({ live: now[name], last: before[name], next: value }, name, `${path}.${name}`, conflicts)
    return result
  }
  if (live !== undefined && !isSame(live, next) && !isSame(live, last)) conflicts.push(path)
  return next
}

/** In the order of who applies; what others have added stays behind it. */
function mergedList({ live, last, next }: Applying & { next: unknown[] }, key: string, path: string, conflicts: string[]): unknown[] {
  const [now, before] = [live, last].map((it) => (Array.isArray(it) ? (it as unknown[]) : [])) as [unknown[], unknown[]]
  const nameOf = (it: unknown): unknown => (isMembers(it) ? it[key] : undefined)
  const within = (all: readonly unknown[], name: unknown): unknown => all.find((it) => nameOf(it) === name)
  const own = next.map((it) => {
    const name = nameOf(it)
    return merged({ live: within(now, name), last: within(before, name), next: it }, '', `${path}[${key}=${JSON.stringify(name)}]`, conflicts)
  })
  return [...own, ...now.filter((it) => within(next, nameOf(it)) === undefined && within(before, nameOf(it)) === undefined)]
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
