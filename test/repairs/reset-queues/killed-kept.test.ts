import { describe, expect, test } from 'vitest'
import { failpointsOf } from '../support/failpoints.ts'
import { inner, spread } from '../../support/campaign.ts'
import { madeDurable, queueDeployment, withoutRepetitions } from './own-broker.ts'
import type { QueueDeployment } from './own-broker.ts'
import { foreign } from '../support/operator.ts'

/**
 * What is done while the service is still there, and reads: a queue that vanishes with it is held open, and others are
 * emptied.
 */
const kinds = ['keep-queues', 'drain-queues']
const points = failpointsOf(kinds).filter((name) => kinds.some((kind) => name.startsWith(`${kind}:`)))
const ways = ['resume', 'resume --adopt, on another machine', 'undo'] as const
const words = ['reset-queues', '--drain', '1', '--confirm', 'prod', '--json']
const declares = { exchanges: [], queues: [{ name: 'passing', autoDelete: true }, { name: 'upload' }], bindings: [] }

/** What the service holds in its hands, and never acknowledges, is there again once it has gone. */
async function reading({ connect }: QueueDeployment): Promise<() => Promise<void>> {
  const connection = await connect('the service')
  const channel = await connection.createChannel()
  await channel.prefetch(1)
  for (const { name } of declares.queues) await channel.consume(name, () => undefined)
  return async () => connection.close()
}

describe.concurrent('while the service reads, killed', () => {
  test.each(
    ways.flatMap((way, place) => inner(spread(points, ways.length, place), 2).map((point) => ({ point, way }))),
  )('at $point, then $way', async ({ point, way }) => {
    const own = await queueDeployment('3', { declares })
    const { operator, service } = own
    try {
      for (const { name } of declares.queues) await own.fill(name, ['1', '2', '3'])
      const before = await own.state()
      const leave = await reading(own)
      await operator.killedAt(point, words.slice(0, 3))
      const { runs } = (await operator.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
      const run = runs[0]!.run
      if (way === 'undo') {
        const undone = await operator.repair(['undo', run])
        expect({ code: undone.code, calls: await service.calls() }).toEqual({ code: 0, calls: [] })
        // a queue without its last reader goes: so this is all that can be seen of it
        await own.fill('passing', ['4'])
        await leave()
        expect(await own.texts('upload')).toEqual(['1', '2', '3'])
        return
      }
      const someone = way === 'resume' ? operator : await operator.elsewhere()
      const begun = someone.begin([
        ...(way === 'resume' ? ['resume'] : ['resume', '--adopt']),
        run,
        ...(way === 'resume' ? [] : foreign),
        '--confirm',
        'prod',
        '--json',
      ])
      while ((await service.calls()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
      await leave()
      const { code } = await begun.ended
      expect({ code, state: withoutRepetitions(await own.state()) }).toEqual({ code: 0, state: madeDurable(before) })
    } finally {
      await own.end()
    }
  })
})
