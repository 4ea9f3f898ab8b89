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
  expect(
    await Promise.all([
      ways.reach(database),
      ways.reach({ ...database }),
      ways.reach({ host: 'db.example.org', port: 5432 }),
    ]),
  ).toEqual([
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
    throw new AdminError('UNREACHABLE', 'PostgreSQL at db:5432 closed the connection', ['psql -h db'], {
      cause,
      obstacle,
    })
  })
  await expect(opening).rejects.toMatchObject({
    code: 'UNREACHABLE',
    message: 'PostgreSQL at db:5432 closed the connection',
    suggestions,
    cause,
    obstacle,
  })
})

test('what is no error of the operator passes as it is', async () => {
  const ways = waysThrough(platform())
  const bug = new TypeError('of undefined')
  const thrown: unknown = await ways
    .told(async (reach) => {
      await reach(database)
      throw bug
    })
    .catch((error: unknown) => error)
  expect(thrown).toBe(bug)
})

test('what fails since its way broke is told by that, at its opening and later', async () => {
  let brokenAt = Infinity
  const beyond = { kind: 'beyond' } as const
  const lost = new AdminError('UNREACHABLE', 'the cluster opens no way to pod `db-0`', ['--relay'], {
    obstacle: beyond,
  })
  const ways = waysThrough({
    reach: async () => ({
      source: {
        host: '127.0.0.1',
        port: 40_000,
        command: 'kubectl port-forward',
        brokenSince: async (time) => (brokenAt >= time && brokenAt !== Infinity ? lost : null),
      },
      close: async () => undefined,
    }),
  })
  const fails = (code: 'UNREACHABLE' | 'REFUSED') => async (): Promise<never> => {
    throw new AdminError(code, 'PostgreSQL closed the connection')
  }
  const open = async (): Promise<{ ask: () => Promise<never>; refuse: () => Promise<never> }> =>
    (
      await ways.told(async (reach) => {
        await reach(database)
        return { source: { ask: fails('UNREACHABLE'), refuse: fails('REFUSED') }, close: async () => undefined }
      })
    ).source
  const { ask, refuse } = await open()
  await expect(ask()).rejects.toMatchObject({
    message: 'PostgreSQL closed the connection',
    suggestions: ['kubectl port-forward'],
  })
  const asked = ask()
  brokenAt = performance.now()
  await expect(asked).rejects.toMatchObject({
    code: 'UNREACHABLE',
    message: lost.message,
    suggestions: ['kubectl port-forward', '--relay'],
    obstacle: beyond,
  })
  await expect(refuse()).rejects.toMatchObject({
    code: 'REFUSED',
    message: 'PostgreSQL closed the connection',
    suggestions: [],
  })
  // what was begun since failed of itself
  await expect(ask()).rejects.toMatchObject({ message: 'PostgreSQL closed the connection' })
})
