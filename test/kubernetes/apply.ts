import { elementOf, isGranular, isMembers, keysOf } from './fields.ts'
import type { Names } from './fields.ts'

/** What a live object becomes where a configuration is laid over it (structured-merge-diff, `Merge`). */
export function merged(live: unknown, config: unknown, names: Names = []): unknown {
  if (config === undefined) return live
  if (!isGranular(config, names)) return config
  if (Array.isArray(config))
    return Array.isArray(live) && keysOf(names) !== null ? mergedLists(live, config, names) : config
  const [now, next] = [isMembers(live) ? live : {}, isMembers(config) ? config : {}]
  const all = new Set([...Object.keys(now), ...Object.keys(next)])
  return Object.fromEntries([...all].map((key) => [key, merged(now[key], next[key], [...names, key])]))
}

/**
 * In the order of the configuration; what it does not have stays where it was among the others. Goes through both at
 * once: of two that are alike in the live list, the second one makes room for what the configuration has next.
 */
function mergedLists(live: readonly unknown[], config: readonly unknown[], names: Names): unknown[] {
  const [left, right] = [live, config].map((all) => all.map((item) => ({ key: elementOf(item, names), item }))) as [
    Item[],
    Item[],
  ]
  const inConfig = new Set(right.map(({ key }) => key))
  const shared = right.map(({ key }) => key).filter((key) => left.some((it) => it.key === key))
  const taken = new Set<string>()
  const result: unknown[] = []
  const take = ({ key, item }: Item): void => {
    const same = left.filter((it) => it.key === key)
    // of several that are alike none is taken up
    result.push(merged(same.length === 1 ? same[0]!.item : undefined, item, names))
    taken.add(key)
  }
  for (let [at, next, awaited] = [0, 0, 0]; at < left.length || next < right.length; ) {
    const [one, other] = [left[at], right[next]]
    if (one && !inConfig.has(one.key)) {
      result.push(one.item)
      at += 1
      continue
    }
    // one that the configuration has elsewhere is taken there
    if (one && other && one.key !== other.key && shared[awaited] !== undefined && shared[awaited] !== one.key) {
      at += 1
      continue
    }
    if (one && (taken.has(one.key) || one.key === other?.key)) at += 1
    if (!other) continue
    take(other)
    next += 1
    if (shared[awaited] === other.key) awaited += 1
  }
  return result
}

interface Item {
  key: string
  item: unknown
}
