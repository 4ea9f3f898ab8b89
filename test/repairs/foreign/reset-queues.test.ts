import type { ChannelModel, ConfirmChannel } from 'amqplib'
import { describe, expect, test } from 'vitest'
import type { RunRecord } from '../../../src/core/run.ts'
import { actionKinds } from '../reset-queues/kinds.ts'
import { madeDurable, withOwn, withoutRepetitions } from '../reset-queues/own-broker.ts'
import type { QueueDeployment } from '../reset-queues/own-broker.ts'
import { failpointsOf, undoFailpointsOf } from '../support/failpoints.ts'
import { foreign } from '../support/operator.ts'
import { inner } from '../../support/campaign.ts'

const reset = ['reset-queues', '--drain', '0']
const discard = [...reset, '--discard-messages']

async function unfinished({ operator }: QueueDeployment): Promise<string> {
  const { runs } = (await operator.run(['history', '--json'])).json<{ runs: { run: string; state: string }[] }>()
  return runs.find(({ state }) => state === 'unfinished')!.run
}

describe.concurrent('a run that was killed fits on another machine', () => {
  const undone = undoFailpointsOf(actionKinds, ['start-service'])
  test.each(inner(undone, 3))('while it was undone, at %s', async (point) => {
    await withOwn('3', async (own) => {
      await own.fill('upload', ['1', '2'])
      const before = await own.state()
      const { run } = (await own.operator.repair(reset)).json<{ run: string }>()
      await own.operator.killedAt(point, ['undo', run])
      const again = await (await own.operator.elsewhere()).repair(['undo', run, ...foreign])
      expect({ code: again.code, state: withoutRepetitions(await own.state()) }, again.stdout).toEqual({
        code: 0,
        state: before,
      })
    })
  })

  const kinds = ['delete-queues', 'switch-exchanges', 'redeclare-queues', 'start-service']
  const discarding = failpointsOf(kinds).filter((point) => kinds.some((kind) => point.startsWith(`${kind}:`)))
  test.each(inner(discarding, 2))('where it deletes messages, at %s', async (point) => {
    await withOwn('3', async (own) => {
      const empty = await own.state()
      await own.fill('upload', ['1', '2'])
      await own.operator.killedAt(point, discard)
      const resumed = await (await own.operator.elsewhere()).repair([
        'resume',
        '--adopt',
        await unfinished(own),
        ...foreign,
      ])
      expect({ code: resumed.code, state: await own.state() }, resumed.stdout).toEqual({
        code: 0,
        state: madeDurable(empty),
      })
    })
  })

  test('where it deletes messages, and it is undone', async () => {
    await withOwn('3', async (own) => {
      const empty = await own.state()
      await own.fill('upload', ['1', '2'])
      await own.operator.killedAt('redeclare-queues:intended', discard)
      const run = await unfinished(own)
      await own.operator.killedAt('delete-queues:undo-after', ['undo', run])
      const undo = await (await own.operator.elsewhere()).repair(['undo', run, ...foreign])
      expect({ code: undo.code, state: await own.state() }, undo.stdout).toEqual({ code: 0, state: empty })
    })
  })
})

/** Takes all messages of a queue out of it. */
async function taken(channel: ConfirmChannel, queue: string): Promise<string[]> {
  const texts: string[] = []
  for (;;) {
    const message = await channel.get(queue, { noAck: true })
    if (message === false) return texts
    texts.push(message.content.toString())
  }
}

/** Somebody who may write to the broker changes the record of a run in it. */
async function forge(model: ChannelModel, run: string, change: (text: string) => string): Promise<void> {
  const channel = await model.createConfirmChannel()
  const queue = `testops-admin.run.${run}`
  const [record = '', ...events] = await taken(channel, queue)
  const forged = change(record)
  expect(forged).not.toBe(record)
  for (const text of [forged, ...events]) channel.sendToQueue(queue, Buffer.from(text), { persistent: true })
  await channel.waitForConfirms()
  await channel.close()
}

/** Each action of the plan, changed. */
function changing(record: string, change: (action: RunRecord['plan']['steps'][number]['action']) => object): string {
  const read = JSON.parse(record) as RunRecord
  return JSON.stringify({
    ...read,
    plan: { ...read.plan, steps: read.plan.steps.map((step) => ({ ...step, action: change(step.action) })) },
  })
}

describe.concurrent('a record that was changed in the broker is refused, and nothing is changed', () => {
  const tapped = { source: 'work', destination: 'export', destinationKind: 'queue', routingKey: '#', arguments: {} }
  const bound = (record: string): string =>
    changing(record, (action) => {
      if (action.kind === 'start-service' && action.binds) return { ...action, binds: [...action.binds, tapped] }
      if ('bindings' in action && action.kind !== 'keep-queues')
        return { ...action, bindings: [...action.bindings, tapped] }
      return action.kind === 'hold-queues'
        ? { ...action, saved: { ...action.saved, bindings: [...action.saved.bindings, tapped] } }
        : action
    })
  const renamed = (from: string, to: string) => (record: string) =>
    record.replaceAll(`"${from}"`, `"${to}"`).replaceAll(`testops-admin.held.${from}"`, `testops-admin.held.${to}"`)
  test.each<[what: string, words: readonly string[], point: string, change: (record: string) => string, said: string]>([
    [
      'another queue',
      reset,
      'stop-service:before',
      renamed('export', 'phantom'),
      'queue phantom is missing, but according to the saved record it should exist',
    ],
    [
      'another exchange',
      reset,
      'stop-service:before',
      renamed('work', 'phantom'),
      'exchange phantom is missing, but according to the saved record it should exist',
    ],
    [
      'another binding',
      reset,
      'stop-service:before',
      bound,
      'the binding of queue export to work is missing, or differs from the saved record',
    ],
    [
      'more messages to delete',
      discard,
      'delete-queues:intended',
      (record) =>
        record
          .replaceAll('"messages":2', '"messages":2000')
          .replace('"messagesDiscarded":2', '"messagesDiscarded":2000'),
      'the run deletes up to 2,000 messages, but its queues contain 2',
    ],
  ])('%s', async (_, words, point, change, said) => {
    await withOwn('3', async (own) => {
      await own.fill('upload', ['1', '2'])
      await own.operator.killedAt(point, words)
      const run = await unfinished(own)
      const before = await own.state()
      const model = await own.connect()
      await forge(model, run, change)
      await model.close()
      const ended = await (await own.operator.elsewhere()).repair(['resume', '--adopt', run, ...foreign])
      expect([ended.code, ended.stdout]).toEqual([4, expect.stringContaining(said)])
      expect(await own.state()).toEqual(before)
    })
  })
})
