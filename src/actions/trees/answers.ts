import type { MigrationItem } from '../../core/api-control.ts'
import type { FailedItem, TreeAccount } from '../../core/repair.ts'
import { isObject } from '../../core/shape.ts'

/** The first and the last of some places in the action's list. */
type Range = readonly [first: number, last: number]

/** The results of some items, by their position in the action's list, as the journal keeps them. */
export interface Answered {
  event: 'answered'
  accepted: readonly number[]
  failed: readonly Failure[]
  /** Positions that are requested next, so that a resumed run knows what the service may have accepted */
  asking?: readonly Range[]
  /** Positions that were recorded as requested, but were not */
  unasked?: readonly Range[]
}

export interface Failure {
  item: number
  /** HTTP status; 0: no answer */
  status: number
  message: string
  /** Whether the service accepted it is unknown */
  unknown?: true
}

/** What the journal knows of each item. */
export interface Answers {
  accepted: ReadonlySet<number>
  failed: ReadonlyMap<number, Failure>
  /** How often the service may have accepted each item without this program knowing; missing: 0 */
  maybe: ReadonlyMap<number, number>
}

/** The most times that one run makes a call if its result is unknown */
export const mostTimes = 2

/**
 * Reads the notes of one step for a list of `items` items, oldest first. Long ranges cost nothing extra: each item is
 * counted once.
 */
export function answersIn(notes: readonly string[], items: number): Answers {
  const accepted = new Set<number>()
  const failed = new Map<number, Failure>()
  // what each item has more than the one before it
  const steps = new Int32Array(items + 1)
  const add = ([first, last]: Range, times: number): void => {
    steps[first]! += times
    steps[last + 1]! -= times
  }
  for (const note of notes.flatMap(answeredIn)) {
    for (const item of note.accepted) {
      accepted.add(item)
      failed.delete(item)
    }
    for (const failure of note.failed) {
      failed.set(failure.item, failure)
      if (failure.unknown !== true) add([failure.item, failure.item], -1)
    }
    for (const range of note.unasked ?? []) add(range, -1)
    for (const range of note.asking ?? []) add(range, 1)
  }
  return { accepted, failed, maybe: summed(steps.subarray(0, items)) }
}

function answeredIn(note: string): Answered[] {
  try {
    const value: unknown = JSON.parse(note)
    return isObject(value) && value['event'] === 'answered' ? [value as unknown as Answered] : []
  } catch {
    return []
  }
}

function summed(steps: Int32Array): Map<number, number> {
  const sums = new Map<number, number>()
  let sum = 0
  for (const [item, step] of steps.entries()) {
    sum += step
    if (sum !== 0) sums.set(item, sum)
  }
  return sums
}

/** The same positions as ranges. */
export function rangesOf(items: readonly number[]): Range[] {
  const ranges: [number, number][] = []
  for (const item of items) {
    const range = ranges.at(-1)
    if (range?.[1] === item - 1) range[1] = item
    else ranges.push([item, item])
  }
  return ranges
}

/** True if the service as a whole fails, rather than refuse this item: worth another try later. */
export function isTrouble({ status }: Pick<Failure, 'status'>): boolean {
  return status === 0 || status === 429 || status >= 500
}

/** The positions still to request; those that failed before come last, so that they delay nothing else. */
export function leftOf(
  items: readonly MigrationItem[],
  { accepted, failed, maybe }: Answers,
): { fresh: number; left: number[] } {
  const mayBeAsked = (item: number): boolean => (maybe.get(item) ?? 0) < mostTimes
  const fresh = [...items.keys()].filter((index) => !accepted.has(index) && !failed.has(index) && mayBeAsked(index))
  const again = [...failed.values()]
    .filter(isTrouble)
    .map(({ item }) => item)
    .filter(mayBeAsked)
  return { fresh: fresh.length, left: [...fresh, ...again.sort((a, b) => a - b)] }
}

/** Message for an item without an answer; after a kill between record and call it was requested less often */
const unanswered =
  'testops-admin was interrupted before it recorded an answer to this call, which it may have made twice. The ' +
  'service may have accepted it'

/** The counts and failures so far, for the report. */
export function accountOf(items: readonly MigrationItem[], notes: readonly string[]): TreeAccount {
  const { accepted, failed, maybe } = answersIn(notes, items.length)
  const lost = [...maybe]
    .filter(([item, times]) => times >= mostTimes && !accepted.has(item) && !failed.has(item))
    .map(([item]) => ({ item, status: 0, message: unanswered }))
  const failures = [...failed.values(), ...lost].sort((a, b) => a.item - b.item)
  return {
    requested: items.length,
    accepted: accepted.size,
    skipped: items.length - accepted.size - failures.length,
    failed: failures.flatMap((it) => failedItem(items[it.item], it)),
  }
}

function failedItem(item: MigrationItem | undefined, { status, message }: Failure): FailedItem[] {
  if (!item) return []
  const { project, tree } = item
  return [{ project, ...(tree !== null && { tree }), status, message }]
}

/** `project 3`, `project 3 or its tree 12` */
export function missingIn({ project, tree }: MigrationItem): string {
  return `project ${project}${tree === null ? '' : ` or its tree ${tree}`}`
}
