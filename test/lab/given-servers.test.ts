import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabStatusDocument } from '../../src/output/lab.ts'
import { breakLookMend, look } from '../faults/matrix.ts'
import { ownLab } from './support/own-lab.ts'
import type { OwnLab } from './support/own-lab.ts'
import { servers } from '../servers/index.ts'
import { withDatabase } from './support/databases.ts'

const timeoutMs = 180_000
const { postgres, redis, rabbitmq43 } = servers()
const credentials = ({ user, password }: { user: string; password: string }): string =>
  password ? `${user}:${password}@` : ''

/** Its servers are those of the test run: they are used, never stopped, and left as they were. */
const given = {
  TESTOPS_ADMIN_LAB_SERVERS: 'given',
  TESTOPS_ADMIN_LAB_POSTGRES_URL: `postgresql://${credentials(postgres)}${postgres.host}:${postgres.port}/postgres`,
  TESTOPS_ADMIN_LAB_RABBITMQ_URL: `amqp://${credentials(rabbitmq43)}${rabbitmq43.host}:${rabbitmq43.port}/%2F`,
  TESTOPS_ADMIN_LAB_RABBITMQ_MANAGEMENT_URL: rabbitmq43.managementUrl!,
  TESTOPS_ADMIN_LAB_REDIS_URL: `redis://${credentials(redis)}${redis.host}:${redis.port}/999`,
}

describe('a lab on given servers', () => {
  let lab: OwnLab

  beforeAll(async () => {
    lab = await ownLab(given)
    await lab.must('lab', 'up')
  }, timeoutMs)

  afterAll(async () => {
    expect(await lab.end()).toEqual([])
    expect(await own('SELECT datname AS name FROM pg_database')).toEqual([])
    expect(await own('SELECT rolname AS name FROM pg_roles')).toEqual([])
    expect((await vhosts()).filter((name) => name.startsWith('testops-lab'))).toEqual([])
  }, timeoutMs)

  test('is healthy, with a database and a virtual host of its own', async () => {
    await look(lab, { exitCode: 0, roots: [], allowedConsequences: [] })
    const { document } = await lab.json<LabStatusDocument>('lab', 'status')
    expect(document.servers.map(({ way, running }) => `${way} ${running}`)).toEqual([
      'given true',
      'given true',
      'given true',
    ])
    expect(await own('SELECT datname AS name FROM pg_database')).toHaveLength(1)
    expect((await vhosts()).filter((name) => name.startsWith('testops-lab'))).toHaveLength(1)
  })

  test(
    'is broken and mended where that needs no server to stop',
    async () => {
      await breakLookMend(lab, ['stale-sessions', 'transient-refused'], {
        exitCode: 1,
        roots: ['broker/queues-durable error', 'sessions/clock error'],
        allowedConsequences: ['api/reachable'],
      })
    },
    timeoutMs,
  )

  test.each([
    'database-down',
    'broker-down',
    'sessions-down',
    'disk-full',
    'connections-exhausted',
    'broker-alarm',
    'store-full',
    'transient-ahead',
  ])('refuses %s, which would stop or fill what others use', async (fault) => {
    expect(await lab.json('lab', 'break', fault)).toMatchObject({
      exitCode: 69,
      document: { error: { code: 'UNAVAILABLE' } },
    })
    expect((await lab.json<LabStatusDocument>('lab', 'status')).document.broken).toEqual([])
  })
})

async function own(sql: string): Promise<unknown[]> {
  const rows = await withDatabase(postgres, async (client) => (await client.query<{ name: string }>(sql)).rows)
  return rows.filter(({ name }) => name.startsWith('testops_lab'))
}

async function vhosts(): Promise<string[]> {
  const authorization = `Basic ${Buffer.from(`${rabbitmq43.user}:${rabbitmq43.password}`).toString('base64')}`
  const answer = await fetch(`${rabbitmq43.managementUrl}/api/vhosts`, { headers: { authorization } })
  return ((await answer.json()) as { name: string }[]).map(({ name }) => name)
}
