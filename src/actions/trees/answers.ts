import type { MigrationItem } from '../../core/api-control.ts'
import type { FailedItem, TreeAccount } from '../../core/repair-document.ts'
import { isObject } from '../../core/shape.ts'

/** The first and the last of some places in the action's list. */
type Range = readonly [first: number, last: number]

/** What has come of some items, each by its place in the action's list, as the journal keeps it. */
export interface Answered {
  event: 'answered'
  accepted: readonly number[]
  failed: readonly Failure[]
  /** what is asked for from here on, so that whoever goes on knows what may have been taken */
  asking?: readonly Range[]
  /** what was on record as being asked for, and was not */
  unasked?: readonly Range[]
}

export interface Failure {
  item: number
  /** of HTTP; 0: there was no answer */
  status: number
  message: string
  /** whether it was taken all the same is not known */
  unknown?: true
}

/** What the journal knows of each item. */
export interface Answers {
  accepted: ReadonlySet<number>
  failed: ReadonlyMap<number, Failure>
  /** how often each may have been taken, where that is not known: 0 where it is not in here */
  maybe: ReadonlyMap<number, number>
}

/** A call of which it is not known whether it was taken is made once more at most, in all of a run. */
export const mostTimes = 2

/**
 * Reads the notes of one step on a list of so many items, oldest first. However long the ranges in the notes are, each
 * item is counted once.
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

/** The same places, each run of them as one. */
export function rangesOf(items: readonly number[]): Range[] {
  const ranges: [number, number][] = []
  for (const item of items) {
    const range = ranges.at(-1)
    if (range?.[1] === item - 1) range[1] = item
    else ranges.push([item, item])
  }
  return ranges
}

/**
 * Whether it is the service as a whole that does not do it, rather than this item that it refuses: worth another try
 * later.
 */
export function isTrouble({ status }: Pick<Failure, 'status'>): boolean {
  return status === 0 || status === 429 || status >= 500
}

/**
 * What is still to be asked for, by its place in the list; what failed before comes last, and keeps nothing else
 * waiting.
 */
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

/** killed between what it put on record and the call, it was asked for less often than that */
const unanswered =
  'it may have been requested twice, and no answer is on record: cannot tell whether the service accepted it'

/** How it stands, for the report. */
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

/** `project 3`, `project 3, or no tree 12 in it` */
export function missingIn({ project, tree }: MigrationItem): string {
  return `project ${project}${tree === null ? '' : `, or no tree ${tree} in it`}`
}
