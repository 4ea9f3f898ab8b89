import type { Check, CheckReport, DoctorReport } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import { closestNames, closestTo } from '../../core/nearest.ts'
import type { ServiceImage, ServiceSource } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { withDeadline } from '../../engine/judge.ts'
import { runChecks } from '../../engine/run-checks.ts'
import type { RunOptions } from '../../engine/run-checks.ts'
import type { OpenedDeployment } from '../../runtime/index.ts'
import { isOwnCheck, ownGroup } from '../../knowledge/check-ids.ts'
import { isReadOnly } from '../repair/read-only.ts'
import type { CommandOf } from './rights.ts'

export interface DiagnosisOptions {
  checks: readonly Check[]
  /** Opens the deployment; called again after a connection is lost */
  open: () => Promise<Observed>
  deadlineMs: number
  /** Milliseconds to wait really; absent: as long as `deadlineMs` */
  waitMs?: number | undefined
  /** When to ask what happened before the diagnosis; by default if there is a problem */
  past?: RunOptions['past']
  /** Finds the rights of repairs; absent: nobody asks */
  commandOf?: CommandOf | undefined
  signal: AbortSignal
}

type Observed = Pick<OpenedDeployment, 'deployment' | 'commands' | 'open' | 'renew' | 'close'> &
  Partial<OpenedDeployment>

/**
 * Diagnoses one deployment repeatedly, on the same connections and tokens as long as the service's settings lead there.
 */
export interface Diagnosis {
  examine(onResult?: (report: CheckReport) => void): Promise<DoctorReport>
  /** The same without asking for rights, for a report that nobody reads */
  glance(): Promise<DoctorReport>
  /** Adds to the last report of `glance` which rights its repairs lack */
  withRights(report: DoctorReport): Promise<DoctorReport>
  /** Closes the connections. Never throws */
  close(): Promise<void>
}

/** Returns a diagnosis that opens nothing before `examine`, which throws INTERRUPTED and what `open` throws. */
export function diagnosis({
  checks,
  open,
  deadlineMs,
  waitMs,
  past = 'with-problems',
  commandOf,
  signal,
}: DiagnosisOptions): Diagnosis {
  let current: Observed | null = null

  const close = async (): Promise<void> => {
    const closing = current
    current = null
    await closing?.close()
  }
  const glance = async (onResult?: (report: CheckReport) => void): Promise<DoctorReport> => {
    const reused = current !== null
    const opened = (current ??= await open())
    if (reused) opened.renew()
    const { deployment, commands } = opened
    const [report, build] = await Promise.all([
      runChecks({
        checks,
        open: opened.open,
        deployment,
        deadlineMs,
        waitMs,
        commands,
        isIgnoring: true,
        past,
        onResult,
        signal,
      }),
      declaredBuild(opened.open.service, waitMs ?? deadlineMs),
    ])
    // a connection that went stale since the last time says nothing about the deployment
    if (reused && report.checks.some(isLost)) {
      await close()
      return glance(onResult)
    }
    const { schemaVersion, deployment: name, found, platform, ...rest } = report
    return {
      schemaVersion,
      deployment: name,
      ...(found !== undefined && { found }),
      platform,
      build,
      ...(deployment.timeZone !== null && { timeZone: deployment.timeZone }),
      ...rest,
    }
  }
  const withRights = async (report: DoctorReport): Promise<DoctorReport> => {
    const isAsked = commandOf !== undefined && current !== null && report.rootCauses.length > 0
    // where nothing may be changed, nobody repairs
    if (!isAsked || isReadOnly() || !canChange(current!)) return report
    const rights = await import('./rights.ts')
    return rights.withRights(report, current, { commandOf, waitMs: waitMs ?? deadlineMs })
  }
  return { examine: async (onResult) => withRights(await glance(onResult)), glance, withRights, close }
}

/** A report that was saved has nothing to change. */
function canChange(opened: Observed): opened is OpenedDeployment {
  return opened.control !== undefined
}

function isLost({ status, error }: CheckReport): boolean {
  return status === 'unknown' && (error?.code === 'UNREACHABLE' || error?.code === 'TIMED_OUT')
}

/** Returns the build that the deployment is declared to run; null if it is unknown. */
async function declaredBuild(service: () => Promise<ServiceSource>, deadlineMs: number): Promise<string | null> {
  try {
    const image = async (): Promise<ServiceImage> => (await service()).image()
    return (await withDeadline(image(), deadlineMs, () => new Error('the image was not told in time'))).build
  } catch {
    return null
  }
}

/**
 * Returns the checks to run, in the catalogue's order. A name is an id, or a group: `broker`, `broker/`, `broker/*`.
 * Throws USAGE for any other name, with the nearest ones, and if no check is left. Names of own checks are left to
 * `selectOwnChecks`, and then no check may be left.
 */
