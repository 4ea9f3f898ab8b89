import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import amqp from 'amqplib'
import { localLock, localOperator } from '../../src/adapters/local-lock.ts'
import { openDatabase, openDatabaseLock } from '../../src/adapters/postgres/index.ts'
import { openBrokerLock } from '../../src/adapters/rabbitmq/repair-lock.ts'
import type { BrokerLockOptions } from '../../src/adapters/rabbitmq/repair-lock.ts'
import type { LockOwner, RepairLock } from '../../src/core/lock.ts'
import { brokerControl, resumeServer, stopServer } from '../../src/lab/servers/index.ts'
import type { RabbitmqLine, ServerRecord } from '../../src/lab/servers/index.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { freshDatabase, freshVhost, startBroker } from '../servers/index.ts'
import type { FreshVhost, OwnBroker } from '../servers/index.ts'
import { isCampaign } from '../support/campaign.ts'
import { repairLockContract } from './repair-lock.ts'

describe('PostgreSQL', () => {
  async function open(): Promise<{
    lockOf: (who: string, what: string) => Promise<RepairLock>
    fresh: Awaited<ReturnType<typeof freshDatabase>>
    close: () => Promise<void>
  }> {
    const fresh = await freshDatabase()
    const opened: { close: () => Promise<void> }[] = []
    return {
      fresh,
      async lockOf(who, what) {
        const lock = await openDatabaseLock(fresh.endpoint, { who, what }, { timeoutMs: 10_000 })
        opened.push(lock)
        return lock.source
      },
      async close() {
        for (const one of opened) await one.close()
        await fresh.cleanup()
      },
    }
  }
  repairLockContract(open)

  test('one whose connection is cut is lost, and says so', async () => {
    const { lockOf, fresh, close } = await open()
    const [first, second] = [await lockOf('op1@bastion', 'undo'), await lockOf('op2@bastion', 'undo')]
    await first.take()
    await fresh.query(
      "SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.database = " +
        '(SELECT oid FROM pg_database WHERE datname = current_database())',
    )
    await expect.poll(async () => first.isHeld(), { timeout: 10_000 }).toBe(false)
    expect(await second.take()).toBeNull()
    await first.release()
    await second.release()
    await close()
  })

  test('who may not see other sessions is refused it all the same', async () => {
    const { lockOf, fresh, close } = await open()
    const [first, second] = [await lockOf('op1@bastion', 'undo'), await lockOf('op2@bastion', 'undo')]
    await first.take()
    await fresh.query('REVOKE SELECT ON pg_stat_activity FROM PUBLIC')
    expect(await second.take()).toEqual({ who: null, since: null, what: null })
    expect(await first.isHeld()).toBe(true)
    await first.release()
    await close()
  })

  test('one that cannot be taken says why', async () => {
    const { lockOf, fresh, close } = await open()
    const lock = await lockOf('op1@bastion', 'undo')
    await fresh.query('REVOKE EXECUTE ON FUNCTION pg_try_advisory_xact_lock(int, int) FROM PUBLIC')
    expect(await failureOf(lock.take())).toMatch(
      /^FORBIDDEN PostgreSQL at .*: user \S+ lacks a permission: .* denied for function pg_try_advisory_xact_lock$/,
    )
    await close()
  })

  test('of a machine that is gone from the network the server hears soon', async () => {
    const { lockOf, fresh, close } = await open()
    const lock = await lockOf('op1@bastion', 'undo')
    await lock.take()
    const [row] = await fresh.query(
      'SELECT client_port, inet_server_port() AS port FROM pg_stat_activity WHERE application_name = ' +
        "'testops-admin undo by op1@bastion'",
    )
    const inHex = (port: unknown): string => Number(port).toString(16).toUpperCase().padStart(4, '0')
    // of the server's end, once its last answer has arrived: when its keepalive timer, number 2, goes off, in
    // hundredths of a second
    const timer = new RegExp(`:${inHex(row!['port'])} [0-9A-F]+:${inHex(row!['client_port'])} 01 \\S+ 02:([0-9A-F]+)`)
    const dueIn = async (): Promise<number> => {
      // where the server runs, which may be another machine than this one
      const [sockets] = await fresh.query(
        "SELECT concat(pg_read_file('/proc/net/tcp', 0, 10000000, true), pg_read_file('/proc/net/tcp6', 0, " +
          '10000000, true)) AS all',
      )
      return Number.parseInt(timer.exec(String(sockets!['all']))?.[1] ?? '', 16) / 100
    }
    await expect.poll(dueIn, { timeout: 5000 }).toBeLessThanOrEqual(31)
    await lock.release()
    await close()
  })

  test('whoever looks is told who is at work, whatever their names hold', async () => {
    const { lockOf, fresh, close } = await open()
    const source = await openDatabase(fresh.endpoint, { timeoutMs: 10_000 })
    expect(await source.source.operator()).toBeNull()
    const lock = await lockOf(`o'neill@bästion`, 'resume unlock-changelog')
    await lock.take()
    expect(await source.source.operator()).toMatchObject({ who: `o'neill@b?stion`, what: 'resume unlock-changelog' })
    await lock.release()
    expect(await source.source.operator()).toBeNull()
    await source.close()
    await close()
  })
})

