import type { Suggestion } from '../core/shell-command.ts'
import { logSignatures } from './log-signatures.ts'

/** What the last words of a service mean if it ended by itself. */
export interface CrashReason {
  sign: RegExp
  /** Why it ended, for people */
  means: string
  /** The check whose text says more, as `explain` takes it */
  explain: string
  /** What to do about it; absent: restart it, once the checks of the parts find nothing */
  next?: Suggestion
}

const edit: Suggestion = '{edit}'

/** A login that PostgreSQL (28P01), RabbitMQ or Redis refuses. */
const refusedLogin = /password authentication failed for user|ACCESS_REFUSED|WRONGPASS|NOAUTH Authentication required/

/** Reasons of a run that has ended: first what certainly ends it, last what it may have survived. */
export const crashReasons: readonly CrashReason[] = [
  {
    sign: logSignatures.cpuLevel,
    means: 'its image needs x86-64-v3, which the processor lacks',
    explain: 'service/cpu-level',
  },
  { sign: logSignatures.outOfMemory, means: 'its JVM had no memory left', explain: 'service/crashes', next: edit },
  {
    sign: logSignatures.lockRefused,
    means: 'it waited for the change-log lock, but did not get it',
    explain: 'database/changelog-lock',
  },
  {
    sign: logSignatures.transientRefused,
    means: 'the broker refuses its transient queues',
    explain: 'broker/queues-durable',
  },
  {
    sign: logSignatures.preconditionFailed,
    means: 'its queues exist with other properties than it asks for',
    explain: 'broker/queues-durable',
  },
]

/** Reasons that count only in the error with which the run ended: at other times each may be harmless. */
export const crashReasonsInError: readonly CrashReason[] = [
  { sign: refusedLogin, means: 'a login from its settings is refused', explain: 'database/reachable', next: edit },
  {
    sign: logSignatures.unknownHost,
    means: 'a host name in its settings does not resolve',
    explain: 'service/crashes',
    next: edit,
  },
  {
    sign: /Connection to \S+ refused|The connection attempt failed/,
    means: 'it cannot reach its database',
    explain: 'database/reachable',
  },
  {
    sign: /Port \d+ was already in use|Address already in use/,
    means: 'another program has its port',
    explain: 'service/crashes',
    next: 'sudo ss -ltnp',
  },
]

/** The reason if something ended the service while it waited: its last line says so. */
export const lastWait: CrashReason = {
  sign: logSignatures.lockWaiting,
  means: 'it was killed while it waited for the change-log lock',
  explain: 'database/changelog-lock',
}
