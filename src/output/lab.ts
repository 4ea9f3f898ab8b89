import { harmlessIn } from '../core/harmless.ts'
import { paintFor } from './paint.ts'
import type { Screen } from './paint.ts'
import { moment, span } from '../core/format.ts'
import { countOf, hang, pad, widthOf, withTimesHere, wrap } from './text.ts'
import { command, nested, typed } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** What `lab status --json` prints, and `lab up --json` with `already` and `started` added. */
export interface LabStatusDocument {
  schemaVersion: 1
  phase: 'absent' | 'starting' | 'up' | 'stopping'
  directory: string
  servers: readonly { kind: string; version: string; way: string; address: string; running: boolean }[]
  service: { url: string; state: string; detail: string; log: string } | null
  configuration: string | null
  broken: readonly { name: string; since: string; state: 'half' | 'broken' }[]
  /** The drill under way, whose faults are not in `broken`; `startedAt` is null if its clock has not started */
  drill: { phase: 'breaking' | 'running' | 'unreadable'; startedAt: string | null } | null
  operator: { command: string; pid: number; since: string } | null
  /** Lines to copy into a shell */
  commands: readonly Suggestion[]
}

export interface LabUpDocument extends LabStatusDocument {
  /** True if the lab was up before */
  already: boolean
  started: readonly string[]
}

export interface LabDownDocument {
  schemaVersion: 1
  found: boolean
  removed: readonly string[]
}

export interface LabBreakDocument {
  schemaVersion: 1
  made: readonly { name: string; made: string; repair: string }[]
  already: readonly string[]
  /** The exit code that doctor must have, if a single fault was made */
  expectedExitCode: number | null
}

export interface LabMendDocument {
  schemaVersion: 1
  mended: readonly string[]
  remaining: readonly string[]
  healthy: true | null
  /** The drill that this ended, as given up */
  drill?: LabPastDrill
}

/** A drill that has ended. Times are in seconds since its start; null: it never came to that */
export interface LabPastDrill {
  id: string
  startedAt: string
  outcome: 'done' | 'given-up' | 'mended' | 'abandoned'
  request: { faults: 1 | 2; seed: number; only: string | null }
  faults: readonly string[]
  named: readonly { fault: string; check: string; seconds: number }[]
  wrong: number
  seconds: number
  diagnosisSeconds: number | null
  healthySeconds: number | null
  /** True if the machine was restarted since the start, so that only its clock could tell the times */
  isByClock: boolean
}

interface LabDrillStanding {
  startedAt: string
  seconds: number
  isByClock: boolean
  faults: number
  named: readonly string[]
  wrong: number
  /** Exit code of doctor; null: it was not asked */
  doctor: number | null
  /** Servers that do not run any more */
  stopped: readonly string[]
}

/** What `lab drill --json` prints. */
export type LabDrillDocument =
  | { schemaVersion: 1; event: 'begun' | 'standing'; drill: LabDrillStanding }
  | {
      schemaVersion: 1
      event: 'answered'
      answer: { id: string; verdict: 'right' | 'wrong' | 'known' }
      drill: LabDrillStanding
    }
  | {
      schemaVersion: 1
      event: 'ended'
      past: LabPastDrill
      faults: readonly {
        name: string
        made: string | null
        rootCauses: readonly string[]
        quickest: readonly Suggestion[]
      }[]
    }
  | { schemaVersion: 1; event: 'history'; drills: readonly LabPastDrill[] }

export interface LabFaultsDocument {
  schemaVersion: 1
  faults: readonly {
    name: string
    fault: string
    variant: string | null
    kind: 'fault' | 'healthy'
    title: string
    made: string
    repair: string
    repairedBy: readonly string[] | null
    refused: readonly string[] | null
    expected: {
      exitCode: number
      problems: readonly { check: string; severity: 'error' | 'warning' }[]
      rootCauses: readonly string[]
      allowedConsequences: readonly string[]
    }
    needs: { own: readonly string[]; broker: string | null }
  }[]
}