/** A broker lists a connection, and drops one, some time after it was opened or closed. */
const waiting = { timeout: 15_000, interval: 50 }

const lines = ['3', '4.3', ...(isCampaign ? (['4.0'] as const) : [])] as const

// side by side: they mostly wait until the broker lists a connection
describe.concurrent.each(lines)('RabbitMQ %s', (line) => {
  interface Opened {
    vhost: FreshVhost
    server: ServerRecord | undefined
    lockOf: (who: string, what: string, more?: Partial<LockOwner & BrokerLockOptions>) => Promise<RepairLock>
    close: () => Promise<void>
  }

  // the tests share no broker of this line
  let ofLine: OwnBroker | null = null
  beforeAll(async () => {
    if (line === '4.0') ofLine = await startBroker(line)
  })
  afterAll(async () => ofLine?.remove())

  /** `own`: a broker of its own, which may be stopped. */
  async function open(own = false): Promise<Opened> {
    const broker = own ? await startBroker(line satisfies RabbitmqLine) : null
    const server = (broker ?? ofLine)?.server
    const vhost = await freshVhost(line, server)
    const opened: { close: () => Promise<void> }[] = []
    return {
      vhost,
      server,
      async lockOf(who, what, { timeoutMs = 10_000, isOnlyShared = true, ...more } = {}) {
        const lock = openBrokerLock(
          vhost.endpoint,
          { who, what, isOnQueues: true, ...more },
          { timeoutMs, isOnlyShared },
        )
        opened.push(lock)
        return lock.source
      },
      async close() {
        for (const one of opened) await one.close()
        if (broker) await broker.remove()
        else await vhost.cleanup()
      },
    }
  }
  const with_ = async (work: (opened: Opened) => Promise<void>, own?: boolean): Promise<void> => {
    const opened = await open(own)
    try {
      await work(opened)
    } finally {
      await opened.close()
    }
  }
  repairLockContract(open)

  test('it goes with the connection of its holder, at once', async () => {
    await with_(async ({ vhost, lockOf }) => {
      const client = await amqp.connect(vhost.url)
      await (await client.createChannel()).assertQueue('testops-admin.lock', { exclusive: true, durable: false })
      const lock = await lockOf('op1@bastion', 'undo')
      // of a holder who says nothing
      expect(await lock.take()).toEqual({ who: null, since: null, what: null })
      client.on('error', () => undefined)
      ;(client.connection as unknown as { stream: { destroy: () => void } }).stream.destroy()
      expect([await lock.take(), await lock.isHeld()]).toEqual([null, true])
    })
  })

  test('one that is cut is lost for a repair on queues; ' +
    'another takes it again, unless somebody else has it', async () => {
    await with_(async ({ vhost, lockOf }) => {
      const cut = async (): Promise<void> => {
        const named = async (): Promise<string[]> =>
          (
            (await vhost.manage('GET', `/api/vhosts/${encodeURIComponent(vhost.vhost)}/connections?columns=name`)) as {
              name: string
            }[]
          ).map(({ name }) => name)
        await vi.waitFor(async () => expect(await named()).toHaveLength(1), waiting)
        for (const name of await named()) await vhost.manage('DELETE', `/api/connections/${encodeURIComponent(name)}`)
        await vi.waitFor(async () => expect(await named()).toHaveLength(0), waiting)
      }
      const first = await lockOf('op1@bastion', 'reset-queues')
      await first.take()
      await cut()
      expect([await first.isHeld(), await first.isHeld(), first.lostBy]).toEqual([
        false,
        false,
        'RabbitMQ was restarted, cut the connection or does not answer',
      ])
      const other = await lockOf('op2@bastion', 'unlock-changelog', { isOnQueues: false })
      expect(await other.take()).toBeNull()
      await cut()
      expect([await other.isHeld(), await (await lockOf('op3@bastion', 'undo')).take()]).toEqual([
        true,
        expect.objectContaining({ who: 'op2@bastion' }),
      ])
      await cut()
      const third = await lockOf('op3@bastion', 'undo')
      expect([await third.take(), await other.isHeld(), await third.isHeld()]).toEqual([null, false, true])
    })
  }, 120_000)

  test(
    'who may not declare it is told, ' + 'and goes on where another lock is shared, or no queue is worked on',
    async () => {
      await with_(async ({ vhost, lockOf }) => {
        await vhost.manage('PUT', `/api/permissions/${encodeURIComponent(vhost.vhost)}/${vhost.endpoint.user}`, {
          configure: '^testops-admin\\.run\\.',
          write: '.*',
          read: '.*',
        })
        const said: string[] = []
        const tell = (message: string): void => void said.push(message)
        const only = await lockOf('op1@bastion', 'reset-queues', { tell })
        expect(await failureOf(only.take())).toMatch(
          new RegExp(
            String.raw`^FORBIDDEN user \S+ has no (configure|sufficient) permission ` +
              String.raw`on queue 'testops-admin.lock' in vhost \S+ of RabbitMQ at \S+ ` +
              String.raw`\(declaring queue testops-admin[.]lock, which keeps other operators out\)$`,
          ),
        )
        expect([await only.isHeld(), said]).toEqual([false, []])
        for (const more of [{ isOnlyShared: false }, { isOnQueues: false }]) {
          const lock = await lockOf('op1@bastion', 'undo', { tell, ...more })
          expect([await lock.take(), await lock.isHeld()]).toEqual([null, true])
        }
        expect(said).toEqual(
          Array(2).fill(
            expect.stringMatching(
              new RegExp(
                String.raw`^RabbitMQ at \S+ cannot hold the lock that keeps other operators out: ` +
                  String.raw`user \S+ has no (configure|sufficient) permission on queue 'testops-admin.lock'`,
              ),
            ),
          ),
        )
      })
    },
  )

  test('a queue of that name that locks nobody out is refused by its name', async () => {
    await with_(async ({ vhost, lockOf }) => {
      const client = await amqp.connect(vhost.url)
      await (await client.createChannel()).assertQueue('testops-admin.lock', { durable: true })
      await client.close()
      const lock = await lockOf('op1@bastion', 'reset-queues')
      expect(await failureOf(lock.take())).toMatch(
        new RegExp(
          String.raw`^REFUSED queue testops-admin[.]lock in vhost \S+ of RabbitMQ at \S+ has the name of ` +
            "testops-admin's lock, but is an ordinary queue[.] If nobody needs it, delete it$",
        ),
      )
    })
  })

  test('a broker that is out of reach is left out, and found again by a repair on queues alone', async () => {
    await with_(async ({ server, lockOf }) => {
      await stopServer(server!, 'kill')
      const [onQueues, other] = [
        await lockOf('op1@bastion', 'reset-queues'),
        await lockOf('op2@bastion', 'undo', { isOnQueues: false }),
      ]
      expect([await onQueues.take(), await other.take(), await onQueues.isHeld(), await other.isHeld()]).toEqual([
        null,
        null,
        true,
        true,
      ])
      await resumeServer(server!, { progress: () => undefined })
      expect([await other.isHeld(), await onQueues.isHeld()]).toEqual([true, true])
      const third = await lockOf('op3@bastion', 'resume reset-queues')
      expect(await third.take()).toMatchObject({ who: 'op1@bastion', what: 'reset-queues' })
      // restarted again: it is lost, and free
      await brokerControl(server!, ['stop_app'])
      await brokerControl(server!, ['start_app'])
      expect([await onQueues.isHeld(), await third.take(), await third.isHeld(), await onQueues.isHeld()]).toEqual([
        false,
        null,
        true,
        false,
      ])
    }, true)
  }, 120_000)
})

