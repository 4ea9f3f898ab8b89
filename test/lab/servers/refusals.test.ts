import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  assertData,
  fillDisk,
  readServer,
  removeServer,
  resumeServer,
  serverRunning,
  startServer,
  stopServer,
} from '../../../src/lab/servers/index.ts'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { environmentFor, leftOf, ownServer, temporaryFolder } from './own-servers.ts'

const progress = () => {}

async function listening(onPort = 0): Promise<{ server: Server; port: number }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(onPort, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

test.each(['postgres', 'rabbitmq', 'redis'] as const)('%s is not started on a port that is taken', async (kind) => {
  const { port } = await listening()
  const directory = join(await temporaryFolder(), 'server')
  await expect(startServer({ kind, directory, port }, { progress })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(
      new RegExp(`^Port ${port} on 127\\.0\\.0\\.1, wanted for \\w+, is taken by another program$`),
    ) as string,
    suggestions: [expect.stringContaining(`sport = :${port}`) as string, expect.any(String) as string],
  })
  expect(await readServer(directory)).toBeNull()
})

test('a stopped server whose port was taken meanwhile says so', async () => {
  const record = await ownServer({ kind: 'redis', port: await freePort() })
  await stopServer(record)
  const { server } = await listening(record.port)
  await expect(resumeServer(record, { progress })).rejects.toThrow(`Port ${record.port} on 127.0.0.1`)
  await new Promise((resolve) => server.close(resolve))
  await resumeServer(record, { progress })
  expect(await serverRunning(record)).toBe(true)
})

test('a disk in memory that a restart of the machine took away is named before anything is started', async () => {
  const record = await ownServer({ kind: 'redis' })
  const lost = { ...record, local: { ...record.local!, disk: { kind: 'mount', path: join(record.directory, 'gone'), bytes: 1 } as const } }
  await stopServer(record)
  for (const ask of [() => assertData(lost), () => resumeServer(lost, { progress })]) {
    await expect(ask()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `the disk of PostgreSQL's data, ${join(record.directory, 'gone')}, is gone: was this machine restarted?`,
      suggestions: ['testops-admin lab down', 'testops-admin lab up'],
    })
  }
  expect((await readServer(record.directory))?.state).toBe('started')
})

test('a folder that holds a server is not given to another', async () => {
  const { directory } = await ownServer({ kind: 'redis' })
  await expect(startServer({ kind: 'redis', directory }, { progress })).rejects.toMatchObject({ code: 'REFUSED' })
})

test('a damaged record is an error that names it', async () => {
  const { directory, ...record } = await ownServer({ kind: 'redis' })
  onTestFinished(() => removeServer({ ...record, directory }))
  await writeFile(join(directory, 'server.json'), '{')
  await expect(readServer(directory)).rejects.toMatchObject({
    code: 'FAILED',
    message: expect.stringContaining('server.json') as string,
  })
  await writeFile(join(directory, 'server.json'), JSON.stringify({ ...record, directory }))
})

test('an unknown way is refused', async () => {
  const environment = { ...process.env, TESTOPS_ADMIN_LAB_SERVERS: 'magic' }
  const directory = join(await temporaryFolder(), 'server')
  await expect(startServer({ kind: 'redis', directory }, { progress, environment })).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: 'TESTOPS_ADMIN_LAB_SERVERS is magic, and not one of given, docker, programs, packages',
  })
})

test('a start that is interrupted leaves nothing', async () => {
  const directory = join(await temporaryFolder(), 'server')
  const interrupt = new AbortController()
  const start = startServer({ kind: 'postgres', directory }, { progress, signal: interrupt.signal })
  await expect.poll(() => readServer(directory), { interval: 5 }).not.toBeNull()
  const record = await readServer(directory)
  interrupt.abort()
  await expect(start).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(record && (await leftOf(record))).toEqual([])
})

test('a Docker client without an engine is passed over quietly, and named where that way is forced', async () => {
  const { port } = await listening() // takes the question and never answers
  const asked: string[] = []
  for (const host of ['unix:///nowhere/docker.sock', `tcp://127.0.0.1:${port}`]) {
    const directory = join(await temporaryFolder(), 'server')
    const request = { kind: 'redis', directory } as const
    const before = Date.now()
    await expect(
      startServer(request, { progress, environment: { ...environmentFor('docker'), DOCKER_HOST: host } }),
    ).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'Redis cannot be had on this machine. docker: no Docker engine answers at DOCKER_HOST',
    })
    expect(Date.now() - before).toBeLessThan(5000)
    const environment = { ...process.env, DOCKER_HOST: host, TESTOPS_ADMIN_LAB_SERVERS: '' }
    const record = await startServer(request, { progress: (message) => asked.push(message), environment })
    expect(record.way).not.toBe('docker')
  }
  expect(asked.filter((message) => /docker/i.test(message))).toEqual([])
})

test('where no way works, each is named with its reason', async () => {
  const environment = { PATH: '/nowhere', DOCKER_HOST: 'unix:///nowhere/docker.sock', TESTOPS_ADMIN_LAB_CACHE: '/dev/null/cache' }
  const directory = join(await temporaryFolder(), 'server')
  await expect(
    startServer({ kind: 'rabbitmq', rabbitmq: { line: '4.3' }, directory }, { progress, environment }),
  ).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(
      /^RabbitMQ 4\.3 cannot be had on this machine\. docker: .+; programs: .+; packages: .+/,
    ) as string,
    suggestions: [
      expect.stringContaining('TESTOPS_ADMIN_LAB_RABBITMQ_URL') as string,
      'apt-get install rabbitmq-server',
      'or start Docker',
    ],
  })
  expect(await readServer(directory)).toBeNull()
})

test('a server without a disk of its own cannot be filled', async () => {
  await expect(fillDisk(await ownServer({ kind: 'redis' }))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})
