import { isDeepStrictEqual } from 'node:util'
import { isGranular, partsOf, textOf } from './fields.ts'
import type { FieldSet, Names, Path } from './fields.ts'

export interface Comparison {
  added: FieldSet
  modified: FieldSet
  removed: FieldSet
}

/** In which fields an object differs from the one before (structured-merge-diff, `Compare`). */
export function compared(before: unknown, after: unknown): Comparison {
  const [added, modified, removed] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const isNothing = (value: unknown): boolean =>
    value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
  const walk = (left: unknown, right: unknown, names: Names, path: Path): void => {
    const isLeaf =
      !isGranular(right ?? left, names) ||
      (isNothing(left) && isNothing(right)) ||
      (left !== undefined &&
        left !== null &&
        right !== undefined &&
        right !== null &&
        Array.isArray(left) !== Array.isArray(right))
    if (!isLeaf) descend(left, right, names, path)
    if (path.length === 0) return
    if (left === undefined) added.add(textOf(path))
    else if (right === undefined) removed.add(textOf(path))
    else if (isLeaf && !isDeepStrictEqual(left, right)) modified.add(textOf(path))
  }
  const descend = (left: unknown, right: unknown, names: Names, path: Path): void => {
    const [one, other] = [grouped(left, names), grouped(right, names)]
    for (const element of new Set([...one.keys(), ...other.keys()])) {
      const [lefts, rights] = [one.get(element) ?? [], other.get(element) ?? []]
      const next = [...path, element]
      if (lefts.length < 2 && rights.length < 2)
        walk(lefts[0]?.value, rights[0]?.value, (lefts[0] ?? rights[0])!.names, next)
      // items with the same keys are one field together
      else if (lefts.length > 1 && rights.length > 1) {
        if (
          !isDeepStrictEqual(
            lefts.map((it) => it.value),
            rights.map((it) => it.value),
          )
        )
          modified.add(textOf(next))
      } else {
        const [isNew, single] = [
          rights.length > 1,
          [...lefts, ...rights].find((it) => [lefts, rights].some((all) => all.length === 1 && all[0] === it)),
        ]
        if (single) walk(isNew ? single.value : undefined, isNew ? undefined : single.value, single.names, next)
        ;(isNew ? added : removed).add(textOf(next))
      }
    }
  }
  walk(before, after, [], [])
  return { added, modified, removed }
}

function grouped(value: unknown, names: Names): Map<string, ReturnType<typeof partsOf>> {
  const groups = new Map<string, ReturnType<typeof partsOf>>()
  for (const part of partsOf(value, names)) groups.set(part.element, [...(groups.get(part.element) ?? []), part])
  return groups
}
