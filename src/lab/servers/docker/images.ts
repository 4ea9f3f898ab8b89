import type { ServerRecord, ServerRequest } from '../types.ts'

/** What is run of an official image, and how. Everything secret goes in by the environment, never by an argument. */
export interface ContainerPlan {
  image: string
  ports: { main: number; management?: number }
  environment: Readonly<Record<string, string>>
  command: readonly string[]
}

/** Where PostgreSQL's data lies where it has a small disk of its own. */
export const diskPath = '/disk'

/** Writes what the environment holds to a file, then becomes the server. */
const withConfiguration = (file: string, then: string) => ['sh', '-c', `printf '%s' "$LAB_CONFIGURATION" > ${file} && ${then}`]

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
      ...(request.postgres?.diskBytes ? { PGDATA: `${diskPath}/data`, POSTGRES_INITDB_WALDIR: '/var/lib/postgresql/wal' } : {}),
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
  const denied = record.line === '4.3' ? 'deprecated_features.permit.transient_nonexcl_queues = false\n' : ''
  const plugins = '[rabbitmq_management,rabbitmq_shovel,rabbitmq_shovel_management].'
  return {
    image: record.line === '4.3' ? 'rabbitmq:4.3-management' : 'rabbitmq:3.13-management',
    ports: { main: 5672, management: 15672 },
    environment: {
      LAB_CONFIGURATION: `default_user = ${record.user}\ndefault_pass = ${record.password}\ndisk_free_limit.absolute = 50MB\ncollect_statistics_interval = 1000\n${denied}`,
    },
    command: withConfiguration(
      '/etc/rabbitmq/conf.d/90-lab.conf',
      `printf '%s\\n' '${plugins}' > /etc/rabbitmq/enabled_plugins && exec docker-entrypoint.sh rabbitmq-server`,
    ),
  }
}
