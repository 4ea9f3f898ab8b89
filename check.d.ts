/**
 * The form of your own checks for `testops-admin doctor`: docs/own-checks.md. Version 1 may gain optional parts, and
 * loses none.
 */

/** The sources of a deployment. Each question only reads; its answer is plain data, with times in ISO 8601. */
export interface Sources {
  /** The databases of the service, the main one first */
  database: readonly [Database, ...Database[]]
  broker: Broker
  sessions: Sessions
  service: Service
  api: Api
  logs: Logs
}

export type SourceName = keyof Sources

/** PostgreSQL. */
export interface Database {
  /** host:port/database */
  readonly target: string
  identity(): Promise<{
    version: string
    user: string
    database: string
    startedAt: string
    inRecovery: boolean
  }>
  connections(): Promise<{ used: number; max: number; reserved: number }>
  /** Sizes in bytes; free space is null if the data directory is on another machine */
  storage(): Promise<{ databaseBytes: number; freeBytes: number | null }>
  /**
   * Runs one SELECT in a transaction that cannot write, with values for `$1`, `$2` and so on. Returns at most 1000 rows
   * of at most 10,000 bytes each, as `row_to_json` writes them; `complete` is false if there are more
   */
  select(
    statement: string,
    values?: readonly (string | number | boolean | null)[],
  ): Promise<{ rows: readonly Readonly<Record<string, unknown>>[]; complete: boolean }>
}

/** RabbitMQ. */
export interface Broker {
  /** host:port and vhost */
  readonly target: string
  readonly vhost: string
  identity(): Promise<{ product: string; version: string }>
  /** Null: not counted yet, as in the first seconds after the start of the broker */
  queues(): Promise<
    readonly {
      name: string
      vhost: string
      durable: boolean
      type: string
      messages: number | null
      consumers: number | null
    }[]
  >
  nodes(): Promise<readonly { name: string; running: boolean; memoryAlarm: boolean; diskAlarm: boolean }[]>
}

/** Redis. */
export interface Sessions {
  /** host:port/database */
  readonly target: string
  identity(): Promise<{ version: string; role: string }>
  /** `maxBytes` 0: no limit */
  memory(): Promise<{ usedBytes: number; maxBytes: number; policy: string; evictedKeys: number }>
}

/** The service, as its platform sees it. */
export interface Service {
  status(): Promise<{
    state: 'running' | 'stopped' | 'failed'
    /** In the words of the platform */
    detail: string
    instances: readonly { name: string; host: string; startedAt: string | null }[]
  }>
  image(): Promise<{ name: string | null; tag: string | null; build: string | null }>
}

/** The API of the service. */
export interface Api {
  /** Base address */
  readonly target: string
  health(): Promise<{ httpStatus: number; status: string | null; durationMs: number }>
}

/** The log of the service. */
export interface Logs {
  /** File or command that it is read from */
  readonly target: string
  /** The newest records, oldest first; `maxBytes` is at most 1,000,000 */
  recent(options: { maxBytes: number }): Promise<{
    complete: boolean
    records: readonly { at: string | null; level: string | null; text: string }[]
  }>
}

export interface Deployment {
  name: string
  platform: 'host' | 'compose' | 'kubernetes'
  /** Of the service, an IANA name; null: unknown */
  timeZone: string | null
}

/** What to do about a problem. `{deployment}` stands for its name, `{restart}`, `{logs}` and the like for commands. */
export interface Remedy {
  text: string
  commands: readonly string[]
  /** What it costs or endangers */
  risk?: string
  undo?: string
}

export interface Finding {
  message: string
  /** What a person can check by hand */
  evidence: readonly string[]
}

/** What a check found. Each text is one line. */
export type Outcome =
  | { status: 'ok'; detail: string }
  | {
      status: 'problem'
      severity: 'error' | 'warning'
      /** At least one */
      findings: readonly Finding[]
      /** Replaces that of the check */
      remedy?: Remedy
    }
  | { status: 'skipped'; reason: string }

/** A check. What it throws, and what is no outcome, makes its result unknown. */
export interface Check<R extends SourceName = never> {
  /** The version of this form */
  version: 1
  /** The healthy state: 'few messages wait' */
  title: string
  /** The sources that it gets; without one of them, it is not run */
  reads?: readonly R[]
  remedy: Remedy
  run(sources: Pick<Sources, R>, deployment: Deployment): Outcome | Promise<Outcome>
}

/** Returns the check as it is: for its type. */
export function defineCheck<const R extends SourceName = never>(check: Check<R>): Check<R>
