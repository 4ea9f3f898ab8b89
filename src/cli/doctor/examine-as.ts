import type { Check, DoctorReport, Remedy } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import type { FailOn } from '../../engine/report.ts'
import { exitCodeOf } from '../../engine/report.ts'
import { typed } from '../../core/typed.ts'
import { inEnglish } from '../../core/translation.ts'
import type { Say, Translation } from '../../core/translation.ts'
import { summary, tell } from '../../output/doctor/verdict.ts'
import { chosenDeployment } from '../chosen-deployment.ts'
import { deadlineSlackMs } from '../../core/work.ts'
import { endWith } from '../failure.ts'
import { defaultTimeoutSeconds, interruptible, pause, withInterrupts, relayOf } from '../interrupt.ts'
import { screenOf, print, tellLine } from '../write.ts'
import { isDocument, liveList, printRound, reportText } from './print.ts'
import type { DocumentFormat, Format } from './print.ts'
import type { CheckNames, Diagnosis, DiagnosisOptions } from './session.ts'
import { diagnosis, selectOwnChecks } from './session.ts'
import type { CommandOf } from './rights.ts'

interface WatchOptions {
  intervalMs: number
  signal: AbortSignal
  show: (report: DoctorReport, before: DoctorReport | null) => void
}

/**
 * Examines repeatedly until interrupted; returns the last report. Asks for rights once for each set of root causes: a
 * broker logs what it refuses. Throws if there is no report yet.
 */
export async function watch(
  diagnosis: Pick<Diagnosis, 'glance' | 'withRights'>,
  { intervalMs, signal, show }: WatchOptions,
): Promise<DoctorReport> {
  let before: DoctorReport | null = null
  const told = new Map<string, Missing>()
  const examine = async (): Promise<DoctorReport> => {
    const report = await diagnosis.glance()
    const causes = JSON.stringify(report.rootCauses.toSorted())
    const known = told.get(causes)
    if (known) return withMissing(report, known)
    const asked = await diagnosis.withRights(report)
    told.set(causes, missingIn(asked))
    return asked
  }
  for (;;) {
    let report: DoctorReport
    try {
      report = await examine()
    } catch (error) {
      if (signal.aborted && before) return before
      throw error
    }
    show(report, before)
    before = report
    if (!(await pause(intervalMs, signal))) return report
  }
}

/** Which rights the repairs lack, by the check that names the repair. */
type Missing = ReadonlyMap<string, Pick<Remedy, 'lacks' | 'grant'>>

function missingIn({ checks }: DoctorReport): Missing {
  return new Map(
    checks.flatMap(({ id, remedy: { lacks, grant } = {} }) =>
      lacks === undefined ? [] : [[id, { lacks, ...(grant && { grant }) }] as const],
    ),
  )
}

function withMissing(report: DoctorReport, missing: Missing): DoctorReport {
  if (missing.size === 0) return report
  const checks = report.checks.map((it) =>
    it.remedy ? { ...it, remedy: { ...it.remedy, ...missing.get(it.id) } } : it,
  )
  return { ...report, checks }
}

interface WaitOptions {
  /** Milliseconds to keep trying */
  forMs: number
  intervalMs: number
  isHealthy: (report: DoctorReport) => boolean
  progress: (message: string) => void
  say?: Say | undefined
  signal: AbortSignal
}

/** Examines until the deployment is healthy, the time is up or `signal` aborts; returns the last report. */
export async function waitUntilHealthy(
  diagnosis: Pick<Diagnosis, 'glance' | 'withRights'>,
  options: WaitOptions,
): Promise<DoctorReport> {
  const { forMs, intervalMs, isHealthy, progress, say = inEnglish, signal } = options
  const end = performance.now() + forMs
  for (;;) {
    const report = await diagnosis.glance()
    const left = end - performance.now()
    if (isHealthy(report) || left <= 0) return diagnosis.withRights(report)
    const wait = Math.min(intervalMs, left)
    const next = `Trying again in ${Math.ceil(wait / 1000)} s; giving up in ${Math.ceil(left / 1000)} s.`
    progress(`${summary(tell(report), say)} ${say(next)}`)
    if (!(await pause(wait, signal))) return report
  }
}

