import type { Check, CheckReport, DoctorReport } from '../../core/check.ts'
import { judgeAsOf } from '../../core/local-time.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import { moment } from '../../core/format.ts'
import { inEnglish } from '../../core/translation.ts'
import type { Translation } from '../../core/translation.ts'
import { asPath, command } from '../../core/shell-command.ts'
import { diagnosisFile, evidenceFile, readEvidence } from '../../engine/recording/contents.ts'
import type { Evidence, Gap } from '../../engine/recording/contents.ts'
import { differencesOf } from '../../engine/recording/difference.ts'
import { isWaiting, replaySources } from '../../engine/recording/record.ts'
import { withoutNumbers } from '../../engine/recording/redacted.ts'
import type { RemovedSecret } from '../../engine/recording/redacted.ts'
import type { FailOn } from '../../engine/report.ts'
import { exitCodeOf, recordedOwnChecks, withOwnResults } from '../../engine/report.ts'
import type { ReportDifference, ReportManifest, ShownReport } from '../../output/report.ts'
import type { CheckNames } from '../doctor/session.ts'
import { diagnosis, selectOwnChecks } from '../doctor/session.ts'
import { reportText, isDocument } from '../doctor/print.ts'
import type { DocumentFormat, Format } from '../doctor/print.ts'
import { endWith } from '../failure.ts'
import { interruptible } from '../interrupt.ts'
import { screenOf, print, tellLine } from '../write.ts'

/** Names of the files that tell what an archive holds. */
export const manifestFile = 'report.json'
export const removedFile = 'removed.json'
export const textFile = 'doctor.txt'

/** Bytes of each file that is read */
const mostBytes = 200_000_000

/** Runs work on a report. What it holds was made elsewhere: data of the wrong kind is its fault, and no bug. */
async function reading<T>(path: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  try {
    return await interruptible(work)
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw wrong(path, 'its data is damaged', error)
    throw error
  }
}

/** Values in a file: small ones take many times their bytes once they are read */
const mostValues = 2_000_000

const [quote, backslash, comma, list, object] = [...'"\\,[{'].map((it) => it.codePointAt(0))

/** Returns true if JSON has more than so many values; those of lists and objects count, and these themselves. */
function hasMoreValues(json: Uint8Array, most: number): boolean {
  let count = 0
  for (let at = 0; at < json.length; at += 1) {
    const it = json[at]
    if (it === quote) {
      for (at += 1; at < json.length && json[at] !== quote; at += 1) if (json[at] === backslash) at += 1
    } else if (it === comma || it === list || it === object) {
      count += 1
      if (count > most) return true
    }
  }
  return false
}

interface ReadReport {
  manifest: ReportManifest
  /** The files that were asked for, parsed */
  json: (name: string) => unknown
  listed: readonly { name: string; bytes: number }[]
}

async function readReport(path: string, names: readonly string[], signal: AbortSignal): Promise<ReadReport> {
  const { readArchive } = await import('../../runtime/archive.ts')
  const wanted = [manifestFile, ...names]
  const { read, listed } = await readArchive(path, (name) => (wanted.includes(name) ? mostBytes : null), signal)
  const json = (name: string): unknown => {
    const bytes = read.get(name)
    if (bytes === undefined) throw wrong(path, `${name} is missing in it`)
    if (hasMoreValues(bytes, mostValues)) throw wrong(path, `${name} in it has more than ${mostValues} values`)
    try {
      return JSON.parse(bytes.toString('utf8')) as unknown
    } catch (error) {
      throw wrong(path, `${name} in it is not JSON: ${messageOf(error)}`)
    }
  }
  if (!read.has(manifestFile)) throw wrong(path, 'it is not an archive that `testops-admin report` made')
  return { manifest: manifestIn(json(manifestFile), path), json, listed }
}

