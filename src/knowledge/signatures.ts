import { transientQueues } from './broker.ts'
import { webSession } from './sessions.ts'

/** What a known fault, or its end, leaves in a log. */
export interface Signature {
  readonly id: string
  /** What the line shows, in words */
  readonly title: string
  /** The check that it belongs to; null if it belongs to none */
  readonly check: string | null
  /** `info`: nothing is wrong */
  readonly severity: 'error' | 'warning' | 'info'
  /**
   * Matches within one line, and reads the same as an extended expression of grep, with `-i` if it ignores case: see
   * `signatures`
   */
  readonly pattern: RegExp
  /** The command that repairs it; null: by hand, as `explain` says */
  readonly remedy: string | null
  /** What `testops-admin explain` takes */
  readonly explain: string
  /** Where the wording comes from */
  readonly source: string
}

/**
 * Counts of an agent, `NAME [N]`, between which other counts may stand; bounded, so that lines of any length can be
 * read in pieces.
 */
const count = String.raw`\[[0-9]{1,20}\]`
const listed = (first: string, second: string): string =>
  String.raw`${first} ${count}([ ,;]{1,3}[a-z]{1,20} ${count}){0,4}[ ,;]{1,3}${second} ${count}`

/**
 * The signatures, in the order of display. Their patterns keep to what JavaScript and `grep -E` read alike: literals,
 * escaped points and brackets, classes, groups, alternatives, bounded repetition. A byte is a character, and only ASCII
 * ignores case.
 */
