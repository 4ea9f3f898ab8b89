import type { Secret } from './secret.ts'

/**
 * What a deployment is observed through. Every method returns plain data, throws `AdminError` where the
 * other side cannot be asked or refuses, and changes nothing.
 */
export interface Sources {
  /** the service's databases, the main one first (it has up to four data sources: FIELD-NOTES.md 1.3) */
  database: readonly [DatabaseSource, ...DatabaseSource[]]
  broker: BrokerSource
  sessions: SessionsSource
  service: ServiceSource
  api: ApiSource
  logs: LogsSource
  network: NetworkSource
}

export type SourceName = keyof Sources

/** How far a clock is ahead of this machine's (negative: behind), and how sure that is. Both in milliseconds. */
export interface ClockReading {
  offsetMs: number
  uncertaintyMs: number
}

// ---- database

export interface DatabaseSource {
  /** host:port/database, without credentials */
  readonly target: string
  identity(): Promise<DatabaseIdentity>
  clock(): Promise<ClockReading>
  /** every table named databasechangeloglock that this user can see, in whatever schema */
  changelogLocks(): Promise<readonly ChangelogLockTable[]>
  /** client backends of this database without our own; `complete` is false where the user may not see others' queries */
  backends(): Promise<{ complete: boolean; backends: readonly DatabaseBackend[] }>
  connections(): Promise<DatabaseConnections>
  /** whether PostgreSQL can still write a temporary file of about a megabyte, which it removes by itself */
  temporarySpace(): Promise<{ writable: true } | { writable: false; message: string }>
  /** sizes in bytes; free space is null where the data directory is not on this machine */
  storage(): Promise<{ databaseBytes: number; dataDirectory: string | null; freeBytes: number | null; totalBytes: number | null }>
}

export interface DatabaseIdentity {
  version: string
  user: string
  database: string
  startedAt: Date
  inRecovery: boolean
}

export interface ChangelogLockTable {
  schema: string
  /** true where the service's own search path finds this table first */
  inSearchPath: boolean
  /** null: this user may not read the table */
  rows: readonly ChangelogLockRow[] | null
}

export interface ChangelogLockRow {
  id: number
  locked: boolean
  /** as written: local time of the service's JVM, without a zone (FIELD-NOTES.md 2), `YYYY-MM-DD HH:MM:SS.ffffff` */
  lockGranted: string | null
  lockedBy: string | null
}

export interface DatabaseBackend {
  pid: number
  user: string | null
  application: string
  clientAddress: string | null
  state: string | null
  /** null where this user may not see it */
  startedAt: Date | null
  transactionStartedAt: Date | null
  queryStartedAt: Date | null
  /** first 200 characters; null where this user may not see it */
  query: string | null
}

export interface DatabaseConnections {
  used: number
  max: number
  /** slots that only privileged roles may take */
  reserved: number
  byUser: readonly { user: string; application: string; count: number; idle: number }[]
}

// ---- broker

export interface BrokerSource {
  /** host:port and vhost, without credentials */
  readonly target: string
  readonly vhost: string
  readonly user: string
  /** from the AMQP handshake, so it works without the management plugin */
  identity(): Promise<{ product: string; version: string }>
  /** the rest asks the management API, and throws UNAVAILABLE where that plugin is not enabled */
  queues(): Promise<readonly BrokerQueue[]>
  exchanges(): Promise<readonly BrokerExchange[]>
  consumers(): Promise<readonly BrokerConsumer[]>
  /** what the broker says about a deprecated feature; null where this version has no such list (before 3.13) */
  deprecatedFeature(name: string): Promise<{ state: 'permitted' | 'denied' | 'unknown'; used: boolean | null } | null>
  nodes(): Promise<readonly BrokerNode[]>
}

export interface BrokerQueue {
  name: string
  vhost: string
  durable: boolean
  autoDelete: boolean
  exclusive: boolean
  type: string
  arguments: Readonly<Record<string, unknown>>
  /** null: not counted yet, as in the first seconds after the broker's start */
  messages: number | null
  consumers: number | null
  policy: string | null
}

export interface BrokerExchange {
  name: string
  vhost: string
  durable: boolean
  autoDelete: boolean
  internal: boolean
  type: string
}

/** One that has just come is listed some seconds later: the broker counts every five seconds. */
export interface BrokerConsumer {
  queue: string
  vhost: string
  user: string
  /** the client's own name for its connection, else its address */
  connection: string
}

export interface BrokerNode {
  name: string
  running: boolean
  memoryAlarm: boolean
  diskAlarm: boolean
  /** null: not counted yet */
  figures: BrokerNodeFigures | null
}

export interface BrokerNodeFigures {
  memoryUsedBytes: number
  memoryLimitBytes: number
  diskFreeBytes: number
  diskLimitBytes: number
}

