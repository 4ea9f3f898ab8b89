import type { Check, DoctorReport } from '../../core/check.ts'
import type { PlatformName } from '../../core/deployment.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import { withoutSecretsIn } from '../../core/redaction/document.ts'
import { command, nested } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import { withDeadline } from '../../engine/judge.ts'
import { exitCodeOf, summarise } from '../../engine/report.ts'
import type { FailOn } from '../../engine/report.ts'
import { fleetText, isExamined } from '../../output/doctor/fleet.ts'
import type { Examined, FleetDocument } from '../../output/doctor/fleet.ts'
import { plainScreen } from '../../output/paint.ts'
import { inEnglish } from '../../core/translation.ts'
import type { Translation } from '../../core/translation.ts'
import type { Screen } from '../../output/paint.ts'
import { deadlineSlackMs, Places, sideBySide } from '../../core/work.ts'
import type { OneOfAll, SelectedDeployment } from '../../runtime/index.ts'
import { endWith, failureOf } from '../failure.ts'
import { defaultTimeoutSeconds, interruptible } from '../interrupt.ts'
import { screenOf, cursor, draw, jsonText, print } from '../write.ts'
import type { DoctorFlags } from './examine-as.ts'
import type { DocumentFormat, Format } from './print.ts'
import { reportText } from './print.ts'
import { diagnosis, selectOwnChecksOfAll } from './session.ts'

/** Deployments that are examined at the same time: enough that some which hang delay few others */
const examinedAtOnce = 16
/** Own checks that run at the same time, of all these deployments: each is a process */
const ownAtOnce = 16

/** Which exit code of several deployments wins: a problem, then what could not be examined at all, then the rest. */
const precedence = [70, 1, 64, 69, 3, 2] as const

/** Formats that hold several deployments. */
const fleetFormats: readonly (Format | DocumentFormat)[] = ['table', 'short', 'json', 'prometheus']

/** Flags for one deployment at a time. */
const ofOne: readonly string[] = ['wait', 'watch', 'fix', 'from', 'relay']

/** Throws USAGE for flags that several deployments cannot have. */
export function assertFleet(given: readonly string[]): void {
  if (given.includes('all') && given.includes('deployment'))
    throw new AdminError('USAGE', '--all and --deployment cannot be combined: --all examines every deployment', [
      'testops-admin doctor --all',
    ])
  const wrong = ofOne.find((name) => given.includes(name))
  if (wrong === undefined) return
  throw new AdminError('USAGE', `--${wrong} works on one deployment: name one with -d`, [
    command`testops-admin doctor -d NAME ${nested(typed([`--${wrong}`]))}`,
  ])
}

/**
 * Examines several deployments side by side: those named, else all of the configuration, else all that are found.
 * Prints one document; returns one exit code. Throws USAGE for an unknown name or a format for one deployment only,
 * and what reading the configuration throws.
 */
export async function examineFleet(
  flags: Omit<DoctorFlags, 'deployment'>,
  names: readonly string[] | null,
  checks: readonly Check[],
): Promise<number> {
  const format = flags.json ? 'json' : flags.format
  refuseFormat(format, '--format')
  return interruptible(async (signal) => {
    const { outputsOf } = await import('./documents.ts')
    const outputs = await outputsOf(flags.output ?? [])
    for (const it of outputs) refuseFormat(it.format, '--output')
    const { everySelected } = await import('../../runtime/index.ts')
    const request = { file: flags.config, environment: process.env, workingDirectory: process.cwd(), signal }
    const chosen = await everySelected(request, names)
    const examined = await examineEach(chosen, flags, checks, signal)
    const exitCode = worstOf(examined.map((it) => it.exitCode))
    const text = async (as: Format | DocumentFormat, screen: Screen, endsWith = exitCode): Promise<string> =>
      textOf(examined, as, {
        screen,
        exitCode: endsWith,
        verbose: flags.verbose,
        failOn: flags['fail-on'],
        config: flags.config,
        translation: flags.translation,
      })
    const texts = new Map(
      await Promise.all(outputs.map(async (it) => [it.format, await text(it.format, plainScreen)] as const)),
    )
    const { writeOutputFiles } = await import('../../runtime/output-file.ts')
    const failure = await writeOutputFiles(outputs, (as) => texts.get(as)!)
    print(process.stdout, await text(format, screenOf(process.stdout), failure?.exitCode))
    if (failure) return endWith(failure, { isJson: format === 'json' })
    return exitCode
  })
}

function refuseFormat(format: Format | DocumentFormat, flag: '--format' | '--output'): void {
  if (fleetFormats.includes(format)) return
  throw new AdminError(
    'USAGE',
    `${flag}: ${format} describes one deployment, and several are examined. Use ${fleetFormats.join(', ')}`,
    ['testops-admin doctor --all --json', typed(['testops-admin', 'doctor', '--format', format])],
  )
}

/** Returns the exit code of all: the first of `precedence` that one has, else the first that is not 0. */
export function worstOf(codes: readonly number[]): number {
  return precedence.find((code) => codes.includes(code)) ?? codes.find((code) => code !== 0) ?? 0
}

