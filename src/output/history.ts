import type { RunState } from '../core/run-summary.ts'
import { paintFor } from './paint.ts'
import type { Screen } from './screen.ts'
import { hang, pad, printable, widthOf } from './text.ts'

/** What `history --json` prints: oldest first. */
export interface HistoryDocument {
  schemaVersion: 1
  deployment: string
  runs: readonly (RunState & { where: 'here' | 'deployment' })[]
  /** journals that are there and cannot be read, and why */
  unreadable: readonly { run: string; reason: string }[]
}

export function historyText({ deployment, runs, unreadable }: HistoryDocument, screen: Screen): string {
  const paint = paintFor(screen)
  if (runs.length + unreadable.length === 0) return `No repair of deployment ${printable(deployment)} is on record here.\n`
  const width = Math.max(0, ...runs.map(({ run }) => widthOf(run)))
  const lines = runs.map(({ run, state, by, done, steps, within, where }) => {
    const word = state === 'done' ? paint.good(state) : state === 'unfinished' ? paint.bad(state) : paint.warn(state)
    const at = within === null ? '' : `, within: ${printable(within)}`
    const place = where === 'deployment' ? ', begun on another machine' : ''
    return `${pad(run, width)}  ${word}  ${done} of ${steps} steps by ${printable(by)}${at}${place}`
  })
  for (const { run, reason } of unreadable) lines.push(...hang(`${run}  `, `cannot be read: ${printable(reason)}`, screen.columns))
  const next = runs.filter(({ state }) => state === 'unfinished')
  if (next.length > 0) lines.push('')
  for (const { run, where } of next) {
    lines.push(`Go on: testops-admin resume ${where === 'deployment' ? '--adopt ' : ''}${run}`)
    if (where === 'here') lines.push(`Take back: testops-admin undo ${run}`)
  }
  return `${lines.join('\n')}\n`
}