export function selectChecks<C extends Pick<Check, 'id'>>(
  all: readonly C[],
  only: readonly string[],
  skip: readonly string[],
): C[] {
  const isOwn = only.some(isOwnName)
  const known = { only: only.filter((it) => !isOwnName(it)), skip: skip.filter((it) => !isOwnName(it)) }
  const chosen = selected(all, known)
  if (isOwn && known.only.length === 0) return []
  if (chosen.length === 0 && !isOwn) throw noneLeft()
  return chosen
}

/** What `--only` and `--skip` say. */
export interface CheckNames {
  only?: readonly string[] | undefined
  skip?: readonly string[] | undefined
}

/**
 * Returns the own checks of a deployment that the flags choose, beside so many `others` of the catalogue. Throws USAGE
 * for the name of an own check that it does not have, with the nearest ones, and if no check is left.
 */
export function selectOwnChecks<C extends Pick<Check, 'id'>>(
  own: readonly C[],
  names: CheckNames,
  { others }: { others: number },
): C[] {
  assertOwn(own, namedOwn(names), 'this deployment has no own checks', names)
  const chosen = ownChosen(own, names)
  if (others + chosen.length === 0) throw noneLeft()
  return chosen
}

/**
 * Does the same for several deployments, in their order. Another deployment may have the own checks that one lacks, so
 * one may be left without a check. Null stands for a deployment whose entry is wrong: what it has is not known. Throws
 * USAGE for a name that no deployment has, and if no deployment is left with a check, unless one is not known.
 */
export function selectOwnChecksOfAll<C extends Pick<Check, 'id'>>(
  all: readonly (readonly C[] | null)[],
  names: CheckNames,
  { others }: { others: number },
): C[][] {
  const chosen = all.map((own) => ownChosen(own ?? [], names))
  if (all.includes(null)) return chosen
  const every = all.flatMap((own) => own ?? [])
  assertOwn(every, namedOwn(names), 'none of these deployments has own checks', names)
  if (others === 0 && chosen.every((own) => own.length === 0)) throw noneLeft()
  return chosen
}

const ownNames = (names: readonly string[] = []): string[] => names.filter(isOwnName)

/** Names that have to exist: a job that skips all own checks also works after the last of them is gone. */
function namedOwn({ only, skip }: CheckNames): string[] {
  return [...ownNames(only), ...ownNames(skip).filter((it) => groupIn(it) !== ownGroup)]
}

function ownChosen<C extends Pick<Check, 'id'>>(own: readonly C[], { only = [], skip = [] }: CheckNames): C[] {
  const isAmong = ({ id }: C, names: readonly string[]): boolean => names.some((name) => isMeant(id, name))
  return own.filter((it) => (only.length === 0 || isAmong(it, ownNames(only))) && !isAmong(it, ownNames(skip)))
}

/** Throws USAGE for a name of no own check. `none`: what to say if there is no own check. */
function assertOwn(own: readonly Pick<Check, 'id'>[], named: readonly string[], none: string, names: CheckNames): void {
  const wrong = named.find((name) => !own.some(({ id }) => isMeant(id, name)))
  if (wrong === undefined) return
  const flag = names.only?.includes(wrong) ? '--only' : '--skip'
  if (own.length > 0) throw unknownCheck(wrong, [...new Set(own.map(({ id }) => id))], flag)
  throw new AdminError('USAGE', `no check \`${wrong}\`: ${none}`, ['testops-admin checks'])
}

/** True for `own`, `own/NAME` and the like. */
function isOwnName(name: string): boolean {
  return name === ownGroup || isOwnCheck(name)
}

function noneLeft(): AdminError {
  return new AdminError('USAGE', '--only and --skip leave no check to run', ['testops-admin checks'])
}

function selected<C extends Pick<Check, 'id'>>(
  all: readonly C[],
  { only, skip }: Required<{ [K in keyof CheckNames]: readonly string[] }>,
): C[] {
  const ids = all.map(({ id }) => id)
  const wanted = new Set(only.flatMap((name) => idsOf(name, ids, '--only')))
  const unwanted = new Set(skip.flatMap((name) => idsOf(name, ids, '--skip')))
  return all.filter(({ id }) => (only.length === 0 || wanted.has(id)) && !unwanted.has(id))
}

function isMeant(id: string, name: string): boolean {
  return id === name || id.startsWith(`${groupIn(name)}/`)
}

function groupIn(name: string): string {
  return name.replace(/\/\*?$/, '')
}

function idsOf(name: string, ids: readonly string[], flag: string): string[] {
  const found = ids.filter((id) => isMeant(id, name))
  if (found.length > 0) return found
  throw unknownCheck(name, ids, flag)
}

/** Returns the error for a name of no check, with the nearest ones of these ids and their groups. */
function unknownCheck(name: string, ids: readonly string[], flag: string): AdminError {
  const group = groupIn(name)
  const groups = new Set(ids.map((id) => id.split('/')[0] ?? id))
  const known = name.includes('/') ? ids : [...groups, ...ids]
  return new AdminError('USAGE', `no check \`${name}\`; ${closestTo(group, known)}`, [
    ...closestNames(group, known).map((id) => typed([flag, id])),
    'testops-admin checks',
  ])
}
