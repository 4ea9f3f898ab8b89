import type { RabbitmqLine, ServerRecord, ServerRequest } from '../types.ts'
import { permission } from '../versions.ts'

/** The official image to run, with its settings. Secrets go into the environment, never into an argument. */
export interface ContainerPlan {
  image: string
  ports: { main: number; management?: number }
  environment: Readonly<Record<string, string>>
  command: readonly string[]
}

/** The path of PostgreSQL's data on a small disk of its own. */
export const diskPath = '/disk'

/** Newest image tag of each line of RabbitMQ. */
const brokerTags: Readonly<Record<RabbitmqLine, string>> = {
  '3': '3.13',
  '4.0': '4.2',
  '4.3': '4.3',
  '4.3-permitting': '4.3',
}

/** Returns a command that writes the configuration from the environment to a file, then becomes the server. */
const withConfiguration = (file: string, then: string) => [
  'sh',
  '-c',
  `printf '%s' "$LAB_CONFIGURATION" > ${file} && ${then}`,
]

export function containerPlan(record: ServerRecord, request: ServerRequest): ContainerPlan {
  if (record.kind === 'postgres') return postgres(record, request)
  if (record.kind === 'redis') return redis(record, request)
  return rabbitmq(record)
}

function postgres(record: ServerRecord, request: ServerRequest): ContainerPlan {
  const settings = [
    `max_connections=${request.postgres?.maxConnections ?? 100}`,
    'fsync=off',
    'full_page_writes=off',
    'timezone=UTC',
    'dynamic_shared_memory_type=mmap',
    'max_parallel_workers_per_gather=0',
    'max_wal_senders=0',
    'max_replication_slots=0',
    'wal_level=minimal',
  ]
  return {
    image: 'postgres:17',
    ports: { main: 5432 },
    environment: {
      POSTGRES_USER: record.user,
      POSTGRES_PASSWORD: record.password,
      ...(request.postgres?.diskBytes
        ? { PGDATA: `${diskPath}/data`, POSTGRES_INITDB_WALDIR: '/var/lib/postgresql/wal' }
        : {}),
    },
    command: ['docker-entrypoint.sh', 'postgres', ...settings.flatMap((setting) => ['-c', setting])],
  }
}

function redis(record: ServerRecord, request: ServerRequest): ContainerPlan {
  const lines = [
    'dir /data',
    `databases ${request.redis?.databases ?? 16}`,
    'save ""',
    'appendonly yes',
    'appendfsync no',
    ...(record.password ? [`requirepass ${JSON.stringify(record.password)}`] : ['protected-mode no']),
  ]
  return {
    image: 'redis:7',
    ports: { main: 6379 },
    environment: { LAB_CONFIGURATION: `${lines.join('\n')}\n` },
    command: withConfiguration('/data/redis.conf', 'exec redis-server /data/redis.conf'),
  }
}

function rabbitmq(record: ServerRecord): ContainerPlan {
  const line = record.line ?? '3'
  const lines = [
    `default_user = ${record.user}`,
    `default_pass = ${record.password}`,
    'disk_free_limit.absolute = 50MB',
    'collect_statistics_interval = 1000',
    ...permission(line),
  ]
  const plugins = '[rabbitmq_management,rabbitmq_shovel,rabbitmq_shovel_management].'
  return {
    image: `rabbitmq:${brokerTags[line]}-management`,
    ports: { main: 5672, management: 15672 },
    environment: {
      LAB_CONFIGURATION: `${lines.join('\n')}\n`,
    },
    command: withConfiguration(
      '/etc/rabbitmq/conf.d/90-lab.conf',
      `printf '%s\\n' '${plugins}' > /etc/rabbitmq/enabled_plugins && exec docker-entrypoint.sh rabbitmq-server`,
    ),
  }
}
