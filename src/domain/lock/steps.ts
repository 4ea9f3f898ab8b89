import { traitsOf } from '../../knowledge/platforms.ts'
import type { Deployment } from '../../core/deployment.ts'
import { isHostName, javaProcesses, typedOn } from '../../core/host.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { sql, sqlNameInQuotes } from '../../core/sql-text.ts'
import { parseLockedBy } from '../../knowledge/lock.ts'
import { editConfiguration } from '../by-hand.ts'
import { psql } from '../evidence.ts'
import type { Lack } from './holder.ts'

/** What a person does if nothing shows whether the holder of a lock lives. */
export interface StepByHand {
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
const allSessions =
  'SELECT pid, usename, application_name, client_addr, state, backend_start, query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY backend_start'

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
          text: 'Set `host.unit` or `host.commands` in the configuration: how the service is started.',
          command: editConfiguration(deployment),
        }
      : {
          text: 'Find out why the platform does not show the service.',
          command: 'testops-admin service status -d {deployment}',
        },
  rights: ({ target, user }) => ({
    text: 'Let this user see all database sessions.',
    command: command`${nested(psql(target, 'postgres', sql`GRANT pg_read_all_stats TO ${sqlNameInQuotes(user ?? 'USER')}`))}   # asks for the password of a superuser`,
  }),
  pooler: ({ deployment }) => ({
    text: 'Set `database.url` in the configuration to PostgreSQL itself, not to the pooler.',
    command: editConfiguration(deployment),
  }),
  route: ({ deployment }) => ({
    text: "Let this user read the service's settings: `SPRING_DATASOURCE_URL` shows how it reaches its database.",
    command: settingsOf(deployment),
  }),
  user: ({ deployment }) => ({
    text: "Let this user read the service's settings: they name its database user.",
    command: settingsOf(deployment),
  }),
  stranger: ({ target, user }) => ({
    text: 'Find out what that session does, and wait until it has ended.',
    command: psql(target, user, allSessions),
  }),
  'open-session': ({ target, user }) => ({
    text: 'Find out whose sessions these are, and wait until they have ended.',
    command: psql(target, user, allSessions),
  }),
  'another-host': ({ host }) => ({
    text: 'Make sure that no service and no Liquibase runs there.',
    command: javaOn(host),
  }),
  'another-process': ({ deployment, host }) => ({
    text: 'Make sure that no Liquibase runs beside the service.',
    command: traitsOf(deployment).sharesMachine ? javaOn(host) : '{processes}',
  }),
  address: () => ({
    text: 'Make sure that no Liquibase runs on any machine that reaches this database.',
    command: command`${nested(javaProcesses)}   # on every such machine`,
  }),
  standby: ({ deployment }) => ({
    text: 'Set `database.url` in the configuration to the primary.',
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
        ? 'sudo timedatectl set-ntp true   # on the machine of the service'
        : typedOn(host, 'sudo timedatectl set-ntp true'),
  }),
}

/** Returns where to change the settings: on a plain host the configuration names their file. */
function settingsOf(deployment: Deployment): Suggestion {
  return traitsOf(deployment).isConfigured ? editConfiguration(deployment) : '{settings}'
}

function javaOn(host: string | null): Suggestion {
  return host === null ? command`${nested(javaProcesses)}   # on its machine` : typedOn(host, javaProcesses)
}
