import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { withOwn } from './own-broker.ts'
import type { Beans, QueueDeployment } from './own-broker.ts'

const words = ['reset-queues', '--drain', '0', '--confirm', 'prod', '--json']
/** longer than it takes from the first message to the start of the service */
const lifeMs = 10_000
const texts = ['1', '2', '3']

/** A queue whose messages wait for another try; the one that they go to is empty. */
function retried(
  values: Record<string, unknown>,
  exchange: Beans['exchanges'][number] = { name: 'dead', type: 'direct' },
): Beans {
  return {
    exchanges: [exchange],
    queues: [{ name: 'upload' }, { name: 'retry', arguments: values }],
    bindings: [{ exchange: exchange.name, queue: 'upload', routingKey: 'retry' }],
  }
}

/** What is in both queues once the service is up again, which was not before all messages had expired. */
async function afterwards(own: QueueDeployment): Promise<unknown> {
  const begun = own.operator.begin(words, { failpoint: 'start-service:before=stop' })
  await begun.untilStopped()
  await new Promise((resolve) => setTimeout(resolve, lifeMs + 500))
  begun.goOn()
  const { code } = await begun.ended
  return { code, retry: await own.texts('retry'), upload: (await own.texts('upload')).sort() }
}

describe.concurrent('what expires before the service is up is where its dead letters go:', () => {
  test.each([
    [
      'by its name',
      retried({ 'x-message-ttl': lifeMs, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'upload' }),
    ],
    [
      'by an exchange and a key',
      retried({ 'x-message-ttl': lifeMs, 'x-dead-letter-exchange': 'dead', 'x-dead-letter-routing-key': 'retry' }),
    ],
    [
      'by an exchange and the key that it came with',
      retried({ 'x-message-ttl': lifeMs, 'x-dead-letter-exchange': 'dead' }, { name: 'dead', type: 'topic' }),
    ],
  ])('%s', async (_, declares) => {
    await withOwn(
      '3',
      async (own) => {
        await own.fill('retry', texts)
        expect(await afterwards(own)).toEqual({ code: 0, retry: [], upload: texts })
      },
      { declares },
    )
  })

  test('by a policy', async () => {
    await withOwn(
      '3',
      async (own) => {
        const definition = { 'message-ttl': lifeMs, 'dead-letter-exchange': '', 'dead-letter-routing-key': 'upload' }
        await own.vhost.manage('PUT', `/api/policies/${own.vhost.vhost}/again`, {
          pattern: '^retry$',
          definition,
          'apply-to': 'queues',
        })
        await own.fill('retry', texts)
        expect(await afterwards(own)).toEqual({ code: 0, retry: [], upload: texts })
      },
      { declares: retried({}) },
    )
  })
})

test(
  'dead letters of a queue that stays are named as what may be lost, ' + 'while the queue that they go to is deleted',
  async () => {
    const declares: Beans = {
      exchanges: [{ name: 'dead', type: 'direct' }],
      queues: [
        { name: 'upload' },
        {
          name: 'retry',
          durable: true,
          arguments: { 'x-queue-type': 'quorum', 'x-message-ttl': lifeMs, 'x-dead-letter-exchange': 'dead' },
        },
      ],
      bindings: [{ exchange: 'dead', queue: 'upload', routingKey: 'retry' }],
    }
    await withOwn(
      '3',
      async ({ operator }) => {
        const { plan } = (await operator.run(['reset-queues', '--dry-run', '--json'])).json<RepairDocument>()
        const loses = plan.steps.find(({ action }) => action.kind === 'delete-queues')?.loses
        expect(loses).toBe('dead letters from retry to upload, until the receiving queue is redeclared')
      },
      { declares },
    )
  },
)
