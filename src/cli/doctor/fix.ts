import type { Check, DoctorReport } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import { withoutSecretsIn } from '../../core/redaction/document.ts'
import type { RepairDocument } from '../../core/repair.ts'
import type { RunError } from '../../core/run.ts'
import type { ShellCommand, Suggestion } from '../../core/shell-command.ts'
import { checkIn } from '../../core/translation.ts'
import { typed } from '../../core/typed.ts'
import type { RunResult } from '../../engine/carry-out.ts'
import { exitCodeOf, waitsForOther } from '../../engine/report.ts'
import { errorText, typedHere } from '../../output/error-text.ts'
import { fixSummary, leftText, remedyOf, stillWrongText, tell, unplannedText } from '../../output/doctor/verdict.ts'
import type { Screen } from '../../output/paint.ts'
import { repairText } from '../../output/repair.ts'
import { failureOf } from '../failure.ts'
import { interruptible } from '../interrupt.ts'
import { ask, confirmed } from '../repair/confirm.ts'
import { refuseIfReadOnly } from '../repair/read-only.ts'
import { printEnd, tellStack } from '../repair/repair-command.ts'
import { screenOf, jsonText, print, tellLine } from '../write.ts'
import type { Printer } from '../write.ts'
import { examinedOnce } from './examine-as.ts'
import type { DoctorFlags } from './examine-as.ts'
import { stepsOf } from './fix-steps.ts'
import type { Fix, FixStep } from './fix-steps.ts'
import { isDocument, reportText } from './print.ts'

export interface FixFlags extends DoctorFlags {
  'dry-run'?: boolean
  'fix-warnings'?: boolean
  confirm?: string | undefined
  repairs?: readonly string[] | undefined
}

/**
 * Runs a repair by its words; null: there was nothing to resume. `others`: ids of problems that it is not for. Throws
 * AdminError before there is a plan.
 */
export type PerformRepair = (
  fix: Fix,
  words: readonly string[],
  others?: readonly string[],
) => Promise<RunResult | null>

/** What `doctor --fix --json` prints. */
export interface FixDocument {
  schemaVersion: 1
  before: DoctorReport
  /** One for each repair that was planned, in order */
  repairs: readonly RepairDocument[]
  /** The same as `before` if nothing was begun */
  after: DoctorReport
  /** Why not all was repaired */
  error?: RunError
}

/** Why the walk ended early. */
interface Stop {
  error: RunError
  exitCode: number
  /** It has been printed with the repair's own end */
  isTold?: boolean
}

/** One walk through the repairs. */
interface Walk {
  flags: FixFlags
  checks: readonly Check[]
  perform: PerformRepair
  /** Words after the program's name, as typed */
  words: readonly string[]
  documents: RepairDocument[]
  /** Commands that were carried out: none is again */
  tried: Set<string>
  /** What was repaired, and by which repair, or by hand */
  done: { fix: string; root: string }[]
  /** Problems that the person has left as they are */
  skipped: Set<string>
  /** The signal that arrived, also between two diagnoses and repairs */
  interrupted: NodeJS.Signals | null
}

/**
 * Diagnoses, then repairs one root cause after another, each with a plan and a question of its own, and diagnoses
 * again. Stops at the first that fails or needs a person. Returns the exit code: that of a repair that failed, else
 * that of the last diagnosis.
 */
