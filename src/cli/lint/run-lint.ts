import type { FailOn } from '../../engine/report.ts'
import type { LintDocument, LintFix } from '../../output/lint/document.ts'
import type { LintOptions } from '../../results/report.ts'
import { hasEnded, markOf } from '../../runtime/lint/index.ts'
import { printable } from '../../output/text.ts'
import { interruptible, withInterrupts } from '../interrupt.ts'
import { tellerOn } from '../repair/progress.ts'
import type { Teller } from '../repair/progress.ts'
import { lintDocument } from './document.ts'
import { judgingOf, lintExitCode } from './exit-code.ts'
import type { Judging } from './exit-code.ts'
import { wantedLint } from './wanted.ts'
import type { WantedFlags } from './wanted.ts'

export interface LintFlags extends WantedFlags {
  ci: boolean
  'max-warnings'?: number | undefined
  'fail-on': FailOn
}

export interface Linted {
  document: LintDocument
  judging: Judging
  exitCode: number
}

/**
 * Judges the directories, or the corrected copy of one. Throws USAGE, CONFIGURATION, INTERRUPTED, and what writing a
 * copy throws.
 */
export async function runLint(names: readonly string[], flags: LintFlags): Promise<Linted> {
  const { options, settings, output } = await wantedLint(names, flags)
  const judging = judgingOf(flags, settings?.maxWarnings)
  const teller = tellerOn(process.stderr)
  try {
    const fix = output === null ? undefined : await mended(options, output, teller)
    const { lintResults } = await import('../../results/lint.ts')
    const progress = (done: number, total: number): void => teller.moving({ done, total, unit: 'files' })
    const directories = output === null ? options.directories : [output]
    const report = await interruptible(async (signal) => lintResults({ ...options, directories, signal, progress }))
    const document = lintDocument(report, {
      severities: options.severities,
      ...(settings && { settings: settings.file }),
      ...(fix && { fix }),
      workingDirectory: process.cwd(),
    })
    return { document, judging, exitCode: lintExitCode(document, judging) }
  } finally {
    teller.clear()
  }
}

async function mended({ directories, severities }: LintOptions, output: string, teller: Teller): Promise<LintFix> {
  const { mendedCopy } = await import('../../results/fix/index.ts')
  const from = directories[0]!
  const off = new Set([...severities].flatMap(([rule, level]) => (level === 'off' ? [rule] : [])))
  const writers = { own: await markOf(process.pid), hasEnded }
  const progress = (done: number, total: number): void => teller.moving({ done, total, unit: 'files copied' })
  const tell = (message: string): void => teller.say(printable(message))
  // an interrupt waits until what was written of the copy is removed
  const report = await withInterrupts(async (signal) =>
    mendedCopy({ from, output, off, writers, signal, tell, progress }),
  )
  return { from, output, ...report, mended: Object.fromEntries(report.mended) }
}
