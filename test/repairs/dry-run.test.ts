import { readFile, readdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../src/core/repair.ts'
import { repairs } from '../../src/repairs/index.ts'
import { writeSession } from '../adapters/stored-sessions.ts'
import { freshDatabase, freshRedisDatabase } from '../servers/index.ts'
import type { FreshDatabase, FreshRedisDatabase } from '../servers/index.ts'
import { queueDeployment } from './reset-queues/own-broker.ts'
import type { QueueDeployment } from './reset-queues/own-broker.ts'
import { recordAmqp, recordHttp, recordPostgres, recordRedis } from './support/recorders.ts'
import type { Recorder } from './support/recorders.ts'

type Part = 'database' | 'amqp' | 'management' | 'sessions' | 'service'

/** All that a repair can reach, each part behind a witness, and something to repair in each. */
interface Witnessed {
  own: QueueDeployment
  database: FreshDatabase
  redis: FreshRedisDatabase
  recorders: Readonly<Record<Part, Recorder>>
}

let world: Witnessed
beforeAll(async () => {
  world = await witnessed()
})
afterAll(async () => {
  const { own, database, redis, recorders } = world
  await Promise.all(Object.values(recorders).map(async (it) => it.close()))
  await own.end()
  await Promise.all([database.cleanup(), redis.cleanup()])
})

async function witnessed(): Promise<Witnessed> {
  const [own, database, redis] = await Promise.all([
    queueDeployment('3', { start: false }),
    freshDatabase(),
    freshRedisDatabase(),
  ])
  const { service, vhost, deployed } = own
  const { user, password } = database.endpoint
  await database.query(
    `CREATE TABLE databasechangeloglock
       (id integer PRIMARY KEY, locked boolean NOT NULL, lockgranted timestamp, lockedby varchar(255));
     INSERT INTO databasechangeloglock
       VALUES (1, true, now() AT TIME ZONE 'UTC' - interval '1 minute', '${hostname()} (10.0.0.7)');
     ALTER TABLE databasechangeloglock OWNER TO ${user}`,
  )
  const settings = await readFile(join(service.directory, 'service.env'), 'utf8')
  await service.settings(
    `${settings}SPRING_DATASOURCE_URL=jdbc:${database.url.replace(/\/\/[^@]*@/, '//')}` +
      `\nSPRING_DATASOURCE_USERNAME=${user}\nTZ=UTC\n`,
  )
  await service.start()
  await own.fill('upload', ['1', '2', '3'])
  for (const name of ['alice', 'bob']) await writeSession(redis.client, { user: name })
  const hourMs = 3_600_000
  await writeSession(redis.client, {
    times: { lastAccessedTime: Date.now() - 10 * hourMs, maxInactiveSeconds: 60, ttlMs: null },
  })

  const management = new URL(vhost.endpoint.managementUrl!)
  const api = new URL(service.url)
  const recorders = {
    database: await recordPostgres(database.endpoint.hosts[0]!),
    amqp: await recordAmqp(vhost.endpoint),
    management: await recordHttp({ host: management.hostname, port: Number(management.port) }),
    sessions: await recordRedis(redis.endpoint),
    service: await recordHttp({ host: api.hostname, port: Number(api.port) }),
  }
  const at = (part: Part): string => `127.0.0.1:${recorders[part].port}`
  await deployed.configure((secret) => ({
    url: `http://${at('service')}`,
    apiToken: secret('api-token'),
    platform: 'host',
    host: service.host,
    vendor: { package: 'VENDOR_PACKAGE' },
    database: {
      url: `postgresql://${at('database')}/${database.name}?sslmode=disable`,
      user,
      password: secret(password!.reveal()),
    },
    sessions: {
      url: `redis://${at('sessions')}/${redis.database}`,
      ...(redis.endpoint.password && { password: secret(redis.endpoint.password.reveal()) }),
    },
    broker: {
      url: `amqp://${vhost.endpoint.user}@${at('amqp')}/${vhost.vhost}`,
      password: secret(vhost.endpoint.password!.reveal()),
      managementUrl: `http://${at('management')}`,
    },
  }))
  return { own, database, redis, recorders }
}

/** What was changed, or may have been, by the part that tells of it. */
async function writes(): Promise<object> {
  const { recorders, own } = world
  return {
    ...Object.fromEntries(Object.entries(recorders).map(([part, it]) => [part, it.writes()])),
    platform: await own.service.calls(),
    files: await readdir(own.operator.state, { recursive: true }),
    settings: await readFile(join(own.service.directory, 'service.env'), 'utf8'),
    queues: await own.state(),
  }
}

const plans: readonly (readonly string[])[] = [
  ['unlock-changelog'],
  ['unlock-changelog', '--no-restart'],
  ['flush-sessions'],
  ['flush-sessions', '--all'],
  ['flush-sessions', '--stale'],
  ['flush-sessions', '--user', 'alice'],
  ['reset-queues'],
  ['reset-queues', '--discard-messages', '--drain', '0'],
  ['migrate-trees', '--project', '1'],
  ['migrate-trees', '--tree', '1/2'],
  ['migrate-trees', '--all-projects'],
  ['migrate-trees', '--all-trees', '--wait'],
  ['service', 'stop'],
  ['service', 'restart'],
  ['set-env', 'VENDOR_RABBIT_DURABLE=true', 'TZ-'],
  ['set-env', '--integration-debug', 'on', '--no-restart'],
]

describe('a dry run', () => {
  test('is looked at of every repair', () => {
    // to start a service that runs is nothing to do, and reads what a restart does; files are looked at where they are
    // edited
    const planned = plans.map(([name, ...rest]) => (name === 'service' ? `${name}-${rest[0]}` : name))
    expect(new Set([...planned, 'service-start', 'use-legacy-image', 'set-env-values'])).toEqual(
      new Set(Object.keys(repairs)),
    )
  })

  test('writes nothing anywhere', async () => {
    const { own, recorders } = world
    const { settings, queues } = (await writes()) as { settings: string; queues: object }
    const ended = await Promise.all(plans.map(async (words) => own.operator.run([...words, '--dry-run', '--json'])))
    // each has something to do, so that nothing is left out for want of it
    const told = ended.map(({ code, json }) => [
      code,
      json<RepairDocument>().outcome,
      json<Partial<RepairDocument>>().plan?.steps.length !== 0,
    ])
    expect(told, ended.map(({ stdout }) => stdout).join()).toEqual(plans.map(() => [0, 'planned', true]))
    expect(await writes()).toEqual({
      database: [],
      amqp: [],
      management: [],
      sessions: [],
      service: [],
      platform: [],
      files: [],
      settings,
      queues,
    })
    expect(Object.entries(recorders).filter(([, { asked }]) => asked.length === 0)).toEqual([])
  })

  test('the witnesses notice what a repair writes', async () => {
    const { own, recorders } = world
    for (const words of [
      ['flush-sessions'],
      ['reset-queues', '--drain', '0'],
      ['unlock-changelog'],
      ['migrate-trees', '--project', '1'],
    ]) {
      const { code, stdout, stderr } = await own.operator.repair(words)
      expect([words[0], code], stdout + stderr).toEqual([words[0], 0])
    }
    await fetch(`http://127.0.0.1:${recorders.management.port}/api/nodes/none`, { method: 'DELETE' })
    const seen = Object.fromEntries(
      Object.entries(recorders).map(([part, it]) => [
        part,
        [...new Set(it.writes().map((asked) => asked.split(/\s/)[0]!))].sort(),
      ]),
    )
    expect(seen).toMatchInlineSnapshot(`
      {
        "amqp": [
          "basic.ack",
          "basic.consume",
          "basic.publish",
          "basic.qos",
          "confirm.select",
          "exchange.declare",
          "exchange.delete",
          "queue.bind",
          "queue.declare",
          "queue.delete",
        ],
        "database": [
          "BEGIN;",
          "COMMIT",
          "SELECT",
          "SET",
          "UPDATE",
        ],
        "management": [
          "DELETE",
        ],
        "service": [
          "POST",
        ],
        "sessions": [
          "SREM",
          "UNLINK",
          "ZREM",
        ],
      }
    `)
    expect(await writes()).toMatchObject({
      platform: ['stop', 'start', 'stop', 'start'],
      settings: expect.stringContaining('VENDOR_RABBIT_DURABLE=true') as string,
    })
  })
})