// ---- sessions

export interface SessionsSource {
  /** host:port/database, without credentials */
  readonly target: string
  /** how redis-cli is called to see the same; it asks for the password itself */
  readonly client: string
  identity(): Promise<{ version: string; role: string; loading: boolean }>
  clock(): Promise<ClockReading>
  /** `maxBytes` 0 means no limit */
  memory(): Promise<{ usedBytes: number; maxBytes: number; policy: string; evictedKeys: number }>
  /** looks at no more than `limit` sessions and never reads more of a session than its three times */
  sampleSessions(limit: number): Promise<SessionSample>
}

export interface SessionSample {
  /** as found by the keys' shape; null where no session was seen */
  namespace: string | null
  /** indexed repositories let a hash outlive its session by 300 s (FIELD-NOTES.md 4) */
  indexed: boolean
  /** true where every key of the store was looked at */
  complete: boolean
  sessions: readonly SessionTimes[]
}

/** Times of one session as its writer's clock had them, in epoch milliseconds; null where the field is missing or unreadable. */
export interface SessionTimes {
  creationTime: number | null
  lastAccessedTime: number | null
  maxInactiveSeconds: number | null
  /** time to live as the store has it; null: the key never expires */
  ttlMs: number | null
}

// ---- service

/** The platform's view of the service. */
export interface ServiceSource {
  status(): Promise<ServiceStatus>
  /** the service's environment variables by name */
  environment(): Promise<ReadonlyMap<string, string | Secret>>
  image(): Promise<ServiceImage>
  /** machines that the service runs on or could be started on */
  machines(): Promise<readonly Machine[]>
  /** whether the name resolves where the service runs; null where that cannot be asked */
  resolve(host: string): Promise<boolean | null>
  /** what the operator would type on this platform */
  readonly commands: ServiceCommands
}

export interface ServiceCommands {
  start: string
  stop: string
  restart: string
  status: string
  logs: string
  /** where settings are changed by hand */
  settings: string
}

export interface ServiceStatus {
  state: 'running' | 'stopped' | 'failed'
  /** in the platform's own words */
  detail: string
  instances: readonly ServiceInstance[]
}

export interface ServiceInstance {
  /** name of process, container or pod */
  name: string
  /** the host name that this instance sees as its own, as Liquibase writes it into `lockedby` */
  host: string
  pid: number | null
  startedAt: Date | null
}

/** What the deployment is declared to run. Null: not declared. */
export interface ServiceImage {
  /** last part of the image's name, without registry and tag: `testops` or `testops-legacy` (SPEC.md 1) */
  name: string | null
  /** the image's tag */
  tag: string | null
  /** the build that the deployment is declared to run */
  build: string | null
  /** where the three come from, for people */
  declaredIn: string
}

export interface Machine {
  name: string
  /** as `uname -m` writes it; null where unknown */
  architecture: string | null
  /** one list of flags for each processor, names as in /proc/cpuinfo; several that are equal may be given once */
  processors: readonly (readonly string[])[]
}

// ---- api

export interface ApiSource {
  /** base address, without credentials */
  readonly target: string
  /** `/api/management/health`, with the time the answer took in milliseconds */
  health(): Promise<{ httpStatus: number; status: string | null; durationMs: number }>
  clock(): Promise<ClockReading>
  /** exchanges the API token (SPEC.md 4.1); throws UNAUTHENTICATED where it is refused, NOT_CONFIGURED where there is none */
  accessToken(): Promise<AccessToken>
  currentUser(): Promise<Readonly<Record<string, unknown>>>
  /** times of a few small calls in milliseconds, one after the other */
  latencies(): Promise<readonly number[]>
  /** migration jobs, newest first; null where the service does not offer the method */
  migrationJobs(): Promise<readonly MigrationJob[] | null>
}

/** What the exchange said about the token; the token itself stays inside the adapter. Times in epoch seconds. */
export interface AccessToken {
  issuedAt: number | null
  expiresAt: number | null
  expiresInSeconds: number | null
}

export interface MigrationJob {
  id: number
  name: string
  status: string
  createdAt: Date | null
  modifiedAt: Date | null
}

// ---- logs

export interface LogsSource {
  /** file or command that the log is read from */
  readonly target: string
  /** the newest records, oldest first, bounded in bytes; `complete` is false where older ones were left out */
  recent(options: { maxBytes: number }): Promise<{ complete: boolean; records: readonly LogRecord[] }>
}

export interface LogRecord {
  /** null where the record bears no date that can be read */
  at: Date | null
  level: string | null
  /** whole text, continuation lines included */
  text: string
}

// ---- network

export interface NetworkSource {
  /** whether the name resolves on this machine */
  resolve(host: string): Promise<boolean>
}
