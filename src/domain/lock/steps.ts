import type { Wanted } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { isHostName, javaProcesses, typedOn } from '../../core/host.ts'
import type { Risk } from '../../core/plan.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { command, nested, sentence } from '../../core/shell-command.ts'
import type { LogsSource, ServiceStatus } from '../../core/sources.ts'
import { sql, sqlNameInQuotes } from '../../core/sql-text.ts'
import { parseLockedBy } from '../../knowledge/lock.ts'
import { stolenFrom } from '../../knowledge/log-signatures.ts'
import { traitsOf } from '../../knowledge/platforms.ts'
import { editConfiguration } from '../by-hand.ts'
import { psql } from '../evidence.ts'
import { recentRecords } from '../service.ts'
import type { Lack } from './holder.ts'

/** What a person does if nothing shows whether the holder of a lock lives. */
interface StepByHand {
  /** One or two sentences */
  text: Suggestion
  command: Suggestion
}

/** The lock that the steps are about. */
export interface LockInQuestion {
  deployment: Deployment
  /** Target of the database: host:port/database */
  target: string
  /** Database user of this program; null if unknown */
  user: string | null
  /** As in the lock's row */
  lockedBy: string | null
}

/** Includes idle sessions: each of them may be the holder's. */
const allSessions = sql`SELECT pid, usename, application_name, client_addr, state, backend_start, query
  FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY backend_start`

/** Returns one step for each lack, in the order of the lacks. */
export function stepsByHand(lacks: readonly Lack[], lock: LockInQuestion): StepByHand[] {
  const { host } = parseLockedBy(lock.lockedBy ?? '')
  const isShown = isHostName(host) && host.length <= mostShown
  return [...new Set(lacks)].map((lack) => steps[lack]({ ...lock, host: isShown ? host : null }))
}

/** Maximum length of a host's name in a step; a longer one would hide the command before it */
const mostShown = 64

interface NamedHolder extends LockInQuestion {
  /** Host that is named as the holder's; null if none is named, or none that can be shown */
  host: string | null
}

const steps: Readonly<Record<Lack, (of: NamedHolder) => StepByHand>> = {
  platform: ({ deployment }) =>
    traitsOf(deployment).isConfigured
      ? {
          text: sentence`Set \`host.unit\` or \`host.commands\` in the configuration: they tell testops-admin how to
            start the service.`,
          command: editConfiguration(deployment),
        }
      : {
          text: "Find out why the platform (Kubernetes or Compose) does not show the service's instances.",
          command: 'testops-admin service status -d {deployment}',
        },
  rights: ({ target, user }) => {
    const grant = psql(target, 'postgres', sql`GRANT pg_read_all_stats TO ${sqlNameInQuotes(user ?? 'USER')}`)
    return {
      text: 'Let the database user of testops-admin see all sessions.',
      command: command`${nested(grant)}   # asks for the password of a superuser`,
    }
  },
  pooler: ({ deployment }) => ({
    text: 'Set `database.url` in the configuration to the address of PostgreSQL itself, not of the pooler.',
    command: editConfiguration(deployment),
  }),
  route: ({ deployment }) => ({
    text: sentence`Let testops-admin read the service's settings, where \`SPRING_DATASOURCE_URL\` shows how the
      service connects to its database.`,
    command: settingsOf(deployment),
  }),
  user: ({ deployment }) => ({
    text: "Let testops-admin read the service's settings, which name the service's database user.",
    command: settingsOf(deployment),
  }),
  stranger: ({ target, user }) => ({
    text: 'Find out what the database sessions of other users are doing, and wait until these sessions have ended.',
    command: psql(target, user, allSessions),
  }),
  'open-session': ({ target, user }) => ({
    text: 'Find out which clients hold the open database sessions, and wait until these sessions have ended.',
    command: psql(target, user, allSessions),
  }),
  'another-host': ({ host }) => ({
    text: "Make sure that neither the service nor Liquibase is running on the lock holder's machine.",
    command: javaOn(host),
  }),
  'another-process': ({ deployment, host }) => ({
    text: 'Make sure that no separate Liquibase process is running beside the service.',
    command: traitsOf(deployment).sharesMachine ? javaOn(host) : '{processes}',
  }),
  address: () => ({
    text: 'Make sure that Liquibase is not running on any machine that can reach this database.',
    command: command`${nested(javaProcesses)}   # on every machine that can reach the database`,
  }),
  standby: ({ deployment }) => ({
    text: sentence`Set \`database.url\` in the configuration to the address of the primary PostgreSQL server, not of the
      standby.`,
    command: editConfiguration(deployment),
  }),
  zone: ({ deployment }) => ({
    text: "Set `timeZone` in the configuration to the time zone of the service's JVM.",
    command: editConfiguration(deployment),
  }),
  clock: ({ host }) => ({
    text: "Correct the clock of the service's machine.",
    command:
      host === null
        ? 'sudo timedatectl set-ntp true   # on the machine that runs the service'
        : typedOn(host, 'sudo timedatectl set-ntp true'),
  }),
}

/** Returns where to change the settings: on a plain host the configuration names their file. */
function settingsOf(deployment: Deployment): Suggestion {
  return traitsOf(deployment).isConfigured ? editConfiguration(deployment) : '{settings}'
}

function javaOn(host: string | null): Suggestion {
  return host === null ? command`${nested(javaProcesses)}   # on the holder's machine` : typedOn(host, javaProcesses)
}

/**
 * Returns who held the change-log lock that the service's last start released (FIELD-NOTES.md 2): that migration may
 * still be running. Null if the log shows no such release, or the service runs.
 */
export async function stolenLock(logs: Wanted<LogsSource>, { state }: ServiceStatus): Promise<string | null> {
  return state === 'running' ? null : stolenFrom((await recentRecords(logs)).map(({ text }) => text))
}

/** Returns what shows whether that migration still runs. `holder`: as Liquibase writes it, HOST (ADDRESS). */
export function whetherItMigrates(holder: string, deployment: Deployment): Suggestion {
  if (traitsOf(deployment).namesInstances) return '{status}'
  return typedOn(holder.split(' ')[0]!, 'ps -C java -o pid,lstart,args')
}

/** Returns the risk that starting the service now runs a second migration beside that one; empty if there is none. */
export async function secondMigrationRisks(
  logs: Wanted<LogsSource>,
  status: ServiceStatus,
  deployment: Deployment,
): Promise<Risk[]> {
  const holder = await stolenLock(logs, status)
  if (holder === null) return []
  return [
    {
      name: 'running-migration',
      message:
        `when the service last started, it released the change-log lock held by ${holder}. If that holder is still ` +
        'migrating, starting the service now runs a second migration at the same time',
      proof: [whetherItMigrates(holder, deployment), 'testops-admin explain lock-stolen'],
    },
  ]
}
