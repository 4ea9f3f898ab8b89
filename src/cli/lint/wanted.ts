import { resolve } from 'node:path'
import { AdminError } from '../../core/error.ts'
import { closestTo, didYouMean } from '../../core/nearest.ts'
import { typed } from '../../core/typed.ts'
import { ruleIds } from '../../knowledge/result-rules.ts'
import type { RuleId } from '../../knowledge/result-rules.ts'
import { distinctDirectories } from '../../results/directories.ts'
import type { LintOptions } from '../../results/report.ts'
import { agentLogs, levels, lintSettings } from '../../runtime/lint/index.ts'
import type { Level, LintSettings } from '../../runtime/lint/index.ts'
import { commaList, command, nested, sentence } from '../../core/shell-command.ts'

/** The flags that say what to judge, and how. */
export interface WantedFlags {
  previous?: string | undefined
  'agent-log'?: readonly string[] | undefined
  rule?: readonly string[] | undefined
  settings?: string | undefined
  fix: boolean
  output?: string | undefined
}

export interface Wanted {
  options: LintOptions
  settings: LintSettings | null
  /** Directory for the corrected copy; null if none is wanted */
  output: string | null
}

/**
 * Returns what flags and settings ask for; flags override settings. Throws USAGE, CONFIGURATION, and what `agentLogs`
 * throws.
 */
export async function wantedLint(names: readonly string[], flags: WantedFlags): Promise<Wanted> {
  if (names.length === 0 || names.includes(''))
    throw new AdminError('USAGE', 'name the results directory, where the tests write their `*-result.json` files', [
      'testops-admin lint-results build/results',
      'testops-admin lint-results --help',
    ])
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
    throw new AdminError('USAGE', '--output needs --fix, which writes a corrected copy there', [
      typed(['--fix', '--output', output!]),
    ])
  if (names.length > 1)
    throw new AdminError(
      'USAGE',
      '--fix takes one directory at a time',
      names.map((name) => typed(['testops-admin', 'lint-results', name, '--fix', '--output', mendedOf(name)])),
    )
  if (output === undefined || output === '')
    throw new AdminError(
      'USAGE',
      '--fix needs --output: it writes a corrected copy there, and never changes the directory itself',
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
      `--rule ${text}: the level must be ${levels.slice(0, -1).join(', ')} or ${levels.at(-1)}${hint ? `; ${hint}` : ''}`,
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
