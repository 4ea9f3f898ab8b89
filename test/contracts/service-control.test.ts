import { describe } from 'vitest'
import { openHost } from '../../src/platforms/host/index.ts'
import { fakeDeployment } from '../fakes/index.ts'
import { nothing } from '../platforms/host/nothing.ts'
import { standIn } from '../repairs/support/stand-in.ts'
import { serviceControlContract } from './service-control.ts'

describe('in memory', () => {
  serviceControlContract(async ({ running, settings }) => {
    const deployment = fakeDeployment({ service: running ? 'running' : 'stopped' })
    for (const [name, value] of Object.entries(settings)) deployment.settings.set(name, value)
    return { control: await deployment.control.service(), source: deployment.sources.service, close: async () => undefined }
  })
})

describe('on the platform host', () => {
  serviceControlContract(async ({ running, settings }) => {
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
    const service = await standIn({ running, settings: lines.join('') })
    const { commands, environmentFile } = service.host
    const { start, stop, status } = commands as Record<'start' | 'stop' | 'status', readonly [string, ...string[]]>
    const host = openHost(
      { ...nothing, commands: { start, stop, status }, environmentFile: { path: environmentFile, at: 'a test' } },
      { timeoutMs: 10_000 },
    )
    return { control: await host.control(), source: await host.service(), close: async () => service.end() }
  })
})