async function examineEach(
  chosen: readonly OneOfAll[],
  flags: Omit<DoctorFlags, 'deployment'>,
  checks: readonly Check[],
  signal: AbortSignal,
): Promise<Examined[]> {
  const own = await ownChecksOfAll(chosen, flags, signal)
  const ownChosen = selectOwnChecksOfAll(own, flags, { others: checks.length })
  const inTurn = sideBySide(examinedAtOnce)
  const tell = teller(chosen.length, flags)
  const examine = async (one: OneOfAll, at: number): Promise<Examined> => {
    signal.throwIfAborted()
    const examined = await examineOne(one, flags, [...checks, ...ownChosen[at]!], signal)
    tell.ended()
    return examined
  }
  try {
    return await Promise.all(chosen.map(async (one, at) => inTurn(async () => examine(one, at))))
  } finally {
    tell.clear()
  }
}

/** Returns the own checks of each deployment, which share the places for processes; null if its entry is wrong. */
async function ownChecksOfAll(
  chosen: readonly OneOfAll[],
  { timeout = defaultTimeoutSeconds }: Pick<DoctorFlags, 'timeout'>,
  signal: AbortSignal,
): Promise<(Check[] | null)[]> {
  const { ownChecks } = await import('../../runtime/index.ts')
  const options = {
    deadlineMs: timeout * 1000 + deadlineSlackMs,
    places: new Places(ownAtOnce),
    environment: process.env,
    signal,
  }
  return chosen.map((one) => ('error' in one ? null : ownChecks(one.selected, options)))
}

/** Examines one deployment. What keeps it from being examined concerns no other. Throws INTERRUPTED. */
async function examineOne(
  chosen: OneOfAll,
  flags: Omit<DoctorFlags, 'deployment'>,
  checks: readonly Check[],
  signal: AbortSignal,
): Promise<Examined> {
  const { timeout = defaultTimeoutSeconds, config, 'fail-on': failOn } = flags
  const timeoutMs = timeout * 1000
  const deadlineMs = timeoutMs + deadlineSlackMs
  try {
    if ('error' in chosen) throw chosen.error
    const { selected } = chosen
    const { openDeployment, platformOf } = await import('../../runtime/index.ts')
    if (checks.length === 0) return { result: unexamined(selected, platformOf(selected)), exitCode: 0 }
    const late = (): AdminError => new AdminError('TIMED_OUT', `not opened within ${timeout} s`, [])
    const examining = diagnosis({
      checks,
      open: async () => {
        const opening = openDeployment(selected, { timeoutMs, environment: process.env, config, signal })
        return withDeadline(opening, deadlineMs, late).catch((error: unknown) => {
          // what opens after all is closed, or it would keep the process
          opening.then(async (opened) => opened.close()).catch(() => undefined)
          throw error
        })
      },
      deadlineMs,
      signal,
    })
    try {
      const result: DoctorReport = await examining.examine()
      return { result, exitCode: exitCodeOf(result, failOn) }
    } finally {
      await examining.close()
    }
  } catch (error) {
    if (error instanceof AdminError && error.code === 'INTERRUPTED') throw error
    const failure = failureOf(error, 'testops-admin')
    const { exitCode, document } = failure ?? {
      exitCode: 70,
      document: { error: { code: 'BUG' as const, message: messageOf(error), suggestions: [] } },
    }
    const result = { deployment: chosen.name, error: document.error, exitCode }
    return { result, exitCode, ...('error' in chosen && chosen.isEntryWrong && { isEntryWrong: true }) }
  }
}

/** Returns the report on a deployment that has none of the checks: there is nothing to open it for. */
function unexamined({ name, settings, found }: SelectedDeployment, platform: PlatformName): DoctorReport {
  return {
    schemaVersion: 1,
    deployment: name,
    ...(found !== undefined && { found }),
    platform,
    build: settings.build ?? null,
    startedAt: new Date().toISOString(),
    durationMs: 0,
    summary: summarise([]),
    rootCauses: [],
    checks: [],
  }
}

/** Shows on a terminal how many have been examined. */
function teller(
  all: number,
  { json, format, translation }: Pick<DoctorFlags, 'json' | 'format' | 'translation'>,
): { ended(): void; clear(): void } {
  const { words: say = inEnglish } = translation ?? {}
  const { stdout, stderr } = process
  const isShown = stdout.isTTY && stderr.isTTY && !json && (format === 'table' || format === 'short')
  if (!isShown || !screenOf(stderr).colour) return { ended: () => undefined, clear: () => undefined }
  let count = 0
  return {
    ended: () => draw(stderr, cursor.emptyLine, `… ${say(`${(count += 1)} of ${all} deployments examined`)}`),
    clear: () => draw(stderr, cursor.emptyLine, ''),
  }
}

async function textOf(
  examined: readonly Examined[],
  format: Format | DocumentFormat,
  view: {
    screen: Screen
    exitCode: number
    verbose: boolean
    failOn: FailOn
    config: string | undefined
    translation: Translation | null | undefined
  },
): Promise<string> {
  const shown = examined.map((it) => ({ ...it, result: withoutSecretsIn(it.result) }))
  if (format === 'json') {
    const document: FleetDocument = { schemaVersion: 1, deployments: shown.map(({ result }) => result) }
    return jsonText(document)
  }
  if (format === 'prometheus') {
    const { fleetPrometheus } = await import('../../output/doctor/formats.ts')
    return fleetPrometheus(shown)
  }
  const reports = view.verbose
    ? shown.flatMap(({ result }) => (isExamined(result) && result.checks.length > 0 ? [result] : []))
    : []
  const whole = reports.map((report) =>
    reportText(report, 'table', { ...view, exitCode: exitCodeOf(report, view.failOn) }),
  )
  const screen = { ...view.screen, say: view.translation?.words }
  return [...whole, fleetText(shown, { ...view, screen, isShort: format === 'short' || view.verbose })].join('\n')
}
