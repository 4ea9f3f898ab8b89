import { elementOf, isGranular, isMembers, keysOf } from './fields.ts'
import type { Names } from './fields.ts'

/** What a live object becomes where a configuration is laid over it (structured-merge-diff, `Merge`). */
export function merged(live: unknown, config: unknown, names: Names = []): unknown {
  if (config === undefined) return live
  if (!isGranular(config, names)) return config
  if (Array.isArray(config)) return Array.isArray(live) && keysOf(names) !== null ? mergedLists(live, config, names) : config
  const [now, next] = [isMembers(live) ? live : {}, isMembers(config) ? config : {}]
  const all = new Set([...Object.keys(now), ...Object.keys(next)])
  return Object.fromEntries([...all].map((key) => [key, merged(now[key], next[key], [...names, key])]))
}

/** In the order of the configuration; what it does not have stays where it was among the others. */
function mergedLists(live: readonly unknown[], config: readonly unknown[], names: Names): unknown[] {
  const [left, right] = [live, config].map((all) => all.map((item) => ({ key: elementOf(item, names), item })))
  const inConfig = new Set(right!.map(({ key }) => key))
  const shared = right!.filter(({ key }) => left!.some((it) => it.key === key)).map(({ key }) => key)
  const result: unknown[] = []
  let [at, next] = [0, 0]
  for (const { key, item } of right!) {
    for (; at < left!.length; at++) {
      const one = left![at]!
      if (!inConfig.has(one.key)) result.push(one.item)
      // one that the configuration has elsewhere is taken there
      else if (one.key === shared[next]) break
    }
    const same = left!.filter((it) => it.key === key)
    // of several that are alike none is taken up
    result.push(merged(same.length === 1 ? same[0]!.item : undefined, item, names))
    if (key !== shared[next]) continue
    next += 1
    if (left![at]?.key === key) at += 1
  }
  return [...result, ...left!.slice(at).filter(({ key }) => !inConfig.has(key)).map(({ item }) => item)]
}
