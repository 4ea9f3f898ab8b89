import type { NamedFile } from '../core/deployment.ts'
import type { RunState } from '../core/run-summary.ts'
import { undoCommand } from '../core/run-state.ts'
import { onDeployment } from '../core/typed.ts'
import { paintFor } from './paint.ts'
import type { Screen } from './screen.ts'
import { hang, pad, printable, widthOf } from './text.ts'

/** What `history --json` prints: oldest first. */
export interface HistoryDocument {
  schemaVersion: 1
  deployment: string
  /** `copyGone`: the deployment kept a copy of what is not finished here, and has it no longer */
  runs: readonly (RunState & { where: 'here' | 'deployment'; copyGone?: true })[]
  /** journals that are there and cannot be read, and why */
  unreadable: readonly { run: string; reason: string }[]
}

export function historyText({ deployment, runs, unreadable }: HistoryDocument, screen: Screen, config?: string, file?: NamedFile): string {
  const paint = paintFor(screen)
  if (runs.length + unreadable.length === 0) return `No repair of ${file ? 'file' : 'deployment'} ${printable(deployment)} is on record here.\n`
  const width = Math.max(0, ...runs.map(({ run }) => widthOf(run)))
  const lines = runs.map(({ run, state, by, done, steps, within, where, copyGone }) => {
    const word = state === 'done' ? paint.good(state) : state === 'unfinished' ? paint.bad(state) : paint.warn(state)
    const at = within === null ? '' : `, within: ${printable(within)}`
    const place = where === 'deployment' ? ', begun on another machine' : copyGone ? ', most likely finished on another machine' : ''
    return `${pad(run, width)}  ${word}  ${done} of ${steps} steps by ${printable(by)}${at}${place}`
  })
  for (const { run, reason } of unreadable) lines.push(...hang(`${run}  `, `cannot be read: ${printable(reason)}`, screen.columns))
  const next = runs.filter(({ state }) => state === 'unfinished')
  if (next.length > 0) lines.push('')
  const flags = onDeployment(deployment, config, file)
  for (const it of next) {
    lines.push(`Go on: testops-admin resume ${it.where === 'deployment' ? '--adopt ' : ''}${it.run} ${flags}`)
    lines.push(`${it.onlyCloses ? 'Close' : 'Take back'}: ${undoCommand(it, flags)}`)
  }
  return `${lines.join('\n')}\n`
}
