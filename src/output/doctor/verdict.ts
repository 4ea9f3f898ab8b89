import type { CheckReport, DoctorReport, Remedy } from '../../core/check.ts'
import { moment } from '../../core/format.ts'
import { firstTypedHere, typedHere } from '../error-text.ts'
import { inEnglish } from '../../core/translation.ts'
import type { Say } from '../../core/translation.ts'
import { saying } from '../paint.ts'
import type { Screen } from '../paint.ts'
import { countOf, hang, printable } from '../text.ts'

/** Checks about which the same is said. */
export interface Lot {
  /** The first of them, which speaks for all */
  check: CheckReport
  /** Names of all of them, as typed after `--only` */
  names: readonly string[]
}

/**
 * Groups the checks for which `said` returns the same; each lot stands where its first check does. `all` are the
 * report's checks.
 */
export function lotsOf(
  checks: readonly CheckReport[],
  said: (check: CheckReport) => unknown,
  all: readonly CheckReport[],
): Lot[] {
  const lots = new Map<string, [CheckReport, ...CheckReport[]]>()
  for (const check of checks) {
    const key = JSON.stringify(said(check) ?? { nothingButThis: check.id })
    const lot = lots.get(key)
    if (lot) lot.push(check)
    else lots.set(key, [check])
  }
  return [...lots.values()].map((lot) => ({ check: lot[0], names: namesOf(lot, all) }))
}

/** Returns a lot of one check. */
export function lotOf(check: CheckReport): Lot {
  return { check, names: [check.id] }
}

/**
 * Returns the checks' ids as they are typed after `--only`. A group such as `broker/*` replaces its checks if all of
 * the report's are among them.
 */
function namesOf(checks: readonly CheckReport[], all: readonly CheckReport[]): string[] {
  const names = checks.map(({ id }) => {
    const size = sizeOf(groupOf(id), all)
    return size > 1 && sizeOf(groupOf(id), checks) === size ? `${groupOf(id)}/*` : id
  })
  return [...new Set(names)]
}

function sizeOf(group: string, checks: readonly CheckReport[]): number {
  return checks.filter(({ id }) => groupOf(id) === group).length
}

function groupOf(id: string): string {
  return id.split('/')[0] ?? id
}

/** Returns the last lines: the summary, the exit code, and what to type next. */
export function verdict(told: Told, exitCode: number | null, screen: Screen): string[] {
  const say = saying(screen)
  const code = exitCode === null ? '' : ` ${say(`Exit code ${exitCode}.`)}`
  const lines = hang('', `${summary(told, say)}${code}`, screen.columns)
  const next = exitCode === null ? undefined : nextCommand(told)
  return next ? [...lines, `${say('Next:')} ${printable(next)}`] : lines
}

/** True if a check was judged. Otherwise all are skipped, or there is none, and nothing is known to be healthy. */
export function isJudged({ checks }: Pick<DoctorReport, 'checks'>): boolean {
  return checks.some(({ status, suppressed }) => status !== 'skipped' || suppressed !== undefined)
}

/** Returns the result of the report in one sentence. */
export function summary({ all, stories, unknown, skipped, suppressed, ok }: Told, say: Say = inEnglish): string {
  if (!isJudged({ checks: all })) {
    const why = all.length > 0 ? say(`${skipped.length} skipped`) : say('it has none of these checks')
    return `${say('Nothing was examined:')} ${why}.`
  }
  const errors = stories.filter(({ root }) => root.severity === 'error')
  const warnings = stories.filter(({ root }) => root.severity !== 'error')
  const parts = [
    errors.length > 0 ? `${say(countOf(errors.length, 'problem'))}: ${names(errors.map(({ root }) => root))}` : '',
    warnings.length > 0
      ? `${say(countOf(warnings.length, 'warning'))}: ${names(warnings.map(({ root }) => root))}`
      : '',
    unknown.length > 0
      ? `${say(`${countOf(unknown.length, 'check')} could not be judged`)}: ${namesOf(unknown, all).join(', ')}`
      : '',
  ].filter(Boolean)
  const ignored = suppressed.length > 0 ? say(`${suppressed.length} suppressed`) : ''
  if (parts.length === 0) {
    const others = skipped.length > 0 ? say(`${skipped.length} skipped`) : ''
    return `${say('Healthy:')} ${[say(`${ok.length} ok`), others, ignored].filter(Boolean).join(', ')}.`
  }
  const first = stories.length === 0 ? `${say('No problem found, but')} ` : ''
  return `${first}${[...parts, ignored].filter(Boolean).join('; ')}.`
}

