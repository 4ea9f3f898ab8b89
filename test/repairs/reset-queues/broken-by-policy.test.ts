import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { isCampaign } from '../../support/campaign.ts'
import { madeDurable, withOwn } from './own-broker.ts'
import type { QueueDeployment } from './own-broker.ts'

const five = ['1', '2', '3', '4', '5']
const reset = ['reset-queues', '--drain', '0']

interface Since {
  of: 'reset-queues' | 'undo'
  /** where it is when the policy comes */
  at: string
  pattern: string
  definition: Readonly<Record<string, unknown>>
  said: RegExp
  /** what is left of the five in the end; absent: all */
  left?: readonly string[]
  /** until it has done what it says */
  waitMs?: number
}

const stays =
  '^the messages stay in queue testops-admin[.]held[.]upload, because queue upload could drop them: policy since'
const waits = 'on the temporary queues that hold the messages during the repair, so messages could be lost$'
const dropped = 'Queue upload: 5 messages moved aside, but \\d moved back[.] A policy lets the broker drop messages: '

const all: readonly Since[] = [
  {
    of: 'reset-queues',
    at: 'redeclare-queues:after',
    pattern: '^upload',
    definition: { 'max-length': 2 },
    said: new RegExp(
      `${stays} \\(pattern \\^upload\\) sets max-length, added or changed after the messages were moved aside$`,
    ),
  },
  {
    of: 'undo',
    at: 'delete-queues:undo-intended',
    pattern: '^upload',
    definition: { 'max-length-bytes': 2 },
    said: new RegExp(
      `${stays} \\(pattern \\^upload\\) sets max-length-bytes, added or changed after the messages were moved aside$`,
    ),
  },
  {
    of: 'reset-queues',
    at: 'move-messages:before',
    pattern: '.*',
    definition: { 'message-ttl': 600_000 },
    said: new RegExp(`^policy since \\(pattern [.][*]\\) sets message-ttl ${waits}`),
  },
  {
    of: 'reset-queues',
    at: 'delete-queues:before',
    pattern: '[.]held[.]',
    definition: { 'max-length': 2 },
    said: new RegExp(`^${dropped}policy since \\(pattern \\[[.]\\]held\\[[.]\\]\\) sets max-length[.]`),
    left: ['4', '5'],
  },
  {
    of: 'undo',
    at: 'move-messages:undo-intended',
    pattern: '[.](held|ahead)[.]',
    definition: { expires: 600_000 },
    said: new RegExp(`sets expires ${waits}`),
  },
  {
    of: 'reset-queues',
    at: 'move-messages:before',
    pattern: '^testops-admin',
    definition: { 'dead-letter-exchange': 'dead' },
    said: new RegExp(`sets dead-letter-exchange ${waits}`),
  },
  {
    of: 'reset-queues',
    at: 'redeclare-queues:before',
    pattern: '[.]held[.]',
    definition: { expires: 300 },
    said: new RegExp(`^${dropped}policy since .* sets expires[.]`),
    left: [],
    waitMs: 1200,
  },
  {
    of: 'reset-queues',
    at: 'move-messages:before#2',
    pattern: '^upload',
    definition: { expires: 600_000, 'message-ttl': 600_000 },
    said: new RegExp(`${stays} .*sets message-ttl, expires, added or changed after the messages were moved aside$`),
  },
]

async function set(
  { vhost }: QueueDeployment,
  { pattern, definition, waitMs = 0 }: Pick<Since, 'pattern' | 'definition' | 'waitMs'>,
): Promise<void> {
  await vhost.manage('PUT', `/api/policies/${vhost.vhost}/since`, { pattern, 'apply-to': 'queues', definition })
  await new Promise((resolve) => setTimeout(resolve, waitMs))
}

/** `words`, stopped at that failpoint while the policy comes. */
async function metBy(
  own: QueueDeployment,
  words: readonly string[],
  { at, ...policy }: Pick<Since, 'at' | 'pattern' | 'definition' | 'waitMs'>,
): ReturnType<QueueDeployment['operator']['run']> {
  const begun = own.operator.begin([...words, '--confirm', 'prod', '--json'], { failpoint: `${at}=stop` })
  await begun.untilStopped()
  await set(own, policy)
  begun.goOn()
  return begun.ended
}

describe.concurrent('a policy that comes in the middle', () => {
  test.each(all.filter((_, index) => isCampaign || index < 4))(
    'of $of, at $at, and says $definition of $pattern: nothing is dropped without a word',
    async ({ of, said, left = five, ...since }) => {
      await withOwn('3', async (own) => {
        await own.fill('upload', five)
        const before = await own.state()
        const words = of === 'undo' ? ['undo', (await own.operator.repair(reset)).json<RepairDocument>().run!] : reset
        const ended = await metBy(own, words, since)
        const { run, error } = ended.json<RepairDocument>()
        expect({
          code: ended.code,
          message: error?.message,
          next: error?.suggestions.slice(0, 2),
          running: await own.service.isRunning(),
        }).toEqual({
          code: 6,
          message: expect.stringMatching(said) as string,
          next: [
            expect.stringMatching(/rabbitmqctl -p \S+ list_policies$/) as string,
            expect.stringMatching(/^change the policy's pattern so that it does not match queue \S+$/) as string,
          ],
          running: false,
        })
        await own.vhost.manage('DELETE', `/api/policies/${own.vhost.vhost}/since`)
        const again = await own.operator.repair([of === 'undo' ? 'undo' : 'resume', run!])
        const wanted = of === 'undo' ? before : madeDurable(before)
        expect({ code: again.code, state: await own.state() }, again.stderr).toEqual({
          code: 0,
          state: { ...wanted, queues: { ...wanted.queues, upload: { ...wanted.queues['upload'], texts: left } } },
        })
      })
    },
  )

  test('before the service is stopped keeps it from being stopped', async () => {
    await withOwn('3', async (own) => {
      await own.fill('upload', five)
      const before = await own.state()
      const calls = await own.service.calls()
      const ended = await metBy(own, reset, {
        at: 'hold-queues:after',
        pattern: '.*',
        definition: { 'message-ttl': 600_000 },
      })
      const { run, error } = ended.json<RepairDocument>()
      const undone = await own.operator.repair(['undo', run!])
      expect({
        codes: [ended.code, undone.code],
        message: error?.message,
        calls: await own.service.calls(),
        state: await own.state(),
      }).toEqual({
        codes: [6, 0],
        message: expect.stringContaining(
          'sets message-ttl on the temporary queues that hold the messages during the repair, ' +
            'so messages could be lost',
        ) as string,
        calls,
        state: before,
      })
    })
  })

  test('and bears on where messages wait as on their own queue does not keep them there, and is told', async () => {
    await withOwn('3', async (own) => {
      await own.fill('upload', five)
      const before = await own.state()
      const ended = await metBy(own, reset, {
        at: 'redeclare-queues:before',
        pattern: '(held|^upload)',
        definition: { 'message-ttl': 600_000 },
      })
      const { applied } = ended.json<RepairDocument>()
      expect({
        code: ended.code,
        state: await own.state(),
        results: applied.flatMap(({ results = [] }) => results),
      }).toEqual({
        code: 0,
        state: madeDurable(before),
        results: [
          'queue upload may drop messages: policy since (pattern (held|^upload)) sets message-ttl, added or ' +
            'changed after the messages were moved aside',
          '5 messages moved back, with the same contents',
        ],
      })
    })
  })
})
