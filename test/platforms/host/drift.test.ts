import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openHost } from '../../../src/platforms/host/index.ts'
import type { ServiceSource } from '../../../src/core/sources.ts'
import { errorOf } from '../../runtime/error-of.ts'
import { folderWith } from '../../runtime/folder.ts'
import { nothing } from './nothing.ts'

/** A service that is a process with this environment, and a file that says something of its own. */
async function serviceWith(
  env: Record<string, string>,
  file: string,
): Promise<{ service: ServiceSource; path: string; pid: number }> {
  const child = spawn('sleep', ['600'], { env: { PATH: process.env['PATH'], ...env }, stdio: 'ignore' })
  await once(child, 'spawn')
  onTestFinished(() => void child.kill())
  const path = join(await folderWith({ 'testops.env': file }), 'testops.env')
  const status = ['sh', '-c', `echo ActiveState=active; echo MainPID=${child.pid}`] as const
  const platform = openHost(
    { ...nothing, commands: { start: ['true'], stop: ['true'], status }, environmentFile: { path, at: 'x' } },
    { timeoutMs: 5000 },
  )
  // between fork and exec it has this process's own
  await expect.poll(async () => (await (await platform.service()).drift()).settings.length).toBeLessThan(6)
  return { service: await platform.service(), path, pid: child.pid! }
}

test('a file that was changed since the process began', async () => {
  const { service, path, pid } = await serviceWith(
    {
      VENDOR_RABBIT_DURABLE: 'false',
      SPRING_RABBITMQ_PASSWORD: 'old',
      SERVER_PORT: '8080',
      TZ: 'UTC',
      SAME: 'a b',
      NOT_ITS_OWN: 'x',
    },
    'VENDOR_RABBIT_DURABLE=true\nSPRING_RABBITMQ_PASSWORD=new\nTZ=UTC\nSAME="a b"\nADDED=1\n',
  )
  const { declaredIn, shown, settings } = await service.drift()
  expect([declaredIn, shown]).toEqual([path, `sudo tr '\\0' '\\n' < /proc/${pid}/environ`])
  expect(settings.map(({ name, declared, runs }) => [name, String(declared), String(runs)])).toEqual([
    ['VENDOR_RABBIT_DURABLE', 'true', 'false'],
    ['SPRING_RABBITMQ_PASSWORD', '[secret]', '[secret]'],
    ['ADDED', '1', 'null'],
    ['SERVER_PORT', 'null', '8080'],
  ])
})

test('a licence and a PIN are secret, where a licence server is not', async () => {
  const { service } = await serviceWith(
    { MY_PIN: '48151', LICENSE_SERVER: 'a.example.org' },
    'VENDOR_LICENSE=planted\nMY_PIN=48152\nLICENSE_SERVER=b.example.org\n',
  )
  const { settings } = await service.drift()
  expect(settings.map(({ name, declared, runs }) => [name, String(declared), String(runs)])).toEqual([
    ['VENDOR_LICENSE', '[secret]', 'null'],
    ['MY_PIN', '[secret]', '[secret]'],
    ['LICENSE_SERVER', 'b.example.org', 'a.example.org'],
  ])
})

test('a service that does not run has none but those of its files', async () => {
  const path = join(await folderWith({ 'testops.env': 'A=1\n' }), 'testops.env')
  const platform = openHost(
    {
      ...nothing,
      commands: { start: ['true'], stop: ['true'], status: ['sh', '-c', 'exit 3'] },
      environmentFile: { path, at: 'x' },
    },
    { timeoutMs: 5000 },
  )
  expect(await errorOf((await platform.service()).drift())).toMatch(/^NOT_CONFIGURED: the service is not running/)
})

test.each([
  [
    'a unit that failed',
    'ActiveState=failed Result=exit-code ExecMainCode=1 ExecMainStatus=3 ExecMainStartTimestamp=@1000 ' +
      'ExecMainExitTimestamp=@2000',
    { isUp: false, ended: { reason: '', exitCode: 3, startedAt: new Date(1_000_000), at: new Date(2_000_000) } },
  ],
  [
    'one that was killed',
    'ActiveState=failed Result=oom-kill ExecMainCode=2 ExecMainStatus=9',
    { isUp: false, ended: { reason: 'signal 9, oom-kill', exitCode: null, startedAt: null, at: null } },
  ],
  [
    'one that is about to be started again',
    'ActiveState=activating SubState=auto-restart Result=signal ExecMainCode=2 ExecMainStatus=6 NRestarts=2',
    { isUp: false, restarts: 2, ended: { reason: 'signal 6', exitCode: null, startedAt: null, at: null } },
  ],
  [
    'one that was started again',
    'ActiveState=active MainPID=5 NRestarts=1 ExecMainStartTimestamp=@1000',
    { isUp: true, restarts: 1, ended: { reason: '', exitCode: null, startedAt: null, at: new Date(1_000_000) } },
  ],
  ['one that runs', 'ActiveState=active MainPID=5', { isUp: true, ended: null }],
  ['one that was stopped', 'ActiveState=inactive Result=success', undefined],
])('how it fares: %s', async (_, properties, expected) => {
  const status = ['sh', '-c', `printf '%s\\n' ${properties}`] as const
  const platform = openHost({ ...nothing, commands: { start: ['true'], stop: ['true'], status } }, { timeoutMs: 5000 })
  const { wanted, instances } = await (await platform.service()).health()
  expect(wanted).toBe(null)
  if (expected) expect(instances).toMatchObject([expected])
  else expect(instances).toEqual([])
})