function nextCommand({ stories, unknown }: Told): string | undefined {
  const [story] = stories
  const { remedy, error, docs } = story?.root ?? unknown[0] ?? {}
  const command = remedy?.commands.find((line) => !line.startsWith('#'))
  return command === undefined ? (firstTypedHere(error?.suggestions ?? []) ?? docs) : typedHere(command)
}

function names(checks: readonly { id: string }[]): string {
  return checks.map(({ id }) => id).join(', ')
}

/** One root cause and its consequences. */
export interface Story {
  root: CheckReport
  /** Problems that it causes */
  explained: readonly CheckReport[]
  /** Checks that could not be judged because of it */
  unjudged: readonly CheckReport[]
}

/** A report told by causes: errors first, then warnings; then what could not be determined for a reason of its own. */
interface Told {
  all: readonly CheckReport[]
  stories: readonly Story[]
  unknown: readonly CheckReport[]
  skipped: readonly CheckReport[]
  /** Problems that the configuration ignores */
  suppressed: readonly CheckReport[]
  ok: readonly CheckReport[]
}

export function tell({ checks }: Pick<DoctorReport, 'checks'>): Told {
  const byId = new Map(checks.map((check) => [check.id, check]))
  const withCause = checks.map((check) => ({ check, cause: causeOf(check, byId) }))
  const followers = (root: CheckReport, status: CheckReport['status']): CheckReport[] =>
    withCause
      .filter(({ check, cause }) => check !== root && cause === root && check.status === status)
      .map(({ check }) => check)
  const roots = withCause
    .filter(({ check, cause }) => check.status === 'problem' && cause === check)
    .map(({ check }) => check)
  return {
    all: checks,
    stories: [...roots.filter(isError), ...roots.filter((root) => !isError(root))].map((root) => ({
      root,
      explained: followers(root, 'problem'),
      unjudged: followers(root, 'unknown'),
    })),
    unknown: withCause
      .filter(({ check, cause }) => check.status === 'unknown' && cause.status !== 'problem')
      .map(({ check }) => check),
    skipped: checks.filter(({ status, suppressed }) => status === 'skipped' && !suppressed),
    suppressed: checks.filter(({ suppressed }) => suppressed !== undefined),
    ok: checks.filter(({ status }) => status === 'ok'),
  }
}

/** Follows `because` to the root cause. Only problems count as causes; a check that would cause itself stands alone. */
function causeOf(check: CheckReport, byId: ReadonlyMap<string, CheckReport>): CheckReport {
  const seen = new Set([check.id])
  let cause = check
  for (;;) {
    const next = cause.because === undefined ? undefined : byId.get(cause.because)
    if (next?.status !== 'problem') return cause
    if (seen.has(next.id)) return check
    seen.add(next.id)
    cause = next
  }
}

function isError({ severity }: CheckReport): boolean {
  return severity === 'error'
}

/** Returns what to do about a problem; without a remedy, where to read about it. */
export function remedyOf({ remedy, docs }: CheckReport, say: Say = inEnglish): Pick<Remedy, 'text' | 'commands'> {
  return remedy ?? { text: say(`See ${docs}.`), commands: [] }
}

/** Returns why a check is skipped; for an ignored problem, until when the configuration ignores it, and why. */
export function suppressionText({ suppressed, reason = '' }: CheckReport, say: Say): string {
  return suppressed === undefined ? reason : `${say(`suppressed until ${suppressed.until}:`)} ${suppressed.reason}`
}

/** Maximum number of changes that are shown beside a problem; the newest */
const mostChanges = 5

/**
 * Returns what changed before a problem: a sentence, and a line for each change, oldest first. Null: that was not
 * asked. `other`: a problem that was told before, whose lines are not repeated.
 */