function manifestIn(data: unknown, path: string): ReportManifest {
  const it = data as Partial<ReportManifest> | null
  if (typeof it !== 'object' || it === null || it.kind !== 'testops-admin report')
    throw wrong(path, 'it is not an archive that `testops-admin report` made')
  if (it.schemaVersion !== 1)
    throw wrong(
      path,
      typeof it.schemaVersion === 'number' && it.schemaVersion > 1
        ? 'a newer version of testops-admin made it. Update testops-admin to read it'
        : `${manifestFile} in it is incomplete`,
    )
  const isWhole =
    typeof it.version === 'string' &&
    typeof it.createdAt === 'string' &&
    !Number.isNaN(Date.parse(it.createdAt)) &&
    typeof it.deployment === 'string' &&
    typeof it.platform === 'string' &&
    (it.build === null || typeof it.build === 'string') &&
    typeof it.exitCode === 'number' &&
    typeof it.secrets === 'number' &&
    isSummary(it.summary) &&
    Array.isArray(it.rootCauses) &&
    it.rootCauses.every((id) => typeof id === 'string') &&
    Array.isArray(it.gaps) &&
    it.gaps.every((gap: Partial<Gap> | null) => typeof gap?.what === 'string' && typeof gap.why === 'string')
  if (!isWhole) throw wrong(path, `${manifestFile} in it is incomplete`)
  return it as ReportManifest
}

function isSummary(it: DoctorReport['summary'] | undefined): boolean {
  return (
    typeof it === 'object' &&
    it !== null &&
    (['ok', 'warning', 'error', 'skipped', 'unknown'] as const).every((key) => typeof it[key] === 'number')
  )
}

function wrong(path: string, why: string, cause?: unknown): AdminError {
  return new AdminError(
    'USAGE',
    `cannot read ${path}: ${why}`,
    [command`tar -tzf ${asPath(path)}   # lists what it holds`],
    { cause },
  )
}

function evidenceIn(path: string, json: ReadReport['json']): Evidence {
  const data = json(evidenceFile)
  try {
    return readEvidence(data)
  } catch (error) {
    throw wrong(path, `${evidenceFile} in it is damaged: ${messageOf(error)}`)
  }
}

/** Milliseconds to wait for an answer that did not come when the report was made, either */
const waitMs = 1000

/** Throws USAGE for flags that choose a deployment: a report is of the one that it was made of. */
export function assertAlone(given: readonly string[]): void {
  const other = ['deployment', 'config', 'timeout'].find((name) => given.includes(name))
  if (other !== undefined)
    throw new AdminError('USAGE', `--from examines a saved report, so --${other} cannot be used with it`, [
      'testops-admin doctor --from FILE',
    ])
}

/** The flags of `doctor --from`. */
export interface FromFlags extends CheckNames {
  from: string
  json: boolean
  verbose: boolean
  format: Format | DocumentFormat
  output?: readonly string[] | undefined
  'fail-on': FailOn
  /** What the report is told in; absent: English */
  translation?: Translation | null
}

/**
 * Judges the recorded answers of a report, without a network; takes what own checks found from it. Prints the outcome
 * and returns the exit code. Throws USAGE if it is not a report.
 */
export async function examineReport(flags: FromFlags, checks: readonly Check[]): Promise<number> {
  const format = flags.json ? 'json' : flags.format
  const documents = isDocument(format) || flags.output ? await import('../doctor/documents.ts') : null
  const outputs = (await documents?.outputsOf(flags.output ?? [])) ?? []
  return reading(flags.from, async (signal) => {
    const { manifest, json } = await readReport(flags.from, [evidenceFile, diagnosisFile], signal)
    const { startedAt, at, deployment, commands, deadlineMs, recording } = evidenceIn(flags.from, json)
    const open = replaySources(recording)
    const judged = await judgedAt(at, async () =>
      diagnosis({
        checks,
        open: async () => ({ deployment, commands, open, renew: () => undefined, close: async () => undefined }),
        deadlineMs,
        waitMs: isWaiting(recording) ? waitMs : undefined,
        past: 'always',
        signal,
      }).examine(),
    )
    const saved = json(diagnosisFile) as Partial<DoctorReport> | null
    const own = selectOwnChecks(ownChecksIn(flags.from, saved), flags, { others: checks.length })
    const report = {
      ...withOwnResults(withLacks(withoutNumbers(unlessDamaged(judged, flags.from)), saved), withoutNumbers(own)),
      startedAt: startedAt.toISOString(),
      durationMs: at.getTime() - startedAt.getTime(),
    }
    const exitCode = exitCodeOf(report, flags['fail-on'])
    const { version, createdAt } = manifest
    const { words: say = inEnglish } = flags.translation ?? {}
    if (format !== 'json')
      tellLine(
        process.stderr,
        say(
          `From a report of ${moment(createdAt)}, made by testops-admin ${version}. Nothing was asked now. ` +
            'Commands in it come from the report.',
        ),
      )
    const screen = screenOf(process.stdout)
    const { verbose, translation } = flags
    const as = { exitCode, failOn: flags['fail-on'], verbose, translation }
    const failure = (await documents?.writeOutputs(outputs, report, as)) ?? null
    const ended = { ...as, exitCode: failure?.exitCode ?? exitCode }
    print(
      process.stdout,
      isDocument(format)
        ? documents!.documentText(report, format, format === 'prometheus' ? as : ended)
        : reportText(report, format, { ...ended, screen }),
    )
    if (failure) return endWith(failure, { isJson: format === 'json' })
    return exitCode
  })
}

