import type { MigrationItem } from '../../core/api-control.ts'
import type { FailedItem, TreeAccount } from '../../core/repair-document.ts'
import { isObject } from '../../core/shape.ts'

/** What has come of some items, each by its place in the action's list, as the journal keeps it. */
export interface Answered {
  event: 'answered'
  accepted: readonly number[]
  failed: readonly Failure[]
}

export interface Failure {
  item: number
  /** of HTTP; 0: there was no answer */
  status: number
  message: string
}

/** What the journal knows of each item. */
export interface Answers {
  accepted: ReadonlySet<number>
  failed: ReadonlyMap<number, Failure>
}

/** Reads the notes of one step, oldest first. */
export function answersIn(notes: readonly string[]): Answers {
  const accepted = new Set<number>()
  const failed = new Map<number, Failure>()
  for (const note of notes.flatMap(answeredIn)) {
    for (const item of note.accepted) {
      accepted.add(item)
      failed.delete(item)
    }
    for (const failure of note.failed) failed.set(failure.item, failure)
  }
  return { accepted, failed }
}

function answeredIn(note: string): Answered[] {
  try {
    const value: unknown = JSON.parse(note)
    return isObject(value) && value['event'] === 'answered' ? [value as unknown as Answered] : []
  } catch {
    return []
  }
}

/** Whether it is the service as a whole that does not do it, rather than this item that it refuses: worth another try later. */
export function isTrouble({ status }: Pick<Failure, 'status'>): boolean {
  return status === 0 || status === 429 || status >= 500
}

/** What is still to be asked for, by its place in the list; what failed before comes last, and keeps nothing else waiting. */
export function leftOf(items: readonly MigrationItem[], { accepted, failed }: Answers): { fresh: number; left: number[] } {
  const fresh = [...items.keys()].filter((index) => !accepted.has(index) && !failed.has(index))
  const again = [...failed.values()].filter(isTrouble).map(({ item }) => item)
  return { fresh: fresh.length, left: [...fresh, ...again.sort((a, b) => a - b)] }
}

/** How it stands, for the report. */
export function accountOf(items: readonly MigrationItem[], notes: readonly string[]): TreeAccount {
  const { accepted, failed } = answersIn(notes)
  const failures = [...failed.values()].sort((a, b) => a.item - b.item)
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
