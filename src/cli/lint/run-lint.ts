import { resolve } from 'node:path'
import { AdminError } from '../../core/error.ts'
import { isDayOver } from '../../core/local-time.ts'
import { closestTo, didYouMean } from '../../core/nearest.ts'
import { commaList, command, nested, sentence } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import type { FailOn } from '../../engine/report.ts'
import { exitCodeOf } from '../../engine/report.ts'
import type { RuleId } from '../../knowledge/result-rules.ts'
import { ruleIds } from '../../knowledge/result-rules.ts'
import type { LintDocument, LintFix, LintSeverity } from '../../output/lint/document.ts'
import { printable } from '../../output/text.ts'
import { distinctDirectories } from '../../results/lint.ts'
import type { LintOptions } from '../../results/problem.ts'
import type { IgnoredRule, Level, LintSettings } from '../../runtime/lint/index.ts'
import { agentLogs, hasEnded, levels, lintSettings, markOf } from '../../runtime/lint/index.ts'
import { interruptible, withInterrupts } from '../interrupt.ts'
import type { Teller } from '../repair/progress.ts'
import { tellerOn } from '../repair/progress.ts'
import { lintDocument } from './document.ts'

interface Judging {
  failOn: FailOn
  /** More warnings than this exit with 1; null if `failOn` alone judges warnings */
  maxWarnings: number | null
}

interface JudgingFlags {
  ci: boolean
  'max-warnings'?: number | undefined
  'fail-on': FailOn
}

/**
 * Returns how to judge warnings. Flags override settings; `--ci` allows none unless a flag or setting says otherwise.
 */
export function judgingOf(
  { ci, 'max-warnings': flag, 'fail-on': failOn }: JudgingFlags,
  ofSettings: number | undefined,
): Judging {
  if (flag !== undefined) return { failOn, maxWarnings: flag }
  if (failOn === 'error') return { failOn, maxWarnings: null }
  return { failOn, maxWarnings: ofSettings ?? (ci ? 0 : null) }
}

/** Returns 0 to 3, as `doctor` does (DESIGN.md 3). A result that a corrected copy lacks counts as unknown. */
export function lintExitCode(
  {
    summary,
    undeterminedCount,
    fix,
  }: { summary: Record<LintSeverity, number> } & Pick<LintDocument, 'undeterminedCount' | 'fix'>,
  { failOn, maxWarnings }: Judging,
): 0 | 1 | 2 | 3 {
  const lacking = fix?.omitted.filter(({ file }) => /^[^/]*-result\.json$/.test(file)).length ?? 0
  if (maxWarnings !== null && summary.warning > maxWarnings) return 1
  return exitCodeOf(
    {
      summary: {
        error: summary.error,
        warning: maxWarnings === null ? summary.warning : 0,
        unknown: undeterminedCount + lacking,
      },
    },
    failOn,
  )
}

/** True if the warnings alone lead to an exit code other than 0. */
export function areWarningsFailures({ summary }: { summary: Record<LintSeverity, number> }, judging: Judging): boolean {
  return lintExitCode({ summary: { ...summary, error: 0 }, undeterminedCount: 0 }, judging) !== 0
}

/** The flags that say what to judge, and how. */
interface WantedFlags {
  previous?: string | undefined
  'agent-log'?: readonly string[] | undefined
  rule?: readonly string[] | undefined
  settings?: string | undefined
  fix: boolean
  output?: string | undefined
}

interface Wanted {
  options: LintOptions
  settings: LintSettings | null
  /** Directory for the corrected copy; null if none is wanted */
  output: string | null
}

/**
 * Returns what flags and settings ask for; flags override settings. Throws USAGE, CONFIGURATION, and what `agentLogs`
 * throws.
 */
