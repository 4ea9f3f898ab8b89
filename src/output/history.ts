import type { NamedFile } from '../core/deployment.ts'
import type { RunState } from '../core/run-state.ts'
import { undoCommand } from '../core/run-state.ts'
import { onDeployment } from '../core/typed.ts'
import { paintFor } from './paint.ts'
import type { Screen } from './paint.ts'
import { hang, pad, printable, widthOf } from './text.ts'
import { command, nested } from '../core/shell-command.ts'

/** What `history --json` prints: oldest first. */
export interface HistoryDocument {
  schemaVersion: 1
  deployment: string
  /**
   * `copyGone`: the deployment no longer has its copy of a run that is unfinished here; `misfit`: why this program
   * cannot have written the record
   */
  runs: readonly (RunState & { where: 'here' | 'deployment'; copyGone?: true; misfit?: string })[]
  /** Journals that cannot be read, and why */
  unreadable: readonly { run: string; reason: string }[]
}

export function historyText(
  { deployment, runs, unreadable }: HistoryDocument,
  screen: Screen,
  config?: string,
  file?: NamedFile,
): string {
  const paint = paintFor(screen)
  if (runs.length + unreadable.length === 0) {
    const none = `There is no record of a repair of ${file ? 'file' : 'deployment'} ${printable(deployment)}.`
    return `${hang('', none, screen.columns).join('\n')}\n`
  }
  const width = Math.max(0, ...runs.map(({ run }) => widthOf(run)))
  const lines = runs.flatMap(({ run, state, by, done, steps, within, where, copyGone, misfit, unhealthy }) => {
    const row = (word: string, more: string, painted: (word: string) => string): string[] => {
      const head = `${pad(run, width)}  ${painted(word)}`
      const isShort = width + widthOf(`  ${word}  ${more}`) <= screen.columns
      return isShort ? [`${head}  ${more}`] : [head, ...hang('    ', more, screen.columns)]
    }
    if (misfit !== undefined) return row('belongs to no repair', printable(misfit), paint.warn)
    const at = within === null ? '' : `, in the middle of: ${printable(within)}`
    const left = unhealthy ? `, still not ok: ${unhealthy.map(printable).join(', ')}` : ''
    const place =
      where === 'deployment' ? ', from another machine' : copyGone ? ', most likely finished on another machine' : ''
    const painted = unhealthy
      ? paint.warn
      : state === 'done'
        ? paint.good
        : state === 'unfinished'
          ? paint.bad
          : paint.warn
    return row(
      unhealthy ? 'done, not healthy' : state,
      `${done} of ${steps} steps by ${printable(by)}${at}${left}${place}`,
      painted,
    )
  })
  for (const { run, reason } of unreadable)
    lines.push(...hang(`${printable(run)}  `, `cannot be read: ${printable(reason)}`, screen.columns))
  const next = runs.filter(({ state }) => state === 'unfinished')
  if (next.length > 0) lines.push('')
  const flags = onDeployment(deployment, config, file)
  for (const it of next) {
    if (it.misfit !== undefined)
      lines.push(command`Remove the record of this run: testops-admin discard ${it.run} ${nested(flags)}`)
    else if (it.where === 'deployment')
      lines.push(
        command`Read the record of this run: testops-admin resume --adopt ${it.run} ${nested(flags)} --dry-run`,
      )
    else {
      lines.push(command`Resume: testops-admin resume ${it.run} ${nested(flags)}`)
      lines.push(`${it.onlyCloses ? 'Close' : 'Undo'}: ${undoCommand(it, flags)}`)
    }
  }
  return `${lines.join('\n')}\n`
}
