import { afterAll, describe } from 'vitest'
import { composeWorld, recorded } from '../platforms/compose/world.ts'
import { realEngine } from '../platforms/compose/real-engine.ts'
import type { ServiceWorld } from './service-control.ts'
import { serviceControlContract } from './service-control.ts'

/** A project whose service has these settings in its compose file, and a container made from it. */
function composeFile(image: string, settings: ServiceWorld['settings']): string {
  const lines = Object.entries(settings).map(
    ([name, value]) => `      ${name}: ${JSON.stringify(value.replaceAll('$', '$$$$'))}\n`,
  )
  return (
    `version: "2.4"\nservices:\n  testops:\n    image: ${image}\n    network_mode: ` +
    `none\n${lines.length > 0 ? '    environment:\n' : ''}${lines.join('')}`
  )
}

describe('on recorded answers', () => {
  serviceControlContract(async ({ running, settings }) => {
    const container = await recorded(running ? 'testops' : 'stopped', ({ State, Config }) => {
      State['Pid'] = 0
      Config.Env = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
    })
    const world = await composeWorld(
      { containers: [container] },
      { 'project/docker-compose.yml': composeFile(container.Config.Image, settings) },
    )
    const platform = await world.open()
    return { control: await platform.control(), source: await platform.service(), close: async () => platform.close() }
  })
})

const engine = await realEngine()

describe.each(engine ? [engine] : [])('on the engine $name', (real) => {
  afterAll(async () => real.end())
  serviceControlContract(async ({ running, settings }) => {
    const { platform, remove } = await real.project((image) => composeFile(image, settings), { running })
    return { control: await platform.control(), source: await platform.service(), close: remove }
  })
})
