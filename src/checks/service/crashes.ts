import { currentTime } from '../../core/local-time.ts'
import { stolenLock, whetherItMigrates } from '../../domain/lock/steps.ts'
import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Remedy, Wanted } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import type {
  InstanceHealth,
  LastWords,
  LogsSource,
  ServiceHealth,
  ServiceSource,
  ServiceStatus,
} from '../../core/sources.ts'
import { apiFails } from '../support/consequences.ts'
import { counted, moment, span } from '../../core/format.ts'
import { endingIn, masked } from '../../domain/last-words.ts'
import type { Ending } from '../../domain/last-words.ts'
import { recentRecords } from '../../domain/service.ts'
import { had, notConfigured, tolerant, wanted } from '../../domain/wanted.ts'
import { command } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import type { Deployment } from '../../core/deployment.ts'

/** Milliseconds after an end during which it is reported, even if the service came up again */
const recentMs = 3_600_000
const saidBeforeLogging =
  /^(?:Picked up |Terminating due to |Fatal |Error: |Error occurred during |Unrecognized |Exception in thread )/
/** Maximum number of processes, containers or pods whose end is explained */
const mostTold = 3

export const serviceCrashes = defineCheck({
  id: 'service/crashes',
  title: 'service stays up',
  reads: ['service'],
  wants: ['logs'],
  explains: ['service/running', 'service/ready', 'service/log-errors', ...apiFails],
  async run({ service, logs }, deployment): Promise<Outcome> {
    const [status, asked] = await Promise.all([service.status(), wanted(() => service.health())])
    const health = had(asked)
    if (asked instanceof AdminError && !notConfigured(asked)) throw asked
    const troubled = (health?.instances ?? []).filter((it) => isTroubled(it, health!))
    const stolen = await stolenLock(logs, status)
    if (troubled.length === 0 && status.state !== 'failed' && stolen === null)
      return { status: 'ok', detail: calm(status, health) }

    const look: Look = { service, logs, environment: await tolerant(service.environment()) }
    const told = await Promise.all(troubled.slice(0, mostTold).map(async (it) => findingFor(it, look)))
    const [first, ...others] = told.length > 0 ? told : [await findingFor({ ...unknownInstance, status }, look)]
    const rest = troubled.length - told.length
    const more = rest > 0 ? `; ${rest} more ${rest === 1 ? 'instance is' : 'instances are'} affected` : ''
    const holder =
      stolen === null
        ? ''
        : `; when the service last started, it released the change-log lock of ${stolen}, whose migration may ` +
          'still be running'
    const said = health?.said ?? []
    const head: Finding = {
      message: `${first!.message}${more}${holder}`,
      evidence: [service.commands.status, ...(told.length > 0 ? [] : [status.detail]), ...first!.evidence, ...said],
    }
    const again =
      status.state === 'running'
        ? 'testops-admin service restart -d {deployment}'
        : 'testops-admin service start -d {deployment}'
    // of one that was restarted again and again, only the last end is known
    const isFirst = troubled.every(({ restarts }) => restarts <= 1)
    const ends = isFirst ? troubled.flatMap(({ ended }) => ended?.at?.getTime() ?? []) : []
    const isUp = status.state === 'running' && (health?.instances ?? []).some((it) => isWorking(it))
    return {
      status: 'problem',
      severity: isUp ? 'warning' : 'error',
      findings: [head, ...others],
      ...(ends.length > 0 && { since: new Date(Math.min(...ends)) }),
      // no other fault made it release the lock, and no repair may start the service beside that migration
      ...(stolen !== null && { isApart: true, blocksRepairs: true }),
      remedy: startable(
        stolen === null
          ? remedyFor(told.length > 0 ? [first!, ...others] : [first!], again)
          : letItEnd(stolen, deployment),
        status,
      ),
    }
  },
})

interface Look {
  service: ServiceSource
  logs: Wanted<LogsSource>
  environment: Awaited<ReturnType<ServiceSource['environment']>> | null
}

/** `status` is present if the platform reports no instance */
type Troubled = InstanceHealth & { status?: ServiceStatus }

type Told = Finding & { ending: Ending | null; outOfMemory: boolean }

/**
 * Returns the remedy for a stolen lock. Started at once, the service would take the free lock and migrate beside the
 * other.
 */
function letItEnd(holder: string, deployment: Deployment): Remedy {
  return {
    text: 'Keep the service stopped until the other migration has ended. Only then start the service.',
    commands: [
      whetherItMigrates(holder, deployment),
      'testops-admin service start -d {deployment} --accept-risk running-migration   # once the other ' +
        'migration has ended',
      '{logs}',
      'testops-admin explain lock-stolen',
    ],
    risk: 'Two migrations at once can leave the database in an unknown state.',
  }
}

/**
 * Replaces starts and edits if something else owns the pods: a service started by hand would run beside them, and an
 * edit that the owner does not follow fixes nothing.
 */
function startable(remedy: Remedy, { ownedByOthers = [] }: ServiceStatus): Remedy {
  if (ownedByOthers.length === 0) return remedy
  const owners = ownedByOthers.flatMap(({ proof }) => proof)
  const isStart = (it: Suggestion): boolean => it === '{start}' || /^testops-admin service (?:re)?start /.test(it)
  const own = remedy.commands.filter((it) => !isStart(it)).flatMap((it) => (it === '{edit}' ? owners : [it]))
  const names = ownedByOthers.map(({ name }) => name).join(', ')
  return {
    ...remedy,
    text: `${remedy.text} Its pods belong to ${names}.`,
    commands: [...new Set([...own, ...owners])],
  }
}

