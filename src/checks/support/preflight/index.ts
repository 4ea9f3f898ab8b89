import type { Check, Finding, Outcome, Remedy } from '../../../core/check.ts'
import { defineCheck } from '../../../core/check.ts'
import { AdminError } from '../../../core/error.ts'
import { bytes, counted, listed, span } from '../../../core/format.ts'
import { command, nested } from '../../../core/shell-command.ts'
import type { BrokerQueue } from '../../../core/sources.ts'
import { byHand } from '../../../domain/by-hand.ts'
import { onBroker, pgDump, rabbitmqctl, settingLines } from '../../../domain/evidence.ts'
import { lookedAt, queueSituation } from '../../../domain/queues/broker-queues.ts'
import { had, tolerant } from '../../../domain/wanted.ts'
import { deniesTransientQueues, transientQueues } from '../../../knowledge/broker.ts'
import { brokerQueuesDurable } from '../../broker/queues-durable.ts'
import { brokerReachable } from '../../broker/reachable.ts'
import { changelogLockCheck } from '../../database/changelog-lock.ts'
import { databaseDisk } from '../../database/disk.ts'
import { databaseReachable } from '../../database/reachable.ts'
import { serviceRunning } from '../../service/running.ts'
import { serviceUnfinishedRepair } from '../../service/unfinished-repair.ts'
import { again, imageFor, isOlder, known, probesLeaveTime, processorsFor, treesFor, valuesFor } from './service.ts'
import type { UpgradeTarget } from './service.ts'

/** Hours after which a backup is no longer recent */
const recentHours = 24

/**
 * Returns checks of whether a deployment is ready for a version. A skipped check does not matter for this upgrade. Ids
 * are those of the catalogue where the same thing is judged.
 */
export function preflightChecks(target: UpgradeTarget): readonly Check[] {
  return [
    backupFor(target),
    ...(target.values ? [valuesFor(target, target.values)] : []),
    databaseReachable,
    lockFor(),
    roomFor(target),
    brokerReachable,
    queuesFor(target),
    serviceRunning,
    serviceUnfinishedRepair,
    imageFor(target),
    processorsFor(target),
    treesFor(target),
    probesLeaveTime,
  ]
}

function backupFor(target: UpgradeTarget): Check {
  const { backupAt } = target
  return defineCheck({
    id: 'backup',
    title: 'a recent backup of the database exists',
    reads: [],
    wants: ['database'],
    async run({ database }): Promise<Outcome> {
      const [one] = had(database) ?? []
      const dump = pgDump(one?.target ?? '', (one && (await tolerant(one.identity()))?.user) ?? null)
      if (backupAt === null)
        throw new AdminError('UNAVAILABLE', 'no backup was named: a migration of the database cannot be undone', [
          dump,
          command`${nested(again(target, '--backup-taken', 'TIME'))}   # TIME is when it was made: 2026-11-28T02:00Z, or
            1h for an hour ago`,
        ])
      const age = Date.now() - backupAt.getTime()
      if (age <= recentHours * 3_600_000) return { status: 'ok', detail: `made ${span(age)} ago` }
      return {
        status: 'problem',
        severity: 'warning',
        findings: [
          {
            message: `the backup is ${span(age)} old: what was entered since then would be lost with a failed upgrade`,
            evidence: [command`--backup-taken ${backupAt.toISOString()}`],
          },
        ],
        remedy: { text: 'Make a new backup of the database.', commands: [dump] },
      }
    },
  })
}

/**
 * A lock that a live migration holds is no fault, but nothing may be upgraded under it. A database without the lock's
 * table may be the wrong one.
 */
function lockFor(): Check {
  return {
    ...changelogLockCheck,
    async run(sources, deployment): Promise<Outcome> {
      const outcome = known(await changelogLockCheck.run(sources, deployment))
      if (outcome.status !== 'ok' || outcome.underway === undefined) return outcome
      return {
        status: 'problem',
        severity: 'error',
        findings: [{ message: outcome.detail, evidence: [] }],
        remedy: {
          text: 'Wait until the migration has ended.',
          commands: ['testops-admin doctor -d {deployment} --only database/changelog-lock'],
        },
      }
    },
  }
}

function roomFor(target: UpgradeTarget): Check {
  const { freeBytes } = target
  return {
    ...databaseDisk,
    async run(sources, deployment): Promise<Outcome> {
      const outcome = await databaseDisk.run(sources, deployment)
      if (outcome.status !== 'ok') return outcome
      const storages = await Promise.all(sources.database.map(async (it) => it.storage()))
      const size = storages.reduce((sum, { databaseBytes }) => sum + databaseBytes, 0)
      const free = freeBytes ?? storages[0]?.freeBytes ?? null
      if (free === null)
        throw new AdminError(
          'UNAVAILABLE',
          `PostgreSQL does not tell how much is free on its disk. The database has ${bytes(size)}`,
          [
            command`df -H ${storages[0]?.dataDirectory ?? '/var/lib/postgresql'}   # where PostgreSQL runs`,
            command`${nested(again(target, '--database-free', 'SIZE'))}   # SIZE is what df shows as free, as 20GB`,
          ],
        )
      if (free >= size) return { status: 'ok', detail: `${bytes(free)} are free, the database has ${bytes(size)}` }
      return {
        status: 'problem',
        severity: 'warning',
        findings: [
          {
            message:
              `${bytes(free)} are free on the database's disk, and the database has ${bytes(size)}: a migration that ` +
              'rewrites its largest tables may run out of room',
            evidence: storages.flatMap(({ dataDirectory }) =>
              dataDirectory === null ? [] : [command`df -H ${dataDirectory}`],
            ),
          },
        ],
        remedy: { text: 'Enlarge the disk, or free space on it.', commands: [byHand('database/disk')] },
      }
    },
  }
}

