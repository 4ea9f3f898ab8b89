import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/adapters/postgres/index.ts'
import { freshDatabase } from '../servers/index.ts'
import type { FreshDatabase } from '../servers/index.ts'
import { failureOf } from './failure-of.ts'
import { opened, placeOf } from './own-database.ts'
import { cuttableProxy } from './peers.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => database.cleanup())

const place = (): { host: string; port: number } => placeOf(database)

describe('a connection that breaks', () => {
  test('is noticed by whoever asks next', async () => {
    const proxy = await cuttableProxy(() => connect(place()))
    const source = await opened({ ...database.endpoint, hosts: [{ host: '127.0.0.1', port: proxy.port }] })
    await source.clock()
    proxy.cut()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await failureOf(source.clock())).toMatch(/^UNREACHABLE PostgreSQL at \S+ closed the connection$/)
    expect(await failureOf(source.backends())).toMatch(/^UNREACHABLE PostgreSQL at \S+ closed the connection$/)
  })

  test('while questions are under way fails all of them', async () => {
    const proxy = await cuttableProxy(() => connect(place()))
    const source = await opened({ ...database.endpoint, hosts: [{ host: '127.0.0.1', port: proxy.port }] })
    const asked = [source.clock(), source.backends(), source.connections()].map(failureOf)
    proxy.cut()
    expect(new Set((await Promise.all(asked)).map((failure) => failure?.split(' ')[0]))).toEqual(
      new Set(['UNREACHABLE']),
    )
  })

  test('or stalls is given up', async () => {
    const proxy = await cuttableProxy(() => connect(place()))
    const { source, close } = await openDatabase(
      { ...database.endpoint, hosts: [{ host: '127.0.0.1', port: proxy.port }] },
      { timeoutMs: 500 },
    )
    proxy.stall()
    expect(await failureOf(source.clock())).toMatch(/^TIMED_OUT /)
    expect(await failureOf(source.backends())).toMatch(/^TIMED_OUT /)
    await close()
  })

  test('is ended by the server', async () => {
    const source = await opened(database.endpoint)
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'testops-admin' AND datname = current_database()`,
    )
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await failureOf(source.clock())).toMatch(
      /^UNREACHABLE PostgreSQL at .* is not available: terminating connection due to administrator command$/,
    )
  })
})