/** The flags of `doctor` that say how to examine and how to print the report. */
export interface DoctorFlags extends CheckNames {
  deployment?: string | undefined
  config?: string | undefined
  json: boolean
  verbose: boolean
  timeout?: number | undefined
  format: Format | DocumentFormat
  output?: readonly string[] | undefined
  'fail-on': FailOn
  wait: boolean
  'wait-seconds': number
  watch: boolean
  interval: number
  relay?: boolean
  /** Finds the rights of repairs; absent: nobody asks */
  commandOf?: CommandOf
  /** What the report is told in; absent: English */
  translation?: Translation | null
}

/** A diagnosis and the checks that it runs. */
interface Examining {
  examined: Diagnosis
  checks: readonly Check[]
}

/** The streams to print on: those of `process`, except in tests. */
interface Streams {
  stdout: Stream
  stderr: Stream
}

type Stream = Pick<NodeJS.WritableStream, 'write' | 'once'> & { isTTY?: boolean; columns?: number; rows?: number }

/**
 * Examines by the chosen checks of the catalogue and the deployment's own, once, until healthy, or repeatedly. Prints;
 * returns the exit code. Throws USAGE for a watch with JSON, and what writing `--output` throws.
 */
export async function examineAs(
  flags: DoctorFlags,
  chosen: readonly Check[],
  streams: Streams = process,
): Promise<number> {
  const { stdout, stderr } = streams
  const format = flags.json ? 'json' : flags.format
  const { translation = null } = flags
  if (flags.watch && (format === 'json' || isDocument(format))) {
    const words = format === 'json' ? ['--json'] : ['--format', format]
    const flag = words.join(' ')
    throw new AdminError(
      'USAGE',
      `--watch and ${flag} cannot be combined: --watch prints many reports, ${flag} prints one document`,
      ['testops-admin doctor --watch', typed(['testops-admin', 'doctor', ...words])],
    )
  }
  // with a relay, an interrupt waits until what was made for it is removed
  const run = flags.watch || flags.relay === true ? withInterrupts : interruptible
  return run(async (signal) => {
    const documents = isDocument(format) || flags.output ? await import('./documents.ts') : null
    const outputs = (await documents?.outputsOf(flags.output ?? [])) ?? []
    const past = pastFor(format, outputs)
    const { examined, checks } = await open(flags, chosen, signal, past)
    try {
      const report = flags.watch
        ? await watchOn(flags, format as Format, examined, stdout, signal)
        : flags.wait
          ? await waitOn(flags, examined, stderr, signal)
          : await once(flags, examined, checks, streams)
      const exitCode = exitCodeOf(report, flags['fail-on'])
      if (flags.watch) return exitCode
      const judged = { exitCode, failOn: flags['fail-on'], verbose: flags.verbose, translation }
      const failure = (await documents?.writeOutputs(outputs, report, judged)) ?? null
      const ended = failure?.exitCode ?? exitCode
      print(
        stdout,
        isDocument(format)
          ? documents!.documentText(report, format, format === 'prometheus' ? judged : { ...judged, exitCode: ended })
          : textOf(flags, format, report, stdout, ended),
      )
      if (failure) return endWith(failure, { isJson: format === 'json' })
      return exitCode
    } finally {
      await examined.close()
    }
  })
}

