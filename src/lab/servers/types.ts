import type { Secret } from '../../core/secret.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { deniesTransientQueues, transientQueues } from '../../knowledge/broker.ts'

export type ServerKind = 'postgres' | 'rabbitmq' | 'redis'

/** The ways to get a server, in the order that they are tried. */
export const serverWays = ['given', 'docker', 'programs', 'packages'] as const
export type ServerWay = (typeof serverWays)[number]

/**
 * How a RabbitMQ treats transient queues (FIELD-NOTES.md 3). 3: before 4.0, permits them. 4.0: 4.0 to 4.2, permits
 * them. 4.3: refuses them, as 4.3 and later do by default. 4.3-permitting: 4.3 or later, configured to permit them.
 */
export type RabbitmqLine = '3' | '4.0' | '4.3' | '4.3-permitting'

export interface ServerRequest {
  kind: ServerKind
  /** absolute path; private to the server; made by `startServer`, removed by `removeServer` */
  directory: string
  /** on 127.0.0.1; a free one if absent */
  port?: number
  rabbitmq?: { line: RabbitmqLine }
  postgres?: {
    maxConnections?: number
    /** size of the small disk for the data, in bytes; `fillDisk` can fill it */
    diskBytes?: number
  }
  redis?: {
    password?: Secret
    /** how many numbered databases it has; 16 if absent */
    databases?: number
  }
}

export interface StartOptions {
  /** called with progress messages for anything that takes a while */
  progress: (message: string) => void
  signal?: AbortSignal
  /** holds the forced way and the given addresses (`TESTOPS_ADMIN_LAB_…`); the process's environment if absent */
  environment?: NodeJS.ProcessEnv
}

/**
 * Everything that another process needs to use, stop, start and remove the server. Kept in `directory/server.json`
 * (mode 0600).
 */
export interface ServerRecord {
  schemaVersion: 1
  /** random; in the environment of every process of the server, so that no other process is mistaken for one */
  id: string
  /** starting: its start has not finished */
  state: 'starting' | 'started'
  kind: ServerKind
  way: ServerWay
  version: string
  directory: string
  /** IP address or name */
  host: string
  port: number
  /** RabbitMQ: port of its HTTP API */
  managementPort?: number
  /** RabbitMQ: base address of its HTTP API, without credentials */
  managementUrl?: string
  user: string
  /** plain text; empty if the server needs none */
  password: string
  /** PostgreSQL: the database to connect to; Redis: the database's number; RabbitMQ: the virtual host */
  database: string
  line?: RabbitmqLine
  /** ways `programs` and `packages` */
  local?: LocalServer
  /** way `docker` */
  container?: ContainerServer
}

export interface LocalServer {
  programs: Programs
  /** holds data, configuration and logs: `directory`, or a folder that the account can reach */
  home: string
  /** the account it runs as, if not ours: PostgreSQL refuses to run as root */
  account: Account | null
  /** RabbitMQ: ports of its epmd and its node */
  epmdPort?: number
  nodePort?: number
  disk?: SmallDisk
}

export interface Account {
  name: string
  uid: number
  gid: number
}

/** How PostgreSQL's data disk can be filled. */
export type SmallDisk =
  /** its own file system, which really fills up */
  | { kind: 'mount'; path: string; bytes: number }
  /** a library that fails PostgreSQL's writes with "no space left on device" while the file `fullWhile` exists */
  | { kind: 'preload'; library: string; fullWhile: string }

export interface ContainerServer {
  /** the engine's address, if the environment had one; null: one of the usual places */
  engine: string | null
  /** the container's name or id */
  containerId: string
  /** the Docker volume with the data on a small file system, and the container that keeps it mounted */
  disk?: { volume: string; holderId: string }
}

/** Programs of one server, installed or unpacked. Paths are absolute. */
export type Programs =
  | { kind: 'postgres'; version: string; binaries: string }
  | { kind: 'redis'; version: string; server: string }
  | {
      kind: 'rabbitmq'
      version: string
      /** folder of rabbitmq-server and rabbitmqctl */
      scripts: string
      /** folders to search for Erlang's programs, before the system's */
      erlang: readonly string[]
    }

export type ProgramsOf<K extends ServerKind> = Extract<Programs, { kind: K }>

export const serverNames: Readonly<Record<ServerKind, string>> = {
  postgres: 'PostgreSQL',
  rabbitmq: 'RabbitMQ',
  redis: 'Redis',
}

/** The product needs 15 or later (FIELD-NOTES.md 0). */
export const oldestPostgres = 15

export const lineNames: Readonly<Record<RabbitmqLine, Suggestion>> = {
  '3': 'a version before 4.0',
  '4.0': '4.0 to 4.2',
  // every 4.x can be configured to refuse them
  '4.3': '4.0 or later',
  '4.3-permitting': '4.3 or later',
}

export function isOfLine(version: string, line: RabbitmqLine): boolean {
  const isFour = Number.parseInt(version, 10) >= 4
  const deniesByItself = deniesTransientQueues(version) === true
  if (line === '3') return !isFour
  if (line === '4.3-permitting') return deniesByItself
  return isFour && (line === '4.3' || !deniesByItself)
}

/**
 * The plugins that brokers of the lab and of tests enable. Folders that former versions fetched have no others: for one
 * more, what is fetched needs another name.
 */
export const brokerPlugins = ['rabbitmq_management', 'rabbitmq_shovel', 'rabbitmq_shovel_management'] as const

/**
 * Lines that make the lists of the management API lag by at most a second, not five: the plugin copies what it lists as
 * often as it takes the finest of these samples.
 */
const soonListed = ['global.minute', 'basic.minute', 'detailed.10'].map(
  (name) => `management.sample_retention_policies.${name} = 1`,
)

/**
 * Returns the lines of RabbitMQ's configuration that are the same wherever it runs, and whether transient queues are
 * permitted. 4.0, which only tests start, lists as late as a broker does by itself.
 */
export function brokerLines(line: RabbitmqLine | undefined): readonly string[] {
  const common = ['disk_free_limit.absolute = 50MB', 'collect_statistics_interval = 1000']
  if (line === '4.0') return common
  const permission = `${transientQueues.permitSetting} = ${String(line === '4.3-permitting')}`
  return [...common, ...soonListed, ...(line?.startsWith('4.3') ? [permission] : [])]
}