export function labStatusText(document: LabStatusDocument, screen: Screen): string {
  const { phase, directory, servers, service, broken, drill, operator, commands, configuration } = harmlessIn(document)
  const paint = paintFor(screen)
  const atWork = operator
    ? wrap(
        `${operator.command} has been running since ${moment(operator.since)} (process ${operator.pid})`,
        screen.columns,
      )
    : []
  if (phase === 'absent')
    return lines([`There is no lab in ${directory}.`, ...atWork, '', 'Start one: testops-admin lab up'])
  if (phase !== 'up') {
    const next = operator ? [] : ['', 'Resume: testops-admin lab up. Or remove the lab: testops-admin lab down']
    return lines([`The lab in ${directory} is ${phase}.`, ...atWork, ...next])
  }
  const width = Math.max(...servers.map(({ kind }) => widthOf(kind)), widthOf('service'))
  const state = (running: boolean): string => (running ? paint.good('running') : paint.bad('stopped'))
  return lines([
    `${paint.strong('Lab')} in ${directory}`,
    ...atWork,
    '',
    ...servers.map(
      ({ kind, version, way, address, running }) =>
        `  ${pad(kind, width)}  ${state(running)}  ${address}  ${version} (${way})`,
    ),
    ...(service
      ? [
          `  ${pad('service', width)}  ` +
            `${service.state === 'running' ? paint.good('running') : paint.bad(service.state)}  ${service.url}`,
        ]
      : []),
    '',
    ...broken.map(({ name, since, state: how }) =>
      paint.bad(`${how === 'half' ? 'Partly broken' : 'Broken'}: ${name}, since ${withTimesHere(moment(since))}`),
    ),
    ...(drill ? [paint.strong(drillLine(drill))] : []),
    whatNext(document),
    '',
    `Configuration: ${configuration}`,
    'Commands to copy:',
    ...commands.map((command) => `  ${command}`),
  ])
}

function drillLine({ phase, startedAt }: NonNullable<LabStatusDocument['drill']>): string {
  if (phase === 'running') return `A drill has been under way since ${withTimesHere(moment(startedAt ?? ''))}.`
  return phase === 'breaking'
    ? 'A drill is breaking the lab, or was interrupted while it did.'
    : 'A drill is under way, but its record is damaged.'
}

function whatNext({ servers, service, broken, drill, operator }: LabStatusDocument): string {
  if (drill?.phase === 'running') return 'Show where the drill stands: testops-admin lab drill'
  if (drill?.phase === 'breaking' && operator) return 'Wait until the drill has begun.'
  if (drill) return 'Mend the lab: testops-admin lab mend'
  if (broken.length > 0) return 'Mend the lab: testops-admin lab mend'
  const isWhole = servers.every(({ running }) => running) && service?.state === 'running'
  return isWhole
    ? 'Nothing is broken. Break something: testops-admin lab break FAULT (list the names: testops-admin lab faults)'
    : 'Part of the lab is stopped. Start it: testops-admin lab up'
}

export function labUpText(document: LabUpDocument, screen: Screen): string {
  const { already, started, broken, drill } = harmlessIn(document)
  const what = drill
    ? 'The lab is up, and a drill is under way.'
    : broken.length > 0
      ? `The lab is up, and ${broken.length === 1 ? 'its fault is' : 'its faults are'} not mended yet.`
      : already && started.length === 0
        ? 'The lab is already up.'
        : already
          ? `The lab was already up. Started what was not running: ${started.join(', ')}.`
          : 'The lab is up and healthy.'
  return `${wrap(what, screen.columns).join('\n')}\n\n${labStatusText(document, screen)}`
}

export function labDownText(document: LabDownDocument, { columns }: Screen): string {
  const { found, removed } = harmlessIn(document)
  if (!found) return 'There is no lab to remove.\n'
  return lines(wrap(removed.length === 0 ? 'The lab is gone.' : `The lab is gone: ${removed.join(', ')}.`, columns))
}

