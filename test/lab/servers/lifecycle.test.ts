import { mkdir, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { Secret } from '../../../src/core/secret.ts'
import {
  brokerControl,
  readServer,
  removeServer,
  resumeServer,
  serverRunning,
  startServer,
  stopServer,
} from '../../../src/lab/servers/index.ts'
import type { ServerRecord } from '../../../src/lab/servers/index.ts'
import { accepts } from '../../../src/lab/servers/local/ports.ts'
import { freshDatabase, freshVhost } from '../../servers/index.ts'
import { leftOf, localWays, ownServer, silent, temporaryFolder } from './own-servers.ts'

const password = new Secret('open "sesame"')

async function stopAndResume(record: ServerRecord, how: 'graceful' | 'kill'): Promise<void> {
  await stopServer(record, how)
  expect(await serverRunning(record)).toBe(false)
  await stopServer(record, how) // harmless twice
  const again = await resumeServer(record, silent)
  expect(again.port).toBe(record.port)
  expect(await serverRunning(record)).toBe(true)
}

describe.each(await localWays({ kind: 'postgres' }))('PostgreSQL by %s', (way) => {
  test('keeps its data when stopped, when killed, and leaves nothing when removed', async () => {
    const record = await ownServer({ kind: 'postgres', postgres: { maxConnections: 17 } }, way)
    expect(record.way).toBe(way)
    const database = await freshDatabase(record)
    await database.query("CREATE TABLE t AS SELECT 'kept' AS v")
    expect(await database.query('SHOW max_connections')).toEqual([{ max_connections: '17' }])
    expect(await database.query('SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }])
    for (const how of ['graceful', 'kill'] as const) {
      // also what was committed at the last moment
      await database.query(`INSERT INTO t VALUES ('${how}')`)
      await stopAndResume(record, how)
      expect(await database.query(`SELECT v FROM t WHERE v IN ('kept', '${how}') ORDER BY v = 'kept'`)).toEqual([
        { v: how },
        { v: 'kept' },
      ])
    }
    await removeServer(record)
    await removeServer(record)
    expect(await leftOf(record)).toEqual([])
  })
})

describe.each(await localWays({ kind: 'redis' }))('Redis by %s', (way) => {
  test('keeps its data when stopped, when killed, and leaves nothing when removed', async () => {
    const record = await ownServer({ kind: 'redis', redis: { password } }, way)
    expect(record.way).toBe(way)
    const ask = async <T>(question: (client: Redis) => Promise<T>) => {
      const client = new Redis({ host: record.host, port: record.port, password: record.password })
      return question(client).finally(() => client.disconnect())
    }
    await ask((client) => client.set('k', 'kept'))
    for (const how of ['graceful', 'kill'] as const) {
      await stopAndResume(record, how)
      expect(await ask((client) => client.get('k'))).toBe('kept')
    }
    await removeServer(record)
    await removeServer(record)
    expect(await leftOf(record)).toEqual([])
  })
})

test('a server in a folder that is reached by a link is known by its processes', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'real'))
  await symlink(join(folder, 'real'), join(folder, 'link'))
  const record = await startServer({ kind: 'redis', directory: join(folder, 'link/server') }, silent)
  expect(await serverRunning(record)).toBe(true)
  await removeServer(record)
  expect(await serverRunning(record)).toBe(false)
  expect(await accepts(record.host, record.port)).toBe(false)
})

test('RabbitMQ keeps its data when stopped, when killed, and leaves nothing when removed', async () => {
  const record = await ownServer({ kind: 'rabbitmq', rabbitmq: { line: '4.3' } })
  const { vhost } = await freshVhost('4.3', record)
  for (const how of ['graceful', 'kill'] as const) {
    await stopAndResume(record, how)
    expect(await brokerControl(record, ['list_vhosts', '--silent'])).toContain(vhost)
  }
  await removeServer(record)
  await removeServer(record)
  expect(await leftOf(record)).toEqual([])
  // three starts and two programs of Erlang
}, 180_000)

test('a broker is controlled: its memory alarm is raised and cleared', async () => {
  const record = await ownServer({ kind: 'rabbitmq', rabbitmq: { line: '4.3' } })
  const alarms = async () =>
    JSON.parse(await brokerControl(record, ['status', '--formatter', 'json'])) as { alarms: unknown[] }
  await brokerControl(record, ['set_vm_memory_high_watermark', 'absolute', '1MB'])
  await expect.poll(async () => (await alarms()).alarms.length, { timeout: 15_000 }).toBeGreaterThan(0)
  await brokerControl(record, ['set_vm_memory_high_watermark', '0.6'])
  await expect.poll(async () => (await alarms()).alarms.length, { timeout: 15_000 }).toBe(0)
  await expect(brokerControl(record, ['no_such_command'])).rejects.toMatchObject({ code: 'FAILED' })
})

test('its record is for its owner alone, and tells what is needed', async () => {
  const record = await ownServer({ kind: 'redis' })
  expect((await stat(record.directory)).mode & 0o777).toBe(0o700)
  expect((await stat(join(record.directory, 'server.json'))).mode & 0o777).toBe(0o600)
  expect(await readServer(record.directory)).toEqual(record)
  expect(record).toMatchObject({ state: 'started', host: '127.0.0.1', user: 'default', password: '', database: '0' })
})
