import { describe, expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import { readServer, startServer } from '../../../src/lab/servers/index.ts'
import type { ServerRequest } from '../../../src/lab/servers/index.ts'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { environmentFor, freshDirectory, listening, localWays, silent } from './own-servers.ts'

const anyWay = 'unset TESTOPS_ADMIN_LAB_SERVERS   # the lab then tries every way to start servers'
const noEngine = { DOCKER_HOST: 'unix:///nowhere/docker.sock' }

/** What is said where the server cannot be had so; nothing may be left then. */
async function refusalOf(
  request: Omit<ServerRequest, 'directory'>,
  environment: NodeJS.ProcessEnv,
): Promise<AdminError> {
  const directory = await freshDirectory()
  const error = await startServer({ ...request, directory }, { ...silent, environment }).catch(
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(AdminError)
  expect(await readServer(directory)).toBeNull()
  return error as AdminError
}

describe('a way that is forced and cannot be gone', () => {
  test('given, without an address', async () => {
    expect(await refusalOf({ kind: 'redis' }, { TESTOPS_ADMIN_LAB_SERVERS: 'given' })).toMatchObject({
      code: 'CONFIGURATION',
      message: 'TESTOPS_ADMIN_LAB_SERVERS is set to `given`, but TESTOPS_ADMIN_LAB_REDIS_URL is not set',
      suggestions: ['export TESTOPS_ADMIN_LAB_REDIS_URL=…   # uses a running server', anyWay],
    })
  })

  test.each([
    ['given', 'unset TESTOPS_ADMIN_LAB_SERVERS TESTOPS_ADMIN_LAB_REDIS_URL   # the lab then starts its own server'],
    ['', 'unset TESTOPS_ADMIN_LAB_REDIS_URL   # the lab then starts its own server'],
  ])('given, at an address where nothing answers (forced: %j)', async (way, suggestion) => {
    const port = await freePort()
    const given = { TESTOPS_ADMIN_LAB_SERVERS: way, TESTOPS_ADMIN_LAB_REDIS_URL: `redis://127.0.0.1:${port}` }
    expect(await refusalOf({ kind: 'redis' }, given)).toMatchObject({
      code: 'UNREACHABLE',
      message: `TESTOPS_ADMIN_LAB_REDIS_URL points to Redis at 127.0.0.1:${port}, but nothing answers there`,
      suggestions: ['start that server', suggestion],
    })
  })

  test('docker, without an engine', async () => {
    const environment = { TESTOPS_ADMIN_LAB_SERVERS: 'docker', ...noEngine }
    expect(await refusalOf({ kind: 'postgres' }, environment)).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'could not get PostgreSQL on this machine: docker: no Docker engine answers at DOCKER_HOST',
      suggestions: ['unset DOCKER_HOST, or start Docker at the address in DOCKER_HOST', anyWay],
    })
  })

  test('programs, of the other line or none', async () => {
    // no machine has both of them installed
    const requests = (['3', '4.3'] as const).map((line) => ({ kind: 'rabbitmq', rabbitmq: { line } }) as const)
    const ways = await Promise.all(requests.map(localWays))
    const request = requests[ways.findIndex((found) => !found.includes('programs'))]!
    const { message, suggestions } = await refusalOf(request, environmentFor('programs'))
    expect(message).toMatch(
      new RegExp(
        String.raw`^could not get RabbitMQ (3|4\.3) on this machine: programs: ` +
          String.raw`\w+.* is (installed, but the lab needs .*|not installed|not installed, but RabbitMQ needs it)$`,
      ),
    )
    expect(suggestions).toEqual([
      expect.stringMatching(/^apt-get install rabbitmq-server |lab up --broker /) as string,
      anyWay,
    ])
  })

  test('packages, without a folder to keep them in', async () => {
    const environment = { ...environmentFor('packages'), TESTOPS_ADMIN_LAB_CACHE: '/dev/null/cache' }
    const said: string[] = []
    const directory = await freshDirectory()
    await expect(
      startServer({ kind: 'postgres', directory }, { progress: (message) => said.push(message), environment }),
    ).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(
        new RegExp(
          '^could not get PostgreSQL on this machine: packages: ' +
            String.raw`cannot create folder \/dev\/null\/cache for downloaded programs: ENOTDIR`,
        ),
      ) as string,
      suggestions: ['export TESTOPS_ADMIN_LAB_CACHE=…   # the path of a folder that you can write to', anyWay],
    })
    // there is no other way that could be tried
    expect(said).toEqual([])
  })

  test('one that there is not', async () => {
    expect(await refusalOf({ kind: 'redis' }, { ...process.env, TESTOPS_ADMIN_LAB_SERVERS: 'magic' })).toMatchObject({
      code: 'CONFIGURATION',
      message: 'TESTOPS_ADMIN_LAB_SERVERS is magic; allowed: given, docker, programs, packages',
      suggestions: [anyWay],
    })
  })
})

test('a Docker client without an engine is passed over quietly, and named where that way is forced', async () => {
  const { port } = await listening() // takes the question and never answers
  const asked: string[] = []
  for (const host of ['unix:///nowhere/docker.sock', `tcp://127.0.0.1:${port}`]) {
    const directory = await freshDirectory()
    const request = { kind: 'redis', directory } as const
    const before = Date.now()
    await expect(
      startServer(request, { ...silent, environment: { ...environmentFor('docker'), DOCKER_HOST: host } }),
    ).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'could not get Redis on this machine: docker: no Docker engine answers at DOCKER_HOST',
    })
    expect(Date.now() - before).toBeLessThan(5000)
    const environment = { ...process.env, DOCKER_HOST: host, TESTOPS_ADMIN_LAB_SERVERS: '' }
    const record = await startServer(request, { progress: (message) => asked.push(message), environment })
    expect(record.way).not.toBe('docker')
  }
  expect(asked.filter((message) => /docker/i.test(message))).toEqual([])
})

test('where no way works, each is named with its reason, and with what opens it', async () => {
  const environment = { PATH: '/nowhere', TESTOPS_ADMIN_LAB_CACHE: '/dev/null/cache', ...noEngine }
  const { code, message, suggestions } = await refusalOf({ kind: 'rabbitmq', rabbitmq: { line: '4.3' } }, environment)
  expect(code).toBe('UNAVAILABLE')
  expect(message).toMatch(/^could not get RabbitMQ 4\.3 on this machine: docker: .+; programs: .+; packages: .+/)
  expect(suggestions).toEqual([
    'unset DOCKER_HOST, or start Docker at the address in DOCKER_HOST',
    expect.stringMatching(/^apt-get install rabbitmq-server |lab up --broker 3 /) as string,
    'export TESTOPS_ADMIN_LAB_CACHE=…   # the path of a folder that you can write to',
    'export TESTOPS_ADMIN_LAB_RABBITMQ_URL=…   # uses a running server',
  ])
})