describe('a file', () => {
  async function open(): Promise<{
    lockOf: (who: string, what: string) => Promise<RepairLock>
    file: string
    close: () => Promise<void>
  }> {
    const folder = await mkdtemp(join(tmpdir(), 'testops-admin-lock-'))
    const file = join(folder, 'prod', 'repair.lock')
    return {
      file,
      lockOf: async (who, what) => localLock(file, { who, what }),
      close: async () => rm(folder, { recursive: true }),
    }
  }

  test('one has it, and the second is told who, since when and what', async () => {
    const { lockOf, file, close } = await open()
    const [first, second] = [await lockOf('op1@bastion', 'unlock-changelog'), await lockOf('op2@bastion', 'undo')]
    expect(await first.take()).toBeNull()
    expect(await second.take()).toMatchObject({ who: `op1@bastion (process ${process.pid})`, what: 'unlock-changelog' })
    expect(await localOperator(file)).toMatchObject({ what: 'unlock-changelog' })
    await second.release()
    expect(await first.isHeld()).toBe(true)
    await first.release()
    expect([await second.take(), await localOperator(file)]).toMatchObject([null, { what: 'undo' }])
    await second.release()
    expect(await localOperator(file)).toBeNull()
    await close()
  })

  test('one that a killed process left is taken over; one that holds nonsense too', async () => {
    const { lockOf, file, close } = await open()
    const lock = await lockOf('op1@bastion', 'undo')
    await lock.take()
    await lock.release()
    for (const left of [
      JSON.stringify({ pid: 1, startTime: 'of another boot', who: 'x', what: 'y', since: 'z' }),
      'nonsense',
      '',
    ]) {
      await writeFile(file, left)
      expect([await lock.take(), await lock.isHeld()]).toEqual([null, true])
      await lock.release()
    }
    await close()
  })

  test('one that cannot be written fails with where it is', async () => {
    const { file, lockOf, close } = await open()
    await writeFile(join(file, '..', '..', 'prod'), 'a file')
    expect(await failureOf((await lockOf('op', 'undo')).take())).toMatch(
      /^UNAVAILABLE cannot take the lock .*repair\.lock: E/,
    )
    await close()
  })
})