async function wantedLint(names: readonly string[], flags: WantedFlags): Promise<Wanted> {
  if (names.length === 0 || names.includes(''))
    throw new AdminError(
      'USAGE',
      'specify the results directory: the one where the tests write their `*-result.json` files',
      ['testops-admin lint-results build/results', 'testops-admin lint-results --help'],
    )
  const output = outputOf(names, flags)
  const asked = (flags.rule ?? []).map(ruleFlag)
  const directories = distinctDirectories(names)
  const settings =
    flags.settings === 'none'
      ? null
      : await lintSettings({
          file: flags.settings ?? null,
          directories,
          workingDirectory: process.cwd(),
          home: process.env.HOME,
          environment: process.env,
        })
  const severities = new Map([...(settings?.rules ?? []), ...asked])
  // the logs may be missing if the rule that reads them is off
  const logs = severities.get('files-before-agent') === 'off' ? [] : (flags['agent-log'] ?? settings?.agentLogs ?? [])
  return {
    output,
    settings,
    options: {
      directories,
      previous: flags.previous ?? settings?.previous ?? null,
      agentLogs: await agentLogs(logs),
      severities,
      changing: settings?.changing ?? [],
    },
  }
}

function outputOf(names: readonly string[], { fix, output }: WantedFlags): string | null {
  if (!fix && output === undefined) return null
  if (!fix)
    throw new AdminError(
      'USAGE',
      '--output needs --fix: only --fix writes a corrected copy to the directory given with --output',
      [typed(['--fix', '--output', output!])],
    )
  if (names.length > 1)
    throw new AdminError(
      'USAGE',
      '--fix takes one directory at a time',
      names.map((name) => typed(['testops-admin', 'lint-results', name, '--fix', '--output', mendedOf(name)])),
    )
  if (output === undefined || output === '')
    throw new AdminError(
      'USAGE',
      '--fix never changes the original: name a directory for the corrected copy with --output',
      [typed(['testops-admin', 'lint-results', names[0]!, '--fix', '--output', mendedOf(names[0]!)])],
    )
  return output
}

/** Returns a name beside the directory's. Resolves `.` and the like first, which do not show the directory's name. */
function mendedOf(name: string): string {
  return `${/(?:^|\/)\.{1,2}\/*$/.test(name) ? resolve(name) : name.replace(/(?<!\/)\/+$/, '')}-mended`
}

/** Reads a rule and its level, such as `ID=off`. Throws USAGE. */
function ruleFlag(text: string): [RuleId, Level] {
  const [id = '', level, ...more] = text.split('=')
  const form = command`--rule ${isRule(id) ? id : 'ID'}=${levels.join('|')}`
  if (!isRule(id))
    throw new AdminError('USAGE', `--rule: unknown rule \`${id}\`; ${closestTo(id, ruleIds)}`, [
      form,
      sentence`rules: ${nested(commaList(ruleIds))}`,
    ])
  if (level === undefined) throw new AdminError('USAGE', `--rule ${id}: the level is missing`, [form])
  if (more.length > 0 || !isLevel(level)) {
    const hint = didYouMean(level, levels)
    throw new AdminError(
      'USAGE',
      `--rule ${text}: the level must be ${levels.slice(0, -1).join(', ')} or ` +
        `${levels.at(-1)}${hint ? `; ${hint}` : ''}`,
      [form],
    )
  }
  return [id, level]
}

function isRule(text: string): text is RuleId {
  return (ruleIds as readonly string[]).includes(text)
}

function isLevel(text: string): text is Level {
  return (levels as readonly string[]).includes(text)
}

type LintFlags = WantedFlags & JudgingFlags

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
    const { today, ended } = byDay(settings?.ignore ?? [])
    for (const { rule, until } of ended.filter(({ rule }) => report.counts.has(rule)))
      teller.say(`The settings ignored the rule ${rule} until ${until}.`)
    const document = lintDocument(report, {
      severities: options.severities,
      ignored: today,
      ...(settings && { settings: settings.file }),
      ...(fix && { fix }),
      workingDirectory: process.cwd(),
    })
    return { document, judging, exitCode: lintExitCode(document, judging) }
  } finally {
    teller.clear()
  }
}

/** Separates the rules that are ignored today from those whose last day is over. Of a rule, its last day counts. */
function byDay(all: readonly IgnoredRule[]): { today: IgnoredRule[]; ended: IgnoredRule[] } {
  const last = new Map<string, IgnoredRule>()
  for (const it of all) if (it.until > (last.get(it.rule)?.until ?? '')) last.set(it.rule, it)
  const isOver = ({ until }: IgnoredRule): boolean => isDayOver(until, Date.now())
  const each = [...last.values()]
  return { today: each.filter((it) => !isOver(it)), ended: each.filter(isOver) }
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