async function open(
  flags: DoctorFlags,
  chosen: readonly Check[],
  signal: AbortSignal,
  past: DiagnosisOptions['past'] = 'with-problems',
): Promise<Examining> {
  const { deployment, config: file, timeout = defaultTimeoutSeconds, relay, commandOf } = flags
  // loaded late: --help needs neither the runtime nor what it loads
  const { openDeployment, ownChecks } = await import('../../runtime/index.ts')
  const environment = process.env
  const selected = await chosenDeployment({ deployment, config: file }, signal)
  const timeoutMs = timeout * 1000
  const deadlineMs = timeoutMs + deadlineSlackMs
  const own = ownChecks(selected, { deadlineMs, environment, signal })
  const checks = [...chosen, ...selectOwnChecks(own, flags, { others: chosen.length })]
  const examined = diagnosis({
    checks,
    open: () =>
      openDeployment(selected, {
        timeoutMs,
        environment,
        config: file,
        signal,
        ...relayOf({ relay }, { mayMakePods: true, isLasting: false }),
      }),
    deadlineMs,
    past,
    commandOf,
    signal,
  })
  return { examined, checks }
}

/** The page draws what happened even if nothing is wrong. */
function pastFor(
  format: Format | DocumentFormat,
  outputs: readonly { format: Format | DocumentFormat }[],
): DiagnosisOptions['past'] {
  return [format, ...outputs.map((it) => it.format)].includes('html') ? 'always' : 'with-problems'
}

/** Examines once, and closes everything. Throws as `Diagnosis.examine`. */
export async function examinedOnce(flags: DoctorFlags, chosen: readonly Check[]): Promise<DoctorReport> {
  const run = flags.relay === true ? withInterrupts : interruptible
  return run(async (signal) => {
    const { examined, checks } = await open(flags, chosen, signal)
    try {
      return await once(flags, examined, checks, process)
    } finally {
      await examined.close()
    }
  })
}

async function once(
  { json, format, translation }: DoctorFlags,
  examined: Diagnosis,
  checks: readonly Check[],
  { stdout, stderr }: Streams,
): Promise<DoctorReport> {
  const screen = { ...screenOf(stderr), say: translation?.words }
  // without colours, nothing moves either
  if (!stdout.isTTY || !stderr.isTTY || !screen.colour || json || format === 'json' || isDocument(format))
    return examined.examine()
  const live = liveList(
    stderr,
    screen,
    checks.map(({ id }) => id),
  )
  try {
    return await examined.examine((report) => live.add(report))
  } finally {
    live.clear()
  }
}

async function waitOn(
  flags: DoctorFlags,
  examined: Diagnosis,
  stderr: Stream,
  signal: AbortSignal,
): Promise<DoctorReport> {
  const isHealthy = (report: DoctorReport): boolean => exitCodeOf(report, flags['fail-on']) === 0
  return waitUntilHealthy(examined, {
    forMs: flags['wait-seconds'] * 1000,
    intervalMs: flags.interval * 1000,
    isHealthy,
    progress: (message) => tellLine(stderr, message),
    say: flags.translation?.words,
    signal,
  })
}

async function watchOn(
  flags: DoctorFlags,
  format: Format,
  examined: Diagnosis,
  stdout: Stream,
  signal: AbortSignal,
): Promise<DoctorReport> {
  const gone = new AbortController()
  // the reader is gone, as after `head -1`
  stdout.once('error', () => gone.abort())
  const intervalMs = flags.interval * 1000
  return watch(examined, {
    intervalMs,
    signal: AbortSignal.any([signal, gone.signal]),
    show: (report, before) =>
      printRound(stdout, textOf(flags, format, report, stdout), report, before, {
        terminal: stdout.isTTY === true,
        screen: { ...screenOf(stdout), say: flags.translation?.words },
        rows: stdout.rows ?? 24,
        intervalMs,
      }),
  })
}

function textOf(
  flags: DoctorFlags,
  format: Format,
  report: DoctorReport,
  stdout: Stream,
  exitCode: number = exitCodeOf(report, flags['fail-on']),
): string {
  return reportText(report, format, {
    screen: screenOf(stdout),
    exitCode,
    verbose: flags.verbose,
    translation: flags.translation,
  })
}
