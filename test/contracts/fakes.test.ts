import { describe } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import type { DatabaseSource, SessionsSource } from '../../src/core/sources.ts'
import {
  backend,
  connection,
  consumer,
  exchange,
  fakeAccessLog,
  fakeApi,
  fakeApiControl,
  fakeBroker,
  fakeDatabase,
  fakeSessions,
  lockTable,
  logged,
  migrationJob,
  noProject,
  queue,
  refusedMigration,
  request,
  sample,
  jobsOf,
} from '../fakes/index.ts'
import { accessLogContract } from './access-log.ts'
import { apiControlContract } from './api-control.ts'
import { apiContract } from './api.ts'
import { brokerContract } from './broker.ts'
import { databaseContract } from './database.ts'
import { sessionsContract } from './sessions.ts'

/** A source that answers until it is closed. */
function closable<S extends DatabaseSource | SessionsSource>(
  source: S,
  what: string,
): { source: S; close: () => Promise<void> } {
  let closed = false
  const guarded = new Proxy(source, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value !== 'function') return value
      return async (...input: unknown[]): Promise<unknown> => {
        if (closed) throw new AdminError('UNREACHABLE', `${what} at ${source.target} closed the connection`)
        return value.apply(target, input)
      }
    },
  })
  return {
    source: guarded,
    close: async () => {
      closed = true
    },
  }
}

describe('database', () => {
  databaseContract(async ({ locks = {}, client }) => ({
    user: 'testops',
    ...closable(
      fakeDatabase({
        select: (_, values = []) => ({ rows: [{ n: values[0], t: 'x', b: true, e: null }], complete: true }),
        changelogLocks: Object.keys(locks)
          .sort()
          .map((schema) =>
            lockTable(locks[schema] ?? null, {
              schema,
              inSearchPath: schema === 'public',
              writable: false,
              removable: false,
            }),
          ),
        ...(client && {
          backends: [backend({ application: client.application })],
          connections: {
            used: 1 + (client.connections ?? 1),
            max: 100,
            reserved: 3,
            byUser: [
              {
                user: 'testops',
                application: client.application,
                count: client.connections ?? 1,
                idle: client.connections ?? 1,
              },
            ],
          },
        }),
      }),
      'PostgreSQL',
    ),
  }))
})

describe.each(['3', '4.3'] as const)('broker %s', (line) => {
  brokerContract(
    async ({
      queues = [],
      exchanges = [],
      bindings = [],
      policies = [],
      tag,
      messages = {},
      consumer: client,
      management = true,
    }) => {
      const missing = new AdminError(
        'UNAVAILABLE',
        `RabbitMQ's management API at http://mq.example.org:15672 is not reachable`,
      )
      const connections = ['testops-admin', ...(client ? [client.connection] : [])].map((clientName) =>
        connection({ clientName }),
      )
      const source = fakeBroker({
        identity: { product: 'RabbitMQ', version: line === '3' ? '3.13.7' : '4.3.0' },
        queues: queues.map((it) =>
          queue({ ...it, messages: messages[it.name] ?? 0, consumers: client?.queue === it.name ? 1 : 0 }),
        ),
        bindings,
        policies,
        tags: ['monitoring', ...(tag === undefined ? [] : [tag])],
        connections,
        connectionsOf: (user) => connections.filter((it) => it.user === user).map((it) => ({ ...it, isListed: true })),
        counts: (names) =>
          new Map(
            names.map((name) => {
              const found = queues.some((it) => it.name === name)
              return [name, found ? { ready: messages[name] ?? 0, consumers: client?.queue === name ? 1 : 0 } : null]
            }),
          ),
        exchanges: exchanges.map(exchange),
        consumers: client ? [consumer(client)] : [],
        deprecatedFeature: (name) =>
          name === 'transient_nonexcl_queues' ? { state: line === '3' ? 'permitted' : 'denied', used: false } : null,
        ...(management
          ? {}
          : {
              queues: missing,
              exchanges: missing,
              consumers: missing,
              deprecatedFeature: missing,
              nodes: missing,
              bindings: missing,
              policies: missing,
              tags: missing,
              permissions: missing,
              connections: missing,
              connectionsOf: missing,
            }),
      })
      return { source, close: async () => undefined }
    },
    line,
  )
})

