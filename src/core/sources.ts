import type { Holder } from './lock.ts'
import type { RunState } from './run-state.ts'
import type { RunHistory, UnreadableRun } from './run.ts'
import type { AccessLogSource, LogsSource } from './sources/logs.ts'
import type { ApiSource } from './sources/api.ts'
import type { BrokerSource } from './sources/broker.ts'
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
export type { AccessToken, ApiSource, MigrationJob, MigrationJobWish, NamedItem } from './sources/api.ts'
export type {
  BrokerConnection,
  BrokerConsumer,
  BrokerExchange,
  BrokerNode,
  BrokerNodeFigures,
  BrokerPolicy,
  BrokerQueue,
  BrokerSource,
  TrackedConnection,
  QueueCounts,
} from './sources/broker.ts'
export type { ClockReading } from './sources/clock.ts'
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