export const signatures = [
  {
    id: 'unknown-host',
    title: 'a host name does not resolve',
    check: 'integrations/reachable',
    severity: 'error',
    pattern: /java\.net\.UnknownHostException/,
    remedy: null,
    explain: 'integrations/reachable',
    source: 'docs/facts/service.md#errors',
  },
  {
    id: 'http-failed',
    title: 'a call to an external system failed',
    check: 'integrations/answers',
    severity: 'error',
    pattern: /HTTP FAILED/,
    remedy: null,
    explain: 'integrations/answers',
    source: 'docs/facts/service.md#errors',
  },
  {
    id: 'bad-request',
    title: 'an external system rejects a request as malformed',
    check: 'integrations/answers',
    severity: 'error',
    pattern: /400 bad request/i,
    remedy: null,
    explain: 'integrations/answers',
    source: 'docs/facts/service.md#errors',
  },
  {
    id: 'lock-waiting',
    title: 'the service waits for the change-log lock',
    check: 'database/changelog-lock',
    severity: 'warning',
    // SPEC.md 7 has three dots, Liquibase four
    pattern: /Waiting for changelog lock\.\.\./,
    remedy: 'testops-admin unlock-changelog',
    explain: 'database/changelog-lock',
    source: 'docs/facts/service.md#errors, docs/facts/liquibase.md',
  },
  {
    id: 'lock-refused',
    title: 'the service did not get the change-log lock',
    check: 'database/changelog-lock',
    severity: 'error',
    pattern: /Could not acquire change log lock/,
    remedy: 'testops-admin unlock-changelog',
    explain: 'database/changelog-lock',
    source: 'docs/facts/service.md#errors, docs/facts/liquibase.md',
  },
  {
    id: 'lock-taken',
    title: 'the service got the change-log lock',
    check: 'database/changelog-lock',
    severity: 'info',
    pattern: /Successfully acquired change log lock/,
    remedy: null,
    explain: 'database/changelog-lock',
    source: 'docs/facts/liquibase.md',
  },
  {
    id: 'lock-released',
    title: 'the service released the change-log lock',
    check: 'database/changelog-lock',
    severity: 'info',
    pattern: /Successfully released change log lock/,
    remedy: null,
    explain: 'database/changelog-lock',
    source: 'docs/facts/liquibase.md',
  },
  {
    id: 'transient-refused',
    title: 'the broker refuses transient queues',
    check: 'broker/queues-durable',
    severity: 'error',
    // the feature's name only, since the words around it differ by version
    pattern: new RegExp(transientQueues.feature),
    remedy: 'testops-admin reset-queues',
    explain: 'broker/queues-durable',
    source: 'docs/facts/service.md#errors, docs/facts/rabbitmq.md',
  },
  {
    id: 'precondition-failed',
    title: 'a queue or exchange exists with different properties than the service requests',
    check: 'broker/queues-durable',
    severity: 'error',
    pattern: /PRECONDITION_FAILED/,
    remedy: 'testops-admin reset-queues',
    explain: 'broker/queues-durable',
    source: 'docs/facts/service.md#errors, docs/facts/rabbitmq.md',
  },
  {
    id: 'cpu-level',
    title: 'the processor lacks x86-64-v3',
    check: 'service/cpu-level',
    severity: 'error',
    pattern: /CPU does not support x86-64-v3/,
    remedy: 'testops-admin use-legacy-image',
    explain: 'service/cpu-level',
    source: 'docs/facts/service.md#errors, docs/facts/processors.md',
  },
  {
    id: 'csrf',
    title: 'sign-in fails because of a stale session',
    check: 'sessions/clock',
    severity: 'error',
    pattern: new RegExp(webSession.csrfMissing),
    remedy: 'testops-admin flush-sessions --stale',
    explain: 'sessions/clock',
    source: 'docs/facts/service.md#errors',
  },
  {
    id: 'conflict',
    title: 'a test case was not moved, because the new project already has an identical one',
    check: null,
    severity: 'warning',
    pattern: /Request failed with status code 409/i,
    remedy: null,
    explain: 'duplicate-move',
    source: 'docs/facts/service.md#errors',
  },
  {
    id: 'token-refused',
    title: 'the service refuses an API token or a login',
    check: 'api/token',
    severity: 'error',
    pattern: /Bad credentials/,
    remedy: null,
    explain: 'api/token',
    source: 'docs/facts/api.md',
  },
  {
    id: 'out-of-memory',
    title: 'the JVM has no memory left',
    check: 'service/crashes',
    severity: 'error',
    pattern: /java\.lang\.OutOfMemoryError/,
    remedy: null,
    explain: 'service/crashes',
    source: "the JVM's own words",
  },
  {
    id: 'pool-exhausted',
    title: 'no database connection is free',
    check: 'database/connections',
    severity: 'error',
    pattern: /Connection is not available, request timed out after/,
    remedy: null,
    explain: 'pool-exhausted',
    source: "HikariCP's own words (HikariPool.createTimeoutException)",
  },
  {
    id: 'agent-counts',
    title: 'an agent reports what it uploaded',
    check: null,
    severity: 'info',
    pattern: new RegExp(`${listed('indexed', 'processed')}|${listed('processed', 'indexed')}`),
    remedy: null,
    explain: 'files-before-agent',
    source: 'docs/facts/service.md#errors, docs/facts/results.md',
  },
  {
    id: 'agent-nothing-indexed',
    title: 'an agent found no results to upload',
    check: null,
    severity: 'error',
    pattern: /indexed \[0\]/,
    remedy: null,
    explain: 'empty-results',
    source: 'docs/facts/service.md#errors, docs/facts/results.md',
  },
] as const satisfies readonly Signature[]

export type SignatureId = (typeof signatures)[number]['id']

/** Returns the pattern of a signature. */
export function patternOf(id: SignatureId): RegExp {
  return signatures.find((it) => it.id === id)!.pattern
}

/** What an agent says it did with the files that it found (FIELD-NOTES.md 6). */
export interface AgentCounts {
  indexed: number
  processed: number
  /** Null if it does not say */
  errors: number | null
}

const item = /([a-z]{1,20}) \[([0-9]{1,20})\]/g

/** Returns the counts in a line that `agent-counts` matches. */
export function agentCounts(line: string): AgentCounts {
  const counts = new Map([...line.matchAll(item)].map(([, name, value]) => [name, Number(value)]))
  return {
    indexed: counts.get('indexed') ?? 0,
    processed: counts.get('processed') ?? 0,
    errors: counts.get('errors') ?? null,
  }
}

/** True if files existed before the agent started, and nothing new was added (SPEC.md 7). */
export function isFilesBeforeAgent({ indexed, processed, errors }: AgentCounts): boolean {
  return indexed > 0 && processed === 0 && errors !== null && errors > 0
}

/** Returns how many files an agent found, by this line; 0 if the line does not say. */
export function filesFound(line: string): number {
  return Number(/\bfound \[([0-9]{1,15})\]/.exec(line)?.[1] ?? 0)
}
