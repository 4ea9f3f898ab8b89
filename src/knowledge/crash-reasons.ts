import type { Suggestion } from '../core/shell-command.ts'
import { logSignatures } from './log-signatures.ts'

/** What the last words of a service mean that has ended by itself. */
export interface CrashReason {
  sign: RegExp
  /** why it ended, for people */
  means: string
  /** the check whose text says more, as `explain` takes it */
  explain: string
  /** what is done about it; left out: it is started again, once the checks of the parts find nothing */
  next?: Suggestion
}

const edit: Suggestion = '{edit}'

/** A login that PostgreSQL (28P01), RabbitMQ or Redis refuses. */
const refusedLogin = /password authentication failed for user|ACCESS_REFUSED|WRONGPASS|NOAUTH Authentication required/

/** Of a run that has ended: what ends it for certain first, what it may have come through last. */
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

/** The same, where the error with which it ended tells of it: at other times each of these may be harmless. */
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

/** Its last word, where something ended it while it waited. */
export const lastWait: CrashReason = {
  sign: logSignatures.lockWaiting,
  means: 'it was killed while it waited for the change-log lock',
  explain: 'database/changelog-lock',
}