describe('sessions', () => {
  sessionsContract(async ({ namespace = 'spring:session', indexed = false, sessions = [] }) =>
    closable(
      fakeSessions({
        sampleSessions: (limit) =>
          sample(sessions.slice(0, limit), {
            namespace: sessions.length > 0 ? namespace : null,
            indexed,
            complete: sessions.length <= limit,
          }),
      }),
      'Redis',
    ),
  )
})

describe('api', () => {
  apiContract(
    async ({ apiToken = 'right', tokenLifeSeconds = 3600, health = 'UP', migrationJobs = [], projects = [] }) => {
      const issuedAt = Math.floor(Date.now() / 1000)
      const refusal =
        apiToken === 'none'
          ? new AdminError('NOT_CONFIGURED', 'no `apiToken` is configured')
          : new AdminError(
              'UNAUTHENTICATED',
              'POST https://testops.example.org/api/uaa/oauth/token refused the API token',
            )
      const source = fakeApi({
        health: { httpStatus: health === 'UP' ? 200 : 503, status: health, durationMs: 7 },
        accessToken: {
          issuedAt,
          expiresAt: issuedAt + tokenLifeSeconds,
          expiresInSeconds: tokenLifeSeconds,
          answeredAt: issuedAt,
        },
        migrationJobs: jobsOf(migrationJobs?.map(migrationJob) ?? null),
        projects: projects?.map(({ id, name }) => ({ id, name })).sort((a, b) => a.id - b.id) ?? null,
        trees: (id) => {
          const trees = projects?.find((project) => project.id === id)?.trees
          return projects === null ? null : (trees?.toSorted((a, b) => a.id - b.id) ?? noProject(id))
        },
        ...(apiToken === 'right'
          ? {}
          : { accessToken: refusal, currentUser: refusal, migrationJobs: refusal, projects: refusal }),
      })
      return { source, close: async () => undefined }
    },
  )
})

describe('api control', () => {
  apiControlContract(async ({ user = 'admin' }) => {
    const begun: string[] = []
    const source = fakeApiControl(({ project, tree }) => {
      if (user === 'no token') return new AdminError('NOT_CONFIGURED', 'no `apiToken` is configured')
      if (user === 'wrong token')
        return new AdminError(
          'UNAUTHENTICATED',
          'POST https://testops.example.org/api/uaa/oauth/token refused the API token',
        )
      if (user === 'guest') return refusedMigration(403, 'Forbidden: Access is denied')
      if (project !== 1) return refusedMigration(404, `Not Found: Project ${project} not found`)
      if (tree !== null && tree > 2) return refusedMigration(404, `Not Found: Tree ${tree} not found`)
      begun.push(...(tree === null ? ['1/1', '1/2'] : [`1/${tree}`]))
      return { status: 'accepted' }
    })
    return { source, close: async () => undefined, begun: async () => begun }
  })
})

describe('access log', () => {
  accessLogContract(async ({ requests, nonsense = 0 }) => {
    const all = (requests ?? []).map((line) => {
      const [method, path, status] = line.split(' ')
      return request({ method: method!, path: path!, status: Number(status) })
    })
    // as many bytes a line as in the combined format
    const recent = ({ maxBytes }: { maxBytes: number }) => {
      const kept = all.slice(-Math.floor(maxBytes / 100))
      return logged(kept, { unread: nonsense, complete: kept.length === all.length })
    }
    const missing = new AdminError('UNAVAILABLE', 'the log file /var/log/nginx/access.log does not exist')
    return { source: fakeAccessLog({ recent: requests === null ? missing : recent }), close: async () => undefined }
  })
})
