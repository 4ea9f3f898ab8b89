import type { Holder } from './lock.ts'
import type { RunState } from './run-state.ts'
import type { RunHistory, UnreadableRun } from './run.ts'
import type { AccessLogSource, LogsSource } from './sources/logs.ts'
import type { BrokerSource } from './sources/broker.ts'
import type { ClockReading } from './local-time.ts'
import type { DatabaseSource } from './sources/database.ts'
import type { FilesSource } from './sources/files.ts'
import type { ReleaseSource } from './sources/release.ts'
import type { ServiceSource } from './sources/service.ts'
import type { SessionsSource } from './sources/sessions.ts'

export type {
  AccessLogSource,
  FollowedLine,
  FollowOptions,
  LoggedRequest,
  LogPart,
  LogPartsOptions,
  LogRecord,
  LogsSource,
  RecentRecords,
  UnreadPart,
} from './sources/logs.ts'
export type {
  BrokerConnection,
  BrokerConsumer,
  BrokerExchange,
  BrokerNode,
  BrokerNodeFigures,
  BrokerPermissions,
  BrokerPolicy,
  BrokerQueue,
  BrokerSource,
  TrackedConnection,
  QueueCounts,
} from './sources/broker.ts'
export type { ClockReading } from './local-time.ts'
export type {
  ChangelogLockRow,
  ChangelogLockTable,
  DatabaseBackend,
  DatabaseConnections,
  DatabaseIdentity,
  DatabaseSource,
  LockTableName,
  LockTablesAsked,
} from './sources/database.ts'
export type { ChartPlace, EditedValues, FilesSource, Rendered, ValueEdit, ValueLook } from './sources/files.ts'
export type { FieldConflict, ReleaseChart, ReleaseRevision, ReleaseSource, ReleaseUpgrade } from './sources/release.ts'
export type { Values } from './values.ts'
export type {
  ComposedImage,
  Controller,
  Definition,
  DriftingSetting,
  EditedFile,
  InstanceEnd,
  InstanceHealth,
  InstanceOwner,
  ServiceInstance,
  Lack,
  LastWords,
  Machine,
  PlatformChange,
  PlatformChanges,
  ProxySettings,
  ServiceCommands,
  ServiceHealth,
  ServiceImage,
  ServiceOrigin,
  ServiceSource,
  ServiceStatus,
  SettingsDrift,
  StartLimit,
  StartObstacle,
  WantedImage,
} from './sources/service.ts'
export type {
  SessionCensus,
  SessionSample,
  SessionSelection,
  SessionTimes,
  SessionsSource,
} from './sources/sessions.ts'

/**
 * Everything that observes a deployment. Every method returns plain data, throws `AdminError` if the other side cannot
 * be asked or refuses, and changes nothing.
 */
export interface Sources {
  /** The service's databases, the main one first (it has up to four data sources: FIELD-NOTES.md 1.3) */
  database: readonly [DatabaseSource, ...DatabaseSource[]]
  broker: BrokerSource
  sessions: SessionsSource
  service: ServiceSource
  api: ApiSource
  logs: LogsSource
  /** The log of the proxy before the service */
  accessLog: AccessLogSource
  network: NetworkSource
  runs: RunsSource
  /** Files of settings: the same whatever the deployment is */
  files: FilesSource
  release: ReleaseSource
}

export type SourceName = keyof Sources

export interface ApiSource {
  /** Base address, without credentials */
  readonly target: string
  /** Asks `/api/management/health`, and returns how long the answer took in milliseconds */
  health(): Promise<{ httpStatus: number; status: string | null; durationMs: number }>
  /**
   * Returns whether the service is what answers, if its health is not shown. `shown`: what shows it, `POST
   * /api/uaa/oauth/token exchanges the API token`, or why not. Throws EXHAUSTED.
   */
  recognized(): Promise<{ isService: boolean; shown: string }>
  clock(): Promise<ClockReading>
  /**
   * Exchanges the API token (SPEC.md 4.1); throws UNAUTHENTICATED if it is rejected, NOT_CONFIGURED if there is none
   */
  accessToken(): Promise<AccessToken>
  currentUser(): Promise<Readonly<Record<string, unknown>>>
  /** Returns the times in milliseconds of a few small successive calls that the service itself answered */
  latencies(): Promise<readonly number[]>
  /**
   * Returns the newest jobs that match, newest first; null if the service does not offer the method. Throws FORBIDDEN
   */
  migrationJobs(wish: MigrationJobWish): Promise<{ jobs: readonly MigrationJob[]; complete: boolean } | null>
  /** Returns every project that the user sees, by id; null if the service does not offer the method */
  projects(): Promise<readonly NamedItem[] | null>
  /**
   * Returns a project's trees, by id; null if the service does not offer the method. Throws USAGE if there is no such
   * project
   */
  trees(project: number): Promise<readonly NamedItem[] | null>
}

/** A project, or a tree. */
export interface NamedItem {
  id: number
  /** '' if the service shows none */
  name: string
}

/** What the exchange said about the token; the token itself stays inside the adapter. Times in epoch seconds. */
export interface AccessToken {
  issuedAt: number | null
  expiresAt: number | null
  expiresInSeconds: number | null
  /** By the Date of the answer that brought it: the service's clock, or that of a proxy before it */
  answeredAt: number | null
}

export interface MigrationJobWish {
  /** Null: jobs in any state */
  status: string | null
  /** Only jobs with a higher number */
  newerThan?: number
  /** Maximum number of jobs; the answer is not `complete` if older ones were left out for it */
  atMost: number
}

export interface MigrationJob {
  id: number
  name: string
  status: string
  createdAt: Date | null
  modifiedAt: Date | null
}

export interface NetworkSource {
  /** Returns whether the name resolves on this machine */
  resolve(host: string): Promise<boolean>
}

/** The journals of the deployment's repairs that this machine keeps. */
export interface RunsSource {
  /** Their folder */
  readonly target: string
  /** Returns the runs, oldest first; throws UNEXPECTED_ANSWER for a journal that cannot be read */
  list(): Promise<readonly RunState[]>
  /** Returns the newest journals whole, oldest first. Absent: this machine keeps none */
  journals?(): Promise<readonly (RunHistory | UnreadableRun)[]>
  /**
   * Returns the runs that the deployment keeps. Others may write there: even that a run is over is only their word.
   * Throws as the deployment does
   */
  inDeployment(): Promise<readonly (RunHistory | UnreadableRun)[]>
  /** Returns who repairs this deployment now, as far as this machine knows; null: nobody */
  operator(): Promise<Holder | null>
}
