import { expect, test } from 'vitest'
import type { HostPort, Opened, Way } from '../../src/core/endpoint.ts'
import { AdminError } from '../../src/core/error.ts'
import { waysThrough } from '../../src/runtime/ways.ts'

const database = { host: 'db', port: 5432 }

/** A platform that has ways to names without a dot, and fails as often as told before it does. */
function platform(failures = 0): { reach: (address: HostPort) => Promise<Opened<Way> | null>; events: string[] } {
  const events: string[] = []
  let left = failures
  return {
    events,
    async reach({ host, port }) {
      events.push(`asked for ${host}:${port}`)
      if (host.includes('.')) return null
      if (left-- > 0) throw new AdminError('UNAVAILABLE', 'no pod is ready')
      return {
        source: { host: '127.0.0.1', port: 40_000, command: `kubectl port-forward svc/${host} ${port}` },
        close: async () => void events.push(`closed ${host}`),
      }
    },
  }
}

test('each way is opened once, and closed at the end', async () => {
  const { reach, events } = platform()
  const ways = waysThrough({ reach })
  expect(await Promise.all([ways.reach(database), ways.reach({ ...database }), ways.reach({ host: 'db.example.org', port: 5432 })])).toEqual([
    { host: '127.0.0.1', port: 40_000, command: 'kubectl port-forward svc/db 5432' },
    { host: '127.0.0.1', port: 40_000, command: 'kubectl port-forward svc/db 5432' },
    null,
  ])
  await ways.close()
  await ways.close()
  expect(events).toEqual(['asked for db:5432', 'asked for db.example.org:5432', 'closed db'])
})

test('a way that could not be opened is tried again', async () => {
  const ways = waysThrough(platform(1))
  await expect(ways.reach(database)).rejects.toThrow('no pod is ready')
  expect(await ways.reach(database)).toMatchObject({ port: 40_000 })
})

test('closing where a way could not be opened does no harm', async () => {
  const ways = waysThrough(platform(1))
  const failing = ways.reach(database).catch(() => null)
  await ways.close()
  expect(await failing).toBe(null)
})

test.each([
  { what: 'through a way', address: database, suggestions: ['kubectl port-forward svc/db 5432', 'psql -h db'] },
  { what: 'without one', address: { host: 'db.example.org', port: 5432 }, suggestions: ['psql -h db'] },
])('an error $what names what is to be typed', async ({ address, suggestions }) => {
  const ways = waysThrough(platform())
  const cause = new Error('reset')
  const obstacle = { kind: 'login' } as const
  const opening = ways.told(async (reach) => {
    await reach(address)
    throw new AdminError('UNREACHABLE', 'PostgreSQL at db:5432 closed the connection', ['psql -h db'], { cause, obstacle })
  })
  await expect(opening).rejects.toMatchObject({ code: 'UNREACHABLE', message: 'PostgreSQL at db:5432 closed the connection', suggestions, cause, obstacle })
})

test('what is no error of the operator passes as it is', async () => {
  const ways = waysThrough(platform())
  const bug = new TypeError('of undefined')
  const thrown: unknown = await ways.told(async (reach) => {
    await reach(database)
    throw bug
  }).catch((error: unknown) => error)
  expect(thrown).toBe(bug)
})
