import type { Secret } from '../../core/secret.ts'

export type ServerKind = 'postgres' | 'rabbitmq' | 'redis'

/** How a server is had, in the order in which the ways are tried. */
export const serverWays = ['given', 'docker', 'programs', 'packages'] as const
export type ServerWay = (typeof serverWays)[number]

/**
 * What a RabbitMQ does with transient queues (FIELD-NOTES.md 3). 3: before 4.0, takes them. 4.0: 4.0 to 4.2, takes
 * them. 4.3: refuses them, as 4.3 and later do by default. 4.3-permitting: 4.3 or later that is configured to take
 * them.
 */
export type RabbitmqLine = '3' | '4.0' | '4.3' | '4.3-permitting'

export interface ServerRequest {
  kind: ServerKind
  /** absolute; made by `startServer`, private to the server, removed by `removeServer` */
  directory: string
  /** on 127.0.0.1; a free one where absent */
  port?: number
  rabbitmq?: { line: RabbitmqLine }
  postgres?: {
    maxConnections?: number
    /** size of the small disk that the data is on, so that `fillDisk` can fill it */
    diskBytes?: number
  }
  redis?: {
    password?: Secret
    /** how many numbered databases it has; 16 where absent */
    databases?: number
  }
}

export interface StartOptions {
  /** told what is being done, where it takes longer than a moment */
  progress: (message: string) => void
  signal?: AbortSignal
  /**
   * where the ways and the given addresses are read from (`TESTOPS_ADMIN_LAB_…`); the process's environment where
   * absent
   */
  environment?: NodeJS.ProcessEnv
}

/**
 * Everything that another process needs to use, stop, start and remove the server. Kept in `directory/server.json`,
 * 0600.
 */
export interface ServerRecord {
  schemaVersion: 1
  /**
   * random; every process of the server carries it in its environment, so that no other process is ever taken for one
   */
  id: string
  /** starting: its starter has not (yet) come to the end */
  state: 'starting' | 'started'
  kind: ServerKind
  way: ServerWay
  version: string
  directory: string
  /** IP address or name */
  host: string
  port: number
  /** RabbitMQ: of its HTTP API */
  managementPort?: number
  /** RabbitMQ: base address of its HTTP API, without credentials */
  managementUrl?: string
  user: string
  /** plain text; empty where the server asks for none */
  password: string
  /** PostgreSQL: the database to connect to; Redis: the number of one; RabbitMQ: the virtual host */
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
  /** whom it runs as, where that is not us: PostgreSQL refuses to run as root */
  account: Account | null
  /** RabbitMQ: ports of its epmd and of its node */
  epmdPort?: number
  nodePort?: number
  disk?: SmallDisk
}

export interface Account {
  name: string
  uid: number
  gid: number
}

/** How the disk of PostgreSQL's data can be filled. */
export type SmallDisk =
  /** a file system of its own: really full */
  | { kind: 'mount'; path: string; bytes: number }
  /**
   * a library in front of PostgreSQL's writes, which answers "no space left on device" while the file `fullWhile`
   * exists
   */
  | { kind: 'preload'; library: string; fullWhile: string }

export interface ContainerServer {
  /** address of the engine where the environment named one; null: at one of the usual places */
  engine: string | null
  /** the container's name or id */
  containerId: string
  /** Docker's volume that holds the data on a small file system, and the container that keeps it mounted */
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
      /** folders in which Erlang's programs are looked up, before the system's */
      erlang: readonly string[]
    }

export type ProgramsOf<K extends ServerKind> = Extract<Programs, { kind: K }>

export const serverNames: Readonly<Record<ServerKind, string>> = {
  postgres: 'PostgreSQL',
  rabbitmq: 'RabbitMQ',
  redis: 'Redis',
}