function ownChecksIn(path: string, saved: unknown): CheckReport[] {
  try {
    return recordedOwnChecks(saved)
  } catch (error) {
    throw wrong(path, `${diagnosisFile} in it is damaged: ${messageOf(error)}`)
  }
}

/** Adds the rights that were missing, for a report has nobody to ask; but no command that somebody else wrote down. */
function withLacks(judged: DoctorReport, recorded: Partial<DoctorReport> | null): DoctorReport {
  const former = new Map((recorded?.checks ?? []).map((it) => [it.id, it.remedy]))
  const checks = judged.checks.map((it) => {
    const { text, lacks } = former.get(it.id) ?? {}
    return it.remedy === undefined || typeof lacks !== 'string' || text !== it.remedy.text
      ? it
      : { ...it, remedy: { ...it.remedy, lacks } }
  })
  return { ...judged, checks }
}

/** Answers have as many forms as there are questions: what a check cannot read in them is found out by that check. */
function unlessDamaged(judged: DoctorReport, path: string): DoctorReport {
  const checks = judged.checks.map((it): CheckReport => {
    if (it.error?.code !== 'BUG') return it
    const why = it.error.message.replace(/^.*?: /, '')
    const { code, message, suggestions } = wrong(
      path,
      `${evidenceFile} in it is damaged, or testops-admin has a bug: ${why}`,
    )
    return { ...it, error: { code, message, suggestions } }
  })
  return { ...judged, checks }
}

async function judgedAt<T>(at: Date, judge: () => Promise<T>): Promise<T> {
  judgeAsOf(at)
  try {
    return await judge()
  } finally {
    judgeAsOf(null)
  }
}

/** Returns what a report holds. Throws USAGE for what is no such report. */
export async function showReport(path: string): Promise<ShownReport> {
  return reading(path, async (signal) => {
    const { manifest, json, listed } = await readReport(path, [removedFile], signal)
    const removed = json(removedFile)
    const isRemoved = (it: Partial<RemovedSecret> | null): boolean =>
      typeof it?.mark === 'string' &&
      typeof it.count === 'number' &&
      Array.isArray(it.where) &&
      it.where.every((place) => typeof place === 'string')
    if (!Array.isArray(removed) || !removed.every(isRemoved)) throw wrong(path, `${removedFile} in it is damaged`)
    return { ...manifest, file: path, files: listed, removed: removed as RemovedSecret[] }
  })
}

/** Returns what changed from one report to another. Throws USAGE for what is no such report. */
export async function compareReports(from: string, to: string): Promise<ReportDifference> {
  return reading(`${from} or ${to}`, async (signal) => {
    const [one, other] = await Promise.all(
      [from, to].map(async (path) => {
        const { manifest, json } = await readReport(path, [evidenceFile, diagnosisFile], signal)
        const report = json(diagnosisFile) as Partial<DoctorReport> | null
        if (!Array.isArray(report?.checks)) throw wrong(path, `${diagnosisFile} in it is damaged`)
        return { manifest, report: report as DoctorReport, recording: evidenceIn(path, json).recording }
      }),
    )
    const named = (path: string, { deployment, createdAt }: ReportManifest): ReportDifference['from'] => ({
      file: path,
      deployment,
      createdAt,
    })
    return {
      schemaVersion: 1,
      from: named(from, one!.manifest),
      to: named(to, other!.manifest),
      ...differencesOf(one!, other!),
    }
  })
}