export function labBreakText(document: LabBreakDocument, screen: Screen): string {
  const { made, already, expectedExitCode } = harmlessIn(document)
  const told = made.flatMap(({ name, made: how, repair }) => [
    ...hang(`${name}: `, `${how}.`, screen.columns),
    ...hang('  repair: ', repair, screen.columns),
  ])
  // a fault that a repair has fixed stays on record until it is mended
  const before = already.flatMap((name) =>
    hang(
      `${name}: `,
      command`skipped, because this fault is already on record. If a repair has fixed it since, first run:
        testops-admin lab mend ${name}`,
      screen.columns,
    ),
  )
  const ends = expectedExitCode === null ? '' : command`   # exits with ${expectedExitCode}`
  return lines([
    ...told,
    ...before,
    '',
    command`Diagnose: testops-admin doctor -d lab${nested(ends)}`,
    'Mend: testops-admin lab mend',
  ])
}

export function labMendText(document: LabMendDocument): string {
  const { mended, remaining, healthy, drill } = harmlessIn(document)
  const done = mended.length === 0 ? 'Nothing to mend' : `Mended: ${mended.join(', ')}`
  const state = healthy
    ? '`doctor` finds no problem'
    : remaining.length > 0
      ? `still broken: ${remaining.join(', ')}`
      : 'no fault of that name is active in the lab'
  const ended = drill
    ? `This ended the drill after ${span(drill.seconds * 1000)}: it counts as given up.\n` +
      'See it: testops-admin lab drill --history\n'
    : ''
  return `${done}; ${state}.\n${ended}`
}

/** Shows what one call of `lab drill` came to. */
export function labDrillText(document: LabDrillDocument, screen: Screen): string {
  const shown = harmlessIn(document)
  if ('drills' in shown) return lines(historyLines(shown.drills, screen))
  if ('past' in shown) return lines(endedLines(shown, screen))
  const { drill } = shown
  const standing = [...standingLines(drill, screen), '', ...drillNext(drill)]
  if ('answer' in shown) return lines([verdictLine(shown.answer, screen), '', ...standing])
  if (shown.event === 'standing') return lines(standing)
  const what = drill.faults === 1 ? 'one fault, which is not named' : `${drill.faults} faults, which are not named`
  return lines([
    ...wrap(`The drill has begun: the lab has ${what}. The clock is running.`, screen.columns),
    '',
    `Find ${drill.faults === 1 ? 'it' : 'them'}, as in a real deployment: testops-admin doctor -d lab`,
    ...drillNext(drill),
  ])
}

function verdictLine({ id, verdict }: (LabDrillDocument & { event: 'answered' })['answer'], screen: Screen): string {
  const paint = paintFor(screen)
  if (verdict === 'right') return paint.good(`Right: ${id} is a root cause.`)
  return verdict === 'wrong' ? paint.bad(`Wrong: ${id} is not a root cause in this drill.`) : `${id} was named before.`
}

function drillNext({ named, faults }: LabDrillStanding): string[] {
  return [
    ...(named.length === faults ? [] : ['Name a root cause by its check:    testops-admin lab drill --answer CHECK']),
    'End the drill, once it is healthy: testops-admin lab drill --done',
    'Show the answer, and mend the lab: testops-admin lab drill --give-up',
  ]
}

const clockNote = 'The machine was restarted during the drill, so the times are those of its clock.'

function standingLines(
  { seconds, isByClock, faults, named, wrong, doctor, stopped }: LabDrillStanding,
  screen: Screen,
): string[] {
  const paint = paintFor(screen)
  const isAll = named.length === faults
  const diagnosis = `${named.length} of ${faults} named${named.length > 0 ? ` (${named.join(', ')})` : ''}`
  const health =
    doctor === 0
      ? paint.good('doctor finds no problem')
      : paint.bad(
          doctor === 1
            ? 'doctor finds a problem'
            : doctor === 2
              ? 'doctor finds warnings'
              : 'doctor cannot check everything',
        )
  return [
    `The drill has been under way for ${span(seconds * 1000)}.`,
    ...(isByClock ? wrap(clockNote, screen.columns) : []),
    '',
    `  Diagnosis  ${isAll ? paint.good(diagnosis) : diagnosis}, ${countOf(wrong, 'wrong answer')}`,
    ...(doctor === null ? [] : [`  Health     ${health}`]),
    ...(stopped.length === 0
      ? []
      : hang(
          '  Lab        ',
          `stopped: ${stopped.join(', ')}. This is not part of the drill. Give up, and begin another one.`,
          screen.columns,
        )),
  ]
}

