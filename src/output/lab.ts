import { harmlessIn } from '../core/harmless.ts'
import { paintFor } from './paint.ts'
import type { Screen } from './paint.ts'
import { countOf, hang, pad, widthOf, wrap } from './text.ts'
import { command, nested } from '../core/shell-command.ts'
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
}

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
  const { phase, directory, servers, service, broken, operator, commands, configuration } = harmlessIn(document)
  const paint = paintFor(screen)
  const atWork = operator
    ? [`${operator.command} has been running since ${operator.since} (process ${operator.pid})`]
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
      paint.bad(`${how === 'half' ? 'Partly broken' : 'Broken'}: ${name}, since ${since}`),
    ),
    whatNext(document),
    '',
    `Configuration: ${configuration}`,
    'Commands to copy:',
    ...commands.map((command) => `  ${command}`),
  ])
}

function whatNext({ servers, service, broken }: LabStatusDocument): string {
  if (broken.length > 0) return 'Mend the lab: testops-admin lab mend'
  const isWhole = servers.every(({ running }) => running) && service?.state === 'running'
  return isWhole
    ? 'Nothing is broken. Break something: testops-admin lab break FAULT (list the names: testops-admin lab faults)'
    : 'Part of the lab is stopped. Start it: testops-admin lab up'
}

export function labUpText(document: LabUpDocument, screen: Screen): string {
  const { already, started, broken } = harmlessIn(document)
  const what =
    broken.length > 0
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
  const { mended, remaining, healthy } = harmlessIn(document)
  const done = mended.length === 0 ? 'Nothing to mend' : `Mended: ${mended.join(', ')}`
  const state = healthy
    ? '`doctor` finds no problem'
    : remaining.length > 0
      ? `still broken: ${remaining.join(', ')}`
      : 'no fault of that name is active in the lab'
  return `${done}; ${state}.\n`
}

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
