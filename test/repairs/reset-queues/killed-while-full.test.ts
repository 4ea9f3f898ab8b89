import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { decisive, isCampaign, spread } from '../../support/campaign.ts'
import { queueDeployment } from './own-broker.ts'
import type { QueueDeployment } from './own-broker.ts'
import { foreign } from '../support/operator.ts'

/** more than are asked for at first, so that a kill falls between batches too */
const count = 400
/** of three digits each */
const distinct = Array.from({ length: count }, (_, index) => String(index + 100))
const alike = distinct.map(() => 'ray')

const bounds = [
  { bound: 'x-max-length', values: { 'x-max-length': count } },
  { bound: 'x-max-length and reject-publish', values: { 'x-max-length': count, 'x-overflow': 'reject-publish' } },
  { bound: 'x-max-length-bytes', values: { 'x-max-length-bytes': 3 * count } },
  { bound: 'a policy', values: {} },
]
const instants = ['published', 'published#2', 'confirmed', 'acked', 'emptied']
const ways = ['aside', 'back', 'both ways'] as const
const all = bounds.flatMap(({ bound, values }, of) =>
  spread(ways, ways.length, of % ways.length).flatMap((way) =>
    instants
      .filter((_, index) => isCampaign || index === (of === bounds.length - 1 ? instants.length - 1 : of))
      .map((instant) => ({ bound, values, way, instant })),
  ),
)

async function fullQueue(values: Record<string, unknown>, texts: readonly string[]): Promise<QueueDeployment> {
  const own = await queueDeployment('3', {
    declares: { exchanges: [], queues: [{ name: 'full', arguments: values }], bindings: [] },
  })
  if (Object.keys(values).length === 0) {
    const definition = { pattern: '^full$', 'apply-to': 'queues', definition: { 'max-length': count } }
    await own.vhost.manage('PUT', `/api/policies/${own.vhost.vhost}/bound`, definition)
  }
  await own.fill('full', texts)
  return own
}

const reset = ['reset-queues', '--drain', '0']

/** A run that is killed on the way there, on the way back, or both, and gone on with. */
async function killed({ operator }: QueueDeployment, way: (typeof ways)[number], instant: string): Promise<void> {
  const there = way === 'back' ? 'redeclare-queues:after' : `move-messages:${instant}`
  await operator.killedAt(there, reset)
  if (way === 'aside') return
  if (way === 'both ways') await operator.killedAt('redeclare-queues:after', ['resume'])
  await operator.killedAt(`move-messages:${instant}`, ['resume'])
}

describe.concurrent('a queue that is full', () => {
  test.each(all)(
    'by $bound keeps its messages, where a run is killed $way when they are $instant',
    async ({ values, way, instant }) => {
      const own = await fullQueue(values, distinct)
      try {
        await killed(own, way, instant)
        const resumed = await own.operator.run(['resume', '--json'])
        expect({ code: resumed.code, texts: await own.texts('full') }, resumed.stderr).toEqual({
          code: 0,
          texts: distinct,
        })
      } finally {
        await own.end()
      }
    },
  )

  test('that drops its oldest for what others published meanwhile says how many it has kept', async () => {
    const own = await fullQueue({ 'x-max-length': count }, distinct)
    try {
      await own.operator.killedAt('move-messages:acked', reset)
      await own.fill('full', ['900', '901', '902'])
      const resumed = await own.operator.repair(['resume'])
      const results = resumed.json<RepairDocument>().applied.flatMap((it) => it.results ?? [])
      expect({ code: resumed.code, texts: await own.texts('full'), results }, resumed.stderr).toEqual({
        code: 0,
        texts: [...distinct.slice(3), '900', '901', '902'],
        results: expect.arrayContaining([
          `queue full has lost 3 of the ${count + 3} messages moved back to it: messages expired, or the queue has ` +
            'reached its limit',
        ]) as string[],
      })
    } finally {
      await own.end()
    }
  })

  test.each(decisive(ways, 2))('of messages that are all alike keeps as many of them: %s', async (way) => {
    const own = await fullQueue({ 'x-max-length': count }, alike)
    try {
      await killed(own, way, 'published#2')
      const resumed = await (await own.operator.elsewhere()).repair([
        'resume',
        '--adopt',
        await unfinished(own),
        ...foreign,
      ])
      expect({ code: resumed.code, texts: await own.texts('full') }).toEqual({ code: 0, texts: alike })
    } finally {
      await own.end()
    }
  })

  test.each(decisive(ways, 2))('keeps its messages where a run that was killed is taken back: %s', async (way) => {
    const own = await fullQueue({ 'x-max-length-bytes': 3 * count }, distinct)
    try {
      await killed(own, way, 'published#2')
      const undone = await own.operator.repair(['undo', await unfinished(own)])
      expect({ code: undone.code, texts: await own.texts('full') }).toEqual({ code: 0, texts: distinct })
    } finally {
      await own.end()
    }
  })
})

async function unfinished({ operator }: QueueDeployment): Promise<string> {
  const { runs } = (await operator.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
  return runs[0]!.run
}