function endedLines({ past, faults }: LabDrillDocument & { event: 'ended' }, screen: Screen): string[] {
  const paint = paintFor(screen)
  const { outcome, seconds, request, named, diagnosisSeconds, healthySeconds, wrong, isByClock } = past
  const after = (seconds: number | null, never: string): string =>
    seconds === null ? never : `after ${span(seconds * 1000)}`
  const checks = named.length > 0 ? ` (${named.map(({ check }) => check).join(', ')})` : ''
  const title = `${outcome === 'done' ? 'The drill is done' : 'The drill was given up'} after ${span(seconds * 1000)}.`
  const again = typed([
    ...['testops-admin', 'lab', 'drill'],
    ...(request.faults === 2 ? ['--faults', '2'] : []),
    ...(request.only === null ? [] : ['--only', request.only]),
    ...['--seed', String(request.seed)],
  ])
  return [
    outcome === 'done' ? paint.good(title) : paint.bad(title),
    ...(isByClock ? wrap(clockNote, screen.columns) : []),
    '',
    ...faults.flatMap(({ name, made }) => hang('  Broken     ', made ? `${name}: ${made}` : name, screen.columns)),
    ...hang(
      '  Diagnosis  ',
      `${after(diagnosisSeconds, 'not complete')}${checks}, ${countOf(wrong, 'wrong answer')}`,
      screen.columns,
    ),
    `  Health     ${after(healthySeconds, 'not healthy at the end')}`,
    '',
    ...quickestLines(faults),
    '',
    `The same drill again: ${again}`,
    'Past drills: testops-admin lab drill --history',
  ]
}

/** The commands of the quickest way, each once. */
function quickestLines(faults: readonly { quickest: readonly Suggestion[] }[]): string[] {
  const commands = [...new Set(faults.flatMap(({ quickest }) => quickest))]
  return commands.length === 0 ? [] : ['The quickest way:', ...commands.map((command) => `  ${command}`)]
}

const mostShown = 20

function historyLines(drills: readonly LabPastDrill[], screen: Screen): string[] {
  if (drills.length === 0) return ['There is no record of a drill. Begin one: testops-admin lab drill']
  const shown = drills.slice(-mostShown)
  const earlier = drills.length - shown.length
  return [
    ...(earlier > 0 ? [`${countOf(earlier, 'earlier drill')}: testops-admin lab drill --history --json`, ''] : []),
    ...shown.flatMap((it) =>
      hang(`${withTimesHere(moment(it.startedAt))}  `, `${it.faults.join(', ')}: ${pastText(it)}`, screen.columns),
    ),
  ]
}

function pastText({ outcome, seconds, diagnosisSeconds, healthySeconds, wrong }: LabPastDrill): string {
  const after = (it: number | null): string => `after ${span((it ?? seconds) * 1000)}`
  return [
    diagnosisSeconds === null ? 'not diagnosed' : `diagnosed ${after(diagnosisSeconds)}`,
    outcome === 'done' ? `healthy ${after(healthySeconds)}` : `${outcomes[outcome] ?? outcome} ${after(seconds)}`,
    countOf(wrong, 'wrong answer'),
  ].join(', ')
}

const outcomes = {
  'given-up': 'given up',
  mended: 'given up by `lab mend`',
  abandoned: 'abandoned by `lab down`',
} as const

export function labFaultsText(document: LabFaultsDocument, screen: Screen): string {
  const { faults } = harmlessIn(document)
  const paint = paintFor(screen)
  const shown = faults.flatMap(({ name, made, repair, expected: { exitCode, problems } }) => {
    const said =
      problems.length === 0 ? 'nothing' : problems.map(({ check, severity }) => `${severity} ${check}`).join(', ')
    return [
      paint.strong(name),
      ...hang('  made:   ', made, screen.columns),
      ...hang('  doctor: ', `${said}; exits with ${exitCode}`, screen.columns),
      ...hang('  repair: ', repair, screen.columns),
    ]
  })
  const count = `${countOf(faults.length, 'way')} to break the lab, or to make it look broken.`
  return lines([...shown, '', count, 'Try one: testops-admin lab break NAME'])
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`
}
