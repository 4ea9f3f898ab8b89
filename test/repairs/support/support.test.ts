import { describe, expect, onTestFinished, test } from 'vitest'
import { serviceManager, startService, stopService } from '../../../src/platforms/host/index.ts'
import type { HostSettings } from '../../../src/platforms/host/index.ts'
import { deploy } from './deploy.ts'
import { failpointsOf, undoFailpointsOf, undoInstantsOf } from './failpoints.ts'
import { operator } from './operator.ts'
import { standIn } from './stand-in.ts'
import type { StandIn } from './stand-in.ts'

const options = { timeoutMs: 5000 }

async function own(given?: Parameters<typeof standIn>[0]): Promise<{ service: StandIn; settings: HostSettings }> {
  const service = await standIn(given)
  onTestFinished(async () => service.end())
  const nothing = {
    unit: null,
    logs: null,
    environmentFile: null,
    image: null,
    build: null,
    cpuinfo: null,
    declaredIn: 'a test',
  }
  return { service, settings: { ...nothing, commands: service.host.commands } as HostSettings }
}

test('the stand-in is stopped, started, killed, and says so', async () => {
  const { service, settings } = await own()
  const manager = serviceManager(settings, options)!
  const states: string[] = []
  const look = async (): Promise<void> => void states.push((await manager.status()).state)
  await look()
  await stopService(manager, options)
  await look()
  let started = 0
  service.onStart(async () => void (started += 1))
  await startService(manager, options)
  await look()
  await service.kill()
  await look()
  expect({ states, started, calls: await service.calls() }).toEqual({
    states: ['running', 'stopped', 'running', 'failed'],
    started: 1,
    calls: ['stop', 'start'],
  })
})

describe('the stand-in misbehaves:', () => {
  test('a stop that is refused, a start after which it dies', async () => {
    const { service, settings } = await own()
    const manager = serviceManager(settings, options)!
    await service.behave({ stop: 'fail', start: 'die' })
    await expect(stopService(manager, options)).rejects.toThrow(/exited with 1: stop was refused$/)
    await service.stop()
    await expect(startService(manager, options)).rejects.toThrow(
      /^the service started, but did not keep running: failed/,
    )
  })
})

test('an operator works on a deployment that was configured', async () => {
  const service = await standIn({ running: false })
  const deployed = await deploy(() => ({ url: service.url, platform: 'host', host: service.host }))
  const someone = await operator(deployed)
  onTestFinished(async () => {
    await someone.leave()
    await service.end()
    await deployed.remove()
  })
  const ended = await someone.run(['doctor', '--only', 'service/running', '--json'])
  expect({ code: ended.code, deployment: ended.json<{ deployment: string }>().deployment }).toEqual({
    code: 1,
    deployment: 'prod',
  })
})

test('failpoints are read from the sources', () => {
  const names = failpointsOf(['stop-service', 'start-service'])
  expect(names).toEqual(
    expect.arrayContaining([
      'stop-service:before',
      'stop-service:intended',
      'stop-service:stopped',
      'start-service:after',
      'verify:before',
    ]),
  )
  expect(undoFailpointsOf(['stop-service', 'start-service'])).toEqual([
    'stop-service:undo-intended',
    'stop-service:undo-after',
  ])
  expect(undoInstantsOf(['await-quiet', 'set-setting', 'switch-exchanges'])).toEqual([
    'set-setting:undo-intended',
    'set-setting:undo-after',
    'switch-exchanges:undo-intended',
    'switch-exchanges:undo-after',
    'switch-exchanges:undo-deleted',
    'switch-exchanges:undo-declared',
    'switch-exchanges:undo-bound',
  ])
  for (const kind of ['move-messages', 'delete-queues', 'keep-queues', 'redeclare-queues'])
    expect(undoInstantsOf([kind])).toEqual(expect.arrayContaining([`${kind}:undo-published#2`, `${kind}:undo-noted`]))
  expect(() => failpointsOf(['no-such-kind'])).toThrow('there is no action no-such-kind')
})