export async function fix(
  flags: FixFlags,
  checks: readonly Check[],
  perform: PerformRepair,
  words: readonly string[],
): Promise<number> {
  if (isDocument(flags.format))
    throw new AdminError(
      'USAGE',
      `--fix and --format ${flags.format} cannot be combined: --fix diagnoses more than once`,
      ['testops-admin doctor --fix', typed(['testops-admin', 'doctor', '--format', flags.format])],
    )
  if (!flags['dry-run']) refuseIfReadOnly()
  const walk: Walk = {
    flags,
    checks,
    perform,
    words,
    documents: [],
    tried: new Set(),
    done: [],
    skipped: new Set(),
    interrupted: null,
  }
  // diagnoses and repairs listen as well; this one keeps a signal between two of them from ending the process
  const note = (signal: NodeJS.Signals): void => void (walk.interrupted = signal)
  for (const name of signals) process.on(name, note)
  try {
    return await walked(walk)
  } finally {
    for (const name of signals) process.removeListener(name, note)
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

async function walked(walk: Walk): Promise<number> {
  const { flags, done } = walk
  const begin = performance.now()
  const before = await examine(walk)
  if (!flags.json) print(process.stdout, textOf(before, flags, null))
  const { report: after, stop } = flags['dry-run'] ? await planAll(walk, before) : await repairAll(walk, before)
  const exitCode = stop?.exitCode ?? exitCodeOf(after, flags['fail-on'])
  if (flags.json) {
    const document: FixDocument = {
      schemaVersion: 1,
      before,
      repairs: walk.documents,
      after,
      ...(stop && { error: stop.error }),
    }
    print(process.stdout, jsonText(withoutSecretsIn(document)))
    return exitCode
  }
  if (after !== before) print(process.stdout, `\n${textOf(after, flags, exitCode)}`)
  if (stop) tellStop(stop)
  const withWarnings = flags['fix-warnings'] ?? false
  if (flags['dry-run']) print(process.stdout, unplannedText(after, withWarnings, screenFor(flags)))
  else {
    const summed = { before, after, done, tookMs: performance.now() - begin, withWarnings }
    print(process.stdout, fixSummary(summed, screenFor(flags)))
  }
  return exitCode
}

function screenFor({ translation }: FixFlags, stream: Printer = process.stdout): Screen {
  return { ...screenOf(stream), say: translation?.words }
}

/** Returns what is left to a person in the language of the report. */
function told(step: FixStep, { translation }: FixFlags): FixStep {
  return translation ? { ...step, root: checkIn(step.root, translation) } : step
}

async function repairAll(walk: Walk, before: DoctorReport): Promise<{ report: DoctorReport; stop?: Stop }> {
  const { flags, documents, done } = walk
  const { confirm } = flags
  let report = before
  if (confirm !== undefined && confirm !== report.deployment)
    return {
      report,
      stop: stopped(
        'REFUSED',
        `Nothing changed: --confirm names \`${confirm}\`, but this is \`${report.deployment}\``,
        [again(walk, null, report.deployment)],
      ),
    }
  for (;;) {
    const [step] = stepsOf(report, flags['fix-warnings'] ?? false).filter(({ root }) => !walk.skipped.has(root.id))
    if (!step) return { report }
    if (walk.interrupted)
      return { report, stop: stopOf(new AdminError('INTERRUPTED', `interrupted by ${walk.interrupted}`)) }
    const planned = documents.length
    const stop = step.does === 'repair' ? await repair(walk, step, report) : await leave(walk, step)
    // a repair that failed may have changed something
    if (stop && documents.slice(planned).every(({ run }) => run === null)) return { report, stop }
    try {
      report = await examine(walk)
    } catch (error) {
      if (!(error instanceof AdminError)) throw error
      return { report, stop: stop ?? stopOf(error) }
    }
    if (stop) return { report, stop }
    if (step.does === 'repair' || walk.skipped.has(step.root.id)) continue
    const isGone = !tell(report).stories.some(({ root }) => root.id === step.root.id)
    if (isGone) done.push({ fix: 'by hand', root: step.root.id })
    else print(process.stderr, stillWrongText(step.root.id, report, screenFor(flags, process.stderr)))
  }
}

/** Shows every plan; what cannot be planned yet does not keep the others from being shown. */
async function planAll(walk: Walk, report: DoctorReport): Promise<{ report: DoctorReport; stop?: Stop }> {
  const { flags, tried } = walk
  let stop: Stop | undefined
  for (const step of stepsOf(report, flags['fix-warnings'] ?? false)) {
    const { root, does, fix, command } = step
    if (does !== 'repair') {
      if (!flags.json) print(process.stdout, `\n${leftText(told(step, flags), screenFor(flags))}`)
      continue
    }
    // one repair may come first for several causes
    if (tried.has(command!)) continue
    tried.add(command!)
    if (!flags.json) print(process.stdout, `\nFor ${root.id}, ${fix}:\n`)
    const failed = await carry(walk, step, ['--dry-run'])
    stop ??= failed
    if (failed && !flags.json) tellStop(failed)
    if (failed?.error.code === 'INTERRUPTED' || walk.interrupted) break
  }
  return { report, ...(stop && { stop: { ...stop, isTold: true } }) }
}

/** Carries out a repair if it may be. */
async function repair(walk: Walk, step: FixStep, report: DoctorReport): Promise<Stop | undefined> {
  const { flags, tried, documents, done } = walk
  const { fix, root, command } = step
  if (tried.has(command!))
    return stopped('FAILED', `${fix} has ended, but the check \`${root.id}\` still finds the problem`, [command!])
  const { confirm, repairs = [] } = flags
  if (confirm !== undefined && !repairs.includes(fix!))
    return stopped('REFUSED', `\`${root.id}\` needs the repair ${fix}, which --repairs does not name`, [
      again(walk, fix!, report.deployment),
    ])
  if (confirm === undefined && !isAttended())
    return stopped('REFUSED', `the repair ${fix} needs a confirmation, but there is no terminal to ask on`, [
      again(walk, fix!, report.deployment),
    ])
  if (!flags.json) {
    print(process.stderr, '\n')
    tellLine(process.stderr, `Repairing ${root.id} with ${fix}:`)
  }
  if (fix === 'resume' && confirm === undefined) {
    const refusal = await askToResume(walk, step, report)
    if (refusal) return refusal
  }
  tried.add(command!)
  const planned = documents.length
  // without --confirm `resume` asks or refuses where a run is somebody else's, or may be over
  // a stopped service hides which problem is next, so every other error may be the cause of what is left
  const errors = report.checks.filter(({ severity }) => severity === 'error')
  const others = errors.flatMap(({ id }) => (id === root.id ? [] : [id]))
  const more = confirm === undefined || fix === 'resume' ? [] : ['--confirm', confirm]
  const stop = await carry(walk, step, more, others)
  if (!stop && documents.slice(planned).some(({ outcome }) => outcome === 'done'))
    done.push({ fix: fix!, root: root.id })
  return stop
}

/** Shows what is left of the run, and asks: `resume` alone does not, since the run was confirmed when it began. */
async function askToResume(walk: Walk, { words, fix }: FixStep, report: DoctorReport): Promise<Stop | undefined> {
  const { flags, perform } = walk
  try {
    const planned = await perform(fix!, [...words!, ...commonFlags(flags, fix!, words!), '--dry-run'])
    const show = (): void => {
      if (planned)
        print(process.stderr, repairText(withoutSecretsIn(planned.document), screenOf(process.stderr), flags.config))
    }
    const deployment = { name: report.deployment }
    await interruptible(async (signal) =>
      confirmed({ deployment, confirm: undefined, words: walk.words, signal }, show),
    )
    return undefined
  } catch (error) {
    if (error instanceof AdminError) return stopOf(error)
    throw error
  }
}

/** Runs a repair, keeps its document, and prints its end. Returns why the walk stops. */
async function carry(
  walk: Walk,
  { fix, words }: FixStep,
  more: readonly string[],
  others: readonly string[] = [],
): Promise<Stop | undefined> {
  const { flags, documents, perform } = walk
  let result: RunResult | null
  try {
    result = await perform(fix!, [...words!, ...commonFlags(flags, fix!, words!), ...more], others)
  } catch (error) {
    // not thrown: the document also says what was repaired before
    const failure = failureOf(error, 'testops-admin')
    if (failure === null) throw error
    tellStack(failure)
    return { error: failure.document.error, exitCode: failure.exitCode }
  }
  // there was nothing to resume: the next diagnosis tells
  if (result === null) return undefined
  const { document, exitCode } = result
  documents.push(document)
  if (flags.json) tellStack(result)
  else printEnd(result, flags.config)
  if (exitCode === 0) return undefined
  const message = `${fix} ended with exit code ${exitCode}`
  return { error: document.error ?? { code: 'FAILED', message, suggestions: [] }, exitCode, isTold: true }
}

/** Shows what a person has to do, and waits for it if there is one. */
async function leave(walk: Walk, step: FixStep): Promise<Stop | undefined> {
  const { root, does } = step
  const { text, commands } = remedyOf(root)
  const next = commands.map((command) => typedHere(command))
  if (does === 'decision') return stopped('REFUSED', `the repair of \`${root.id}\` needs your decision. ${text}`, next)
  if (does === 'wait') {
    const why = waitsForOther({ commands })
      ? 'cannot be repaired until the running migration or repair has finished'
      : `needs time, not a repair. ${text}`
    return stopped('REFUSED', `\`${root.id}\` ${why}`, next)
  }
  if (walk.flags.confirm !== undefined || walk.flags.json || !isAttended())
    return stopped('REFUSED', `\`${root.id}\` can only be repaired by hand. ${text}`, next)
  print(process.stderr, `\n${leftText(told(step, walk.flags), screenFor(walk.flags, process.stderr))}`)
  const question = 'Press Enter once that is done, s to skip it, Ctrl-C to stop: '
  const answer = await interruptible(async (signal) =>
    ask(question, { input: process.stdin, output: process.stderr }, signal),
  ).catch((error: unknown) => {
    if (error instanceof AdminError) return null
    throw error
  })
  if (answer?.trim().toLowerCase() === 's') walk.skipped.add(root.id)
  if (answer !== null) return undefined
  return stopped('REFUSED', `stopped: repair \`${root.id}\` by hand, then run this command again`, next)
}

/** Prints why the walk stops, unless a repair's own end has said it. */
function tellStop({ error, isTold = false }: Stop): void {
  if (!isTold) print(process.stderr, errorText({ error: withoutSecretsIn(error) }, screenOf(process.stderr)))
}

function stopped(code: 'REFUSED' | 'FAILED', message: string, suggestions: readonly Suggestion[]): Stop {
  return stopOf(new AdminError(code, message, suggestions))
}

function stopOf({ code, message, suggestions, exitCode }: AdminError): Stop {
  return { error: { code, message, suggestions: [...suggestions] }, exitCode }
}

const isAttended = (): boolean => process.stdin.isTTY && process.stderr.isTTY

async function examine({ flags, checks }: Walk): Promise<DoctorReport> {
  return examinedOnce(flags, checks)
}

function textOf(report: DoctorReport, flags: FixFlags, exitCode: number | null): string {
  return reportText(report, flags.format === 'json' || isDocument(flags.format) ? 'table' : flags.format, {
    screen: screenOf(process.stdout),
    exitCode,
    verbose: flags.verbose,
    translation: flags.translation,
  })
}

/** The flags that every repair has, as they were given here; those of the remedy's command stay. */
function commonFlags({ timeout, relay, config }: FixFlags, fix: Fix, words: readonly string[]): string[] {
  return [
    ...(timeout === undefined ? [] : ['--timeout', String(timeout)]),
    ...(relay === true && fix !== 'use-legacy-image' ? ['--relay'] : []),
    ...(config === undefined || words.some((word) => /^--config(?:=|$)/.test(word)) ? [] : [`--config=${config}`]),
  ]
}

/** Returns this command with the repair confirmed beforehand, beside those that were. */
function again({ words, flags: { repairs = [] } }: Walk, fix: Fix | null, deployment: string): ShellCommand {
  const kept = words.filter((word, at) => {
    const before = words[at - 1] ?? ''
    return !/^--(?:confirm|repairs)(?:=|$)/.test(word) && !/^--(?:confirm|repairs)$/.test(before)
  })
  const named = [...new Set([...repairs, ...(fix === null ? [] : [fix])])].join(',')
  return typed(['testops-admin', ...kept, '--confirm', deployment, '--repairs', named])
}
