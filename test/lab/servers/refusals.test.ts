import { writeFile } from 'node:fs/promises'
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
import { freshDirectory, leftOf, listening, localWays, ownServer, silent } from './own-servers.ts'

test.each(['postgres', 'rabbitmq', 'redis'] as const)('%s is not started on a port that is taken', async (kind) => {
  const { port } = await listening()
  const directory = await freshDirectory()
  await expect(startServer({ kind, directory, port }, silent)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(
      new RegExp(`^\\w+ needs port ${port} on 127\\.0\\.0\\.1, but another program uses that port$`),
    ) as string,
    suggestions: [expect.stringContaining(`sport = :${port}`) as string, expect.any(String) as string],
  })
  expect(await readServer(directory)).toBeNull()
})

test('a stopped server whose port was taken meanwhile says so', async () => {
  const record = await ownServer({ kind: 'redis', port: await freePort() })
  await stopServer(record)
  const { server } = await listening(record.port)
  await expect(resumeServer(record, silent)).rejects.toThrow(`port ${record.port} on 127.0.0.1`)
  await new Promise((resolve) => server.close(resolve))
  await resumeServer(record, silent)
  expect(await serverRunning(record)).toBe(true)
})

test('a disk in memory that a restart of the machine took away is named before anything is started', async () => {
  const [way] = await localWays({ kind: 'redis' })
  const record = await ownServer({ kind: 'redis' }, way)
  const lost = {
    ...record,
    local: { ...record.local!, disk: { kind: 'mount', path: join(record.directory, 'gone'), bytes: 1 } as const },
  }
  await stopServer(record)
  for (const ask of [() => assertData(lost), () => resumeServer(lost, silent)]) {
    await expect(ask()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message:
        `the disk with PostgreSQL's data, ${join(record.directory, 'gone')}, is gone; most likely this machine ` +
        'was restarted',
      suggestions: ['testops-admin lab down', 'testops-admin lab up'],
    })
  }
  expect((await readServer(record.directory))?.state).toBe('started')
})

test('a folder that holds a server is not given to another', async () => {
  const { directory } = await ownServer({ kind: 'redis' })
  await expect(startServer({ kind: 'redis', directory }, silent)).rejects.toMatchObject({ code: 'REFUSED' })
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

test('a start that is interrupted leaves nothing', async () => {
  const directory = await freshDirectory()
  const interrupt = new AbortController()
  const start = startServer({ kind: 'postgres', directory }, { ...silent, signal: interrupt.signal })
  await expect.poll(() => readServer(directory), { interval: 5 }).not.toBeNull()
  const record = await readServer(directory)
  interrupt.abort()
  await expect(start).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(record && (await leftOf(record))).toEqual([])
})

test('a server without a disk of its own cannot be filled', async () => {
  await expect(fillDisk(await ownServer({ kind: 'redis' }))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})
