import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { isCampaign } from '../../support/campaign.ts'
import { madeDurable, withOwn, withoutRepetitions } from './own-broker.ts'
import type { Beans, QueueDeployment } from './own-broker.ts'

const reset = ['reset-queues', '--drain', '0', '--confirm', 'prod', '--json']
const texts = Array.from({ length: 300 }, (_, index) => String(index + 100))

/** One of them is held open by the run, which moves its messages aside when it lets go. */
const declares: Beans = {
  exchanges: [{ name: 'work', type: 'topic' }],
  queues: [{ name: 'upload' }, { name: 'passing', arguments: { 'x-expires': 600_000 } }],
  bindings: [{ exchange: 'work', queue: 'passing', routingKey: 'passing' }],
}

const points = [
  'keep-queues:let-go-opened',
  'keep-queues:let-go-published',
  'keep-queues:let-go-acked',
  'keep-queues:let-go-noted',
  'verify:before',
  'end:before',
  'end:after',
]
const ways = ['undo', 'resume'] as const
const all = points.flatMap((at, index) =>
  ways.filter((_, way) => isCampaign || way === index % 2).map((way) => ({ at, way })),
)
const moments = [0, 20, 60, 150].flatMap((afterMs, index) =>
  ways.filter((_, way) => isCampaign || (index % 2 === 0 && way === index / 2)).map((way) => ({ afterMs, way })),
)

async function goneOnWith(
  { operator, state }: QueueDeployment,
  way: (typeof ways)[number],
  before: Awaited<ReturnType<QueueDeployment['state']>>,
): Promise<void> {
  const { runs } = (await operator.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
  const last = await operator.repair([way, runs[0]!.run])
  expect({ code: last.code, state: withoutRepetitions(await state()) }, `${last.stderr}${last.stdout}`).toEqual({
    code: 0,
    state: way === 'undo' ? before : madeDurable(before),
  })
}

describe.concurrent('killed while it lets go after Ctrl-C', () => {
  test.each(all.filter((_, index) => isCampaign || index % 2 === 1))(
    'at $at, $way comes to its end',
    async ({ at, way }) => {
      await withOwn(
        '3',
        async (own) => {
          await own.fill('upload', ['a', 'b'])
          await own.fill('passing', texts)
          const before = await own.state()
          // as one that the service does not close
          const connection = await own.connect()
          const begun = own.operator.begin(reset, { failpoint: at })
          await begun.until("waiting until the service's connections")
          begun.child.kill('SIGINT')
          expect((await begun.ended).signal).toBe('SIGKILL')
          await connection.close()
          await goneOnWith(own, way, before)
        },
        { declares },
      )
    },
  )

  test.each(moments)('$afterMs ms after it, $way comes to its end', async ({ afterMs, way }) => {
    await withOwn('3', async (own) => {
      await own.fill('upload', texts)
      const before = await own.state()
      const begun = own.operator.begin(reset, { failpoint: 'move-messages:published=stop' })
      await begun.untilStopped()
      begun.child.kill('SIGINT')
      begun.goOn()
      await sleep(afterMs)
      begun.child.kill('SIGKILL')
      await begun.ended
      await goneOnWith(own, way, before)
    })
  })
})
