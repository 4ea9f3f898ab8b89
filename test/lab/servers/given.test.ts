import { expect, test } from 'vitest'
import {
  brokerControl,
  fillDisk,
  freeDisk,
  readServer,
  removeServer,
  resumeServer,
  serverRunning,
  startServer,
  stopServer,
} from '../../../src/lab/servers/index.ts'
import type { ServerRequest } from '../../../src/lab/servers/index.ts'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { servers } from '../../servers/index.ts'
import type { TestServers } from '../../servers/servers.ts'
import { freshDirectory, silent } from './own-servers.ts'

/** The shared servers, as somebody who runs them would give them. */
function given(change: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { postgres, redis, rabbitmq3 } = servers()
  const user = (name: string, password: string) => `${encodeURIComponent(name)}:${encodeURIComponent(password)}`
  return {
    TESTOPS_ADMIN_LAB_POSTGRES_URL:
      `postgresql://${user(postgres.user, postgres.password)}` +
      `@${postgres.host}:${postgres.port}/${postgres.database}`,
    TESTOPS_ADMIN_LAB_RABBITMQ_URL:
      `amqp://${user(rabbitmq3.user, rabbitmq3.password)}` + `@${rabbitmq3.host}:${rabbitmq3.port}`,
    TESTOPS_ADMIN_LAB_RABBITMQ_MANAGEMENT_URL: rabbitmq3.managementUrl,
    TESTOPS_ADMIN_LAB_REDIS_URL: `redis://${redis.host}:${redis.port}/999`,
    ...change,
  }
}

async function startGiven(request: Omit<ServerRequest, 'directory'>, change?: Readonly<Record<string, string>>) {
  return startServer({ ...request, directory: await freshDirectory() }, { ...silent, environment: given(change) })
}

test.each([
  ['postgres', 'postgres', 'postgres'],
  ['rabbitmq', 'rabbitmq3', '/'],
  ['redis', 'redis', '999'],
] as const satisfies readonly [string, keyof TestServers, string][])(
  'a given %s is used, and never stopped or removed',
  async (kind, name, database) => {
    const shared = servers()[name]
    const record = await startGiven({ kind })
    const { user, password, host, port, version } = shared
    expect(record).toMatchObject({ way: 'given', database, user, password, host, port, version })
    expect(record.managementUrl).toBe(shared.managementUrl)
    for (const refused of [
      () => stopServer(record),
      () => brokerControl(record, ['stop']),
      () => fillDisk(record),
      () => freeDisk(record),
    ]) {
      await expect(refused()).rejects.toMatchObject({
        code: 'REFUSED',
        message: expect.stringContaining("is not the lab's own server") as string,
      })
    }
    expect(await resumeServer(record, silent)).toEqual(record)
    await removeServer(record)
    await removeServer(record)
    expect(await readServer(record.directory)).toBeNull()
    expect(await serverRunning(shared)).toBe(true)
  },
)

test('a given address that is wrong is one clear error without the password', async () => {
  const closed = await freePort()
  const { postgres, redis } = servers()
  const cases = [
    [{ kind: 'redis' }, { REDIS: `redis://user:hidden@127.0.0.1:${closed}` }, 'UNREACHABLE', 'nothing answers there'],
    [{ kind: 'redis' }, { REDIS: 'no address' }, 'CONFIGURATION', 'invalid address'],
    [
      { kind: 'redis' },
      { REDIS: `redis://:hidden@${postgres.host}:${postgres.port}` },
      'UNAUTHENTICATED',
      'cannot use',
    ],
    [
      { kind: 'postgres' },
      { POSTGRES: `postgresql://nobody:hidden@${postgres.host}:${postgres.port}/x` },
      'UNAUTHENTICATED',
      'failed',
    ],
    [{ kind: 'postgres' }, { POSTGRES: `postgresql://${redis.host}:${redis.port}/x` }, 'UNAUTHENTICATED', 'cannot use'],
    [{ kind: 'rabbitmq' }, { RABBITMQ_MANAGEMENT: `http://127.0.0.1:${closed}` }, 'UNAUTHENTICATED', 'ECONNREFUSED'],
    [{ kind: 'rabbitmq', rabbitmq: { line: '4.3' } }, {}, 'UNAVAILABLE', 'the lab needs 4.0 or later'],
  ] as const
  for (const [request, change, code, words] of cases) {
    const variables = Object.fromEntries(
      Object.entries(change).map(([name, value]) => [`TESTOPS_ADMIN_LAB_${name}_URL`, value]),
    )
    const message = expect.stringMatching(new RegExp(`^TESTOPS_ADMIN_LAB_\\w+_URL(?!.*hidden).*${words}`)) as string
    await expect(startGiven(request, variables), code).rejects.toMatchObject({ code, message })
  }
})