export function changesTold(
  { began, changes }: CheckReport,
  other?: CheckReport,
  say: Say = inEnglish,
): { head: string; lines: readonly { at: string; message: string }[] } | null {
  if (changes === undefined) return null
  const sign = began === undefined ? '' : `${say(`First sign at ${moment(began)}.`)} `
  const when = began === undefined ? 'in the last 24 hours' : 'in the 24 hours before'
  if (changes.length === 0) return { head: `${sign}${say(`No change is known ${when}.`)}`, lines: [] }
  const isSame =
    other?.changes?.length === changes.length &&
    other.changes.every(({ at, message }, index) => at === changes[index]!.at && message === changes[index]!.message)
  if (isSame) return { head: `${sign}${say(`Changed ${when}: the same as above.`)}`, lines: [] }
  const shown = changes.slice(-mostChanges)
  const left = changes.length - shown.length
  return {
    head: `${sign}${say(`Changed ${when}:`)}`,
    lines: [
      ...(left > 0 ? [{ at: '', message: say(`${countOf(left, 'earlier change')}: see --json`) }] : []),
      ...shown.map(({ at, message }) => ({ at: moment(at), message })),
    ],
  }
}

/** What the remedy of a problem asks of a person. */
const heads = {
  'by-hand': (id: string, say: Say): string => say(`Repair ${id} by hand:`),
  decision: (id: string, say: Say): string => say(`${id} needs your decision:`),
  wait: (id: string, say: Say): string => say(`${id} needs time, not a repair:`),
  repair: (id: string, say: Say): string => say(`Repair ${id}:`),
} as const

/** Returns what is left to a person, and the commands for it. */
export function leftText({ root, does }: { root: CheckReport; does: keyof typeof heads }, screen: Screen): string {
  const { text, commands } = remedyOf(root, saying(screen))
  const lines = [
    ...hang('', printable(`${heads[does](root.id, saying(screen))} ${text}`), screen.columns),
    ...commands.map((command) => `  ${printable(typedHere(command))}`),
  ]
  return `${lines.join('\n')}\n`
}

/** Returns that a problem which a person was to repair is still there. */
export function stillWrongText(id: string, { startedAt }: DoctorReport, screen: Screen): string {
  const say = saying(screen)
  const told = say(`Still wrong: ${id} (checked at ${moment(new Date(startedAt))}).`)
  return `\n${hang('', told, screen.columns).join('\n')}\n`
}

interface FixTold {
  before: DoctorReport
  after: DoctorReport
  /** What was repaired, and how */
  done: readonly { fix: string; root: string }[]
  tookMs: number
  /** Warnings were to be repaired, too */
  withWarnings: boolean
}

/** Returns what was wrong, what was done about it, how long it took, and what is left. */
export function fixSummary({ before, after, done, tookMs, withWarnings }: FixTold, screen: Screen): string {
  const say = saying(screen)
  const found = tell(before).stories.map(({ root }) => root.id)
  if (found.length === 0) return `\n${say('Nothing to repair.')}\n`
  const left = tell(after).stories.map(({ root }) => root)
  const isMeant = (root: CheckReport): boolean => withWarnings || isError(root)
  const wrong = left.filter(isMeant).map(({ id }) => id)
  const warned = left.filter((root) => !isMeant(root)).map(({ id }) => id)
  const parts = [
    say(`Found: ${found.join(', ')}.`),
    say(`Repaired: ${done.map(({ fix, root }) => `${root} (${fix})`).join(', ') || say('nothing')}.`),
    say(`Took ${Math.max(1, Math.round(tookMs / 1000))} s.`),
    ...(wrong.length === 0 ? [] : [say(`Still wrong: ${wrong.join(', ')}.`)]),
    ...(warned.length === 0 ? [] : [say(`Warnings left: ${warned.join(', ')} (--fix-warnings repairs them too).`)]),
  ]
  return `\n${hang('', printable(parts.join(' ')), screen.columns).join('\n')}\n`
}

/** Returns which problems `--fix --dry-run` has shown no plan for since they are warnings; '' if there is none. */
export function unplannedText(report: Pick<DoctorReport, 'checks'>, withWarnings: boolean, screen: Screen): string {
  const say = saying(screen)
  const stories = tell(report).stories.map(({ root }) => root)
  const warned = withWarnings ? [] : stories.filter((root) => !isError(root)).map(({ id }) => id)
  if (stories.length === 0) return `\n${say('Nothing to repair.')}\n`
  if (warned.length === 0) return ''
  const text = say(`Warnings are left as they are: ${warned.join(', ')} (--fix-warnings repairs them too).`)
  return `\n${hang('', printable(text), screen.columns).join('\n')}\n`
}