/** Only from there can RabbitMQ go to a version that refuses transient queues (FIELD-NOTES.md 3) */
const lastBefore = '4.2'

/** Returns what removes transient queues. `foreign` are not known to be the service's, so no repair touches them. */
function remedyFor(foreign: readonly BrokerQueue[], { isOwn }: { isOwn: boolean }): Remedy {
  const names = listed(foreign.map(({ name, vhost }) => `${name} in vhost ${vhost}`))
  return {
    text: [
      ...(isOwn ? ["Make the service's queues durable. The repair keeps their messages."] : []),
      ...(foreign.length > 0
        ? [`Have the owners of ${names} delete them or make them durable: they are not known to be the service's.`]
        : []),
    ].join(' '),
    commands: [
      ...(isOwn ? ['testops-admin reset-queues -d {deployment}'] : []),
      byHand(isOwn ? 'broker/queues-durable' : 'broker-does-not-boot'),
    ],
    ...(isOwn && { risk: 'The service is down during the repair.' }),
  }
}

/** Judges the queues: for the broker as it is, or for the version that it is about to get (FIELD-NOTES.md 3). */
function queuesFor(target: UpgradeTarget): Check {
  const { broker: version } = target
  const asItIs: typeof brokerQueuesDurable = {
    ...brokerQueuesDurable,
    run: async (sources, deployment) => known(await brokerQueuesDurable.run(sources, deployment)),
  }
  if (version === null) return asItIs
  return defineCheck({
    id: 'broker/upgrade',
    title: `queues fit RabbitMQ ${version}`,
    reads: ['broker', 'service'],
    wants: ['logs'],
    async run(sources, deployment): Promise<Outcome> {
      const { broker, service, logs } = sources
      const situation = await queueSituation(broker, service, logs, deployment)
      const { setting, version: present, untold } = situation
      const shown = [onBroker(broker, 'rabbitmqctl version'), present]
      if (isOlder(version, present))
        return {
          status: 'problem',
          severity: 'error',
          findings: [{ message: `RabbitMQ is ${present} already, newer than ${version}`, evidence: shown }],
          remedy: {
            text: 'Name a newer version of RabbitMQ, or none.',
            commands: [again(target, '--broker', 'VERSION')],
          },
        }
      if (deniesTransientQueues(version) !== true) return asItIs.run(sources, deployment)
      if (isOlder(present, lastBefore))
        return {
          status: 'problem',
          severity: 'error',
          findings: [
            {
              message:
                `RabbitMQ ${present} cannot be upgraded to ${version} directly: ${transientQueues.firstDenied} and ` +
                `later can only be reached from ${lastBefore}`,
              evidence: shown,
            },
          ],
          remedy: {
            text: `Upgrade RabbitMQ to ${lastBefore} first.`,
            commands: [again(target, '--broker', lastBefore)],
          },
        }
      const findings: Finding[] = []
      // those of others, and those that RabbitMQ has named, keep the broker from starting just as well
      const transient = (await broker.queues()).filter(({ durable, exclusive }) => !durable && !exclusive)
      const foreign = transient.filter(
        (it) => !situation.queues.some(({ queue }) => queue.vhost === it.vhost && queue.name === it.name),
      )
      if (transient.length > 0)
        findings.push({
          message:
            `${counted(transient.length, 'transient queue')} (${listed(transient.map(({ name }) => name))}): ` +
            `a node of RabbitMQ ${version} that still has one of them does not start`,
          evidence: [
            ...[...new Set(transient.map(({ vhost }) => vhost))].map((vhost) =>
              rabbitmqctl({ target: broker.target, vhost }, 'list_queues name durable exclusive messages'),
            ),
            ...transient.slice(0, 5).map(({ name, messages }) => `${name} false false ${messages ?? '?'}`),
            ...shown,
          ],
        })
      if (!setting.durable)
        findings.push({
          message: `the service would declare transient queues, which RabbitMQ ${version} refuses: ${setting.shown}`,
          evidence: settingLines(service, setting.name, setting.shown),
        })
      const [first, ...others] = findings
      if (first) {
        const remedy = remedyFor(foreign, { isOwn: !setting.durable || foreign.length < transient.length })
        return { status: 'problem', severity: 'error', findings: [first, ...others], remedy }
      }
      if (untold !== null) throw new AdminError('UNAVAILABLE', untold)
      return { status: 'ok', detail: `${lookedAt(situation, broker.vhost)}; ${setting.shown}` }
    },
  })
}
