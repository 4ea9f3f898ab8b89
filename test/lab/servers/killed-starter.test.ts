import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'esbuild'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { readServer, removeServer } from '../../../src/lab/servers/index.ts'
import type { ServerKind, ServerRecord } from '../../../src/lab/servers/index.ts'
import { leftOf, temporaryFolder } from './own-servers.ts'

let program: string

beforeAll(async () => {
  const built = await build({
    entryPoints: [join(import.meta.dirname, '../../../src/lab/servers/index.ts')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['testcontainers'],
    write: false,
    logLevel: 'silent',
  })
  program = built.outputFiles[0]?.text ?? ''
})

/**
 * Kills a process that starts a server, `afterMs` after what it makes is on record; null: once the server has started.
 */
async function killStarter(kind: ServerKind, afterMs: number | null): Promise<ServerRecord> {
  const folder = await temporaryFolder()
  const directory = join(folder, 'server')
  const request = JSON.stringify({ kind, directory, rabbitmq: { line: '4.3' }, postgres: { diskBytes: 1e8 } })
  const start = `module.exports.startServer(${request}, { progress() {} }).then(() => setInterval(() => {}, 1000))`
  await writeFile(join(folder, 'starter.cjs'), `${program}\n${start}`)
  const starter = spawn(process.execPath, [join(folder, 'starter.cjs')], { stdio: 'ignore' })
  onTestFinished(() => void starter.kill('SIGKILL'))
  await expect
    .poll(async () => (await readServer(directory))?.state ?? null, { interval: 2, timeout: 60_000 })
    .toEqual(afterMs === null ? 'started' : expect.any(String))
  await sleep(afterMs ?? 0)
  starter.kill('SIGKILL')
  const record = await readServer(directory)
  if (!record) throw new Error('no record')
  return record
}

test.each([
  ['postgres', 0],
  ['postgres', 60],
  ['postgres', 300],
  ['postgres', null],
  ['redis', 0],
  ['redis', null],
  ['rabbitmq', 0],
  ['rabbitmq', 700],
  ['rabbitmq', null],
] as const)('nothing is left of %s after its starter was killed (%s ms)', async (kind, afterMs) => {
  const record = await killStarter(kind, afterMs)
  await removeServer(record)
  await sleep(100)
  expect(await leftOf(record)).toEqual([])
})