/** Stands for the service if the platform reports only that it has failed. */
const unknownInstance = {
  name: 'the service',
  isUp: false,
  isReady: null,
  startedAt: null,
  waits: null,
  ended: null,
  restarts: 0,
}

function isWorking({ isUp, isReady }: InstanceHealth): boolean {
  return isUp && isReady !== false
}

/**
 * True if it cannot begin, or has ended and does not run, or ended not long ago and runs again. One that was replaced
 * does not count.
 */
function isTroubled(it: InstanceHealth, { instances }: ServiceHealth): boolean {
  if (it.waits !== null) return true
  if (it.ended === null) return false
  const { at } = it.ended
  if (at !== null && currentTime() - at.getTime() <= recentMs) return true
  return !it.isUp && !instances.some(isWorking)
}

function calm({ state }: ServiceStatus, health: ServiceHealth | null): string {
  if (state !== 'running') return 'the service was stopped; it did not crash'
  const restarts = (health?.instances ?? []).reduce((sum, it) => sum + it.restarts, 0)
  return restarts === 0
    ? 'the service has not crashed'
    : `${counted(restarts, 'restart')}, none in the last ${span(recentMs)}`
}

async function findingFor(it: Troubled, { service, logs, environment }: Look): Promise<Told> {
  const words = it.waits !== null && it.ended === null ? null : await wordsOf(it, service, logs)
  const ending =
    words === null || words instanceof AdminError ? null : endingIn(words.text, (line) => masked(line, environment))
  const outOfMemory = it.ended?.reason === 'OOMKilled' || it.ended?.reason.includes('oom-kill') === true
  const why = outOfMemory ? 'it used more memory than allowed' : (ending?.reason?.means ?? null)
  const shown =
    words === null
      ? []
      : words instanceof AdminError
        ? [words.message, ...words.suggestions]
        : [words.command, ...(ending?.lines ?? [])]
  return { message: `${inWords(it)}${why === null ? '' : `: ${why}`}`, evidence: shown, ending, outOfMemory }
}

/**
 * Returns the end of the run that ended: from its own log if the platform keeps one, else from that part of the whole.
 */
async function wordsOf(
  { name, ended }: InstanceHealth,
  service: ServiceSource,
  logs: Wanted<LogsSource>,
): Promise<LastWords | AdminError | null> {
  const own = await wanted(() => service.lastWords(name))
  if (own !== null) return own
  const records = await recentRecords(logs)
  const [from, to] = [ended?.startedAt?.getTime() ?? 0, (ended?.at?.getTime() ?? Number.POSITIVE_INFINITY) + 1000]
  // a platform may report times only to the second
  const before = records.findLastIndex(({ at }) => at !== null && at.getTime() < from - 1000)
  const after = records.findIndex(({ at }, index) => index > before && at !== null && at.getTime() > to)
  const run = records.slice(before + 1, after === -1 ? undefined : after)
  const text = run.length > 0 ? run.map(({ text }) => text).join('\n') : undatedWords(records[before]?.text ?? '')
  return text === '' ? null : { command: service.commands.logs, text }
}

/**
 * Returns what Java or the C library prints before the first dated line. In the log it looks like part of the previous
 * run.
 */
function undatedWords(lastRecord: string): string {
  const lines = lastRecord.split('\n').slice(1)
  const first = lines.findIndex((line) => saidBeforeLogging.test(line))
  return first === -1 ? '' : lines.slice(first).join('\n')
}

function inWords({ name, isUp, isReady, waits, ended, restarts, status }: Troubled): string {
  if (status) return `the service ${status.state === 'failed' ? 'has failed' : 'is stopped'}: ${status.detail}`
  const how =
    ended === null
      ? ''
      : `it ${ended.exitCode === null ? 'ended' : `exited with ${ended.exitCode}`}` +
        `${ended.reason === '' ? '' : ` (${ended.reason})`}${ended.at === null ? '' : ` at ${moment(ended.at)}`}`
  const again = restarts === 0 ? '' : `restarted ${restarts === 1 ? 'once' : `${restarts} times`}`
  const state =
    waits !== null
      ? `${ended === null ? 'cannot start' : 'does not stay up'} (${waits})`
      : isUp && isReady !== false
        ? 'is up again'
        : isUp
          ? 'does not become ready'
          : 'has failed'
  return [`${name} ${state}`, how, again].filter(Boolean).join(', ')
}

/** Returns the remedy; `again` is the command that starts the service. */
function remedyFor(told: readonly Told[], again: Suggestion): Remedy {
  if (told.some(({ outOfMemory }) => outOfMemory)) {
    return {
      text:
        'Give the service more memory. The limit of its container, unit or machine must be larger than the heap ' +
        'of its JVM.',
      commands: ['{edit}', '{logs}', 'testops-admin explain service/crashes'],
    }
  }
  const reason = told.find(({ ending }) => ending?.reason)?.ending?.reason ?? null
  if (reason === null)
    return {
      text:
        'Find out why the service stopped, and fix the cause. Then start the service, unless it restarts by ' +
        'itself.',
      commands: ['{logs}', again, '{status}'],
    }
  const { next, explain } = reason
  return {
    text:
      next === undefined
        ? 'Start the service again: as far as the other checks show, the cause of the crash is gone.'
        : 'Fix the cause. Then start the service, unless it restarts by itself.',
    commands: [
      ...(next === undefined ? [] : [next]),
      again,
      '{logs}',
      '{status}',
      command`testops-admin explain ${explain}`,
    ],
  }
}
