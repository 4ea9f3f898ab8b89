import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { withOwn } from './own-broker.ts'

const reset = ['reset-queues', '--drain', '0']

describe.concurrent('a run that is over', () => {
  test('and was undone, is neither undone again nor resumed', async () => {
    await withOwn('3', async ({ operator, fill, state, service }) => {
      await fill('upload', ['1', '2', '3'])
      const { run } = (await operator.repair(reset)).json<RepairDocument>()
      expect((await operator.repair(['undo', run!])).code).toBe(0)
      const [after, calls] = [await state(), await service.calls()]
      for (const words of [['undo', run!], ['resume', run!], ['resume']]) {
        const again = await operator.repair(words)
        expect({ words, code: again.code, document: again.json() }).toEqual({
          words,
          code: 0,
          document: { schemaVersion: 1, outcome: 'nothing-to-do' },
        })
      }
      expect({ state: await state(), calls: await service.calls() }).toEqual({ state: after, calls })
    })
  })

  test('and is undone once its queues have got other messages, and a reader that is not the service', async () => {
    await withOwn('3', async ({ operator, fill, state, connect }) => {
      await fill('upload', ['1', '2'])
      const before = await state()
      const { run } = (await operator.repair(reset)).json<RepairDocument>()
      await fill('upload', ['3', '4'])
      await fill('export', ['a'])
      const connection = await connect('somebody')
      const channel = await connection.createChannel()
      await channel.prefetch(1)
      await channel.consume('upload', () => undefined)
      const refused = await operator.repair(['undo', run!])
      const { error } = refused.json<RepairDocument>()
      expect({
        code: refused.code,
        message: error?.message,
        next: error?.suggestions.some((it) => it.startsWith(`testops-admin undo ${run}`)),
      }).toEqual({
        code: 6,
        message: expect.stringMatching(
          new RegExp(
            String.raw`^moving the messages of queue upload into \S+: ` +
              'other consumers are reading queue upload: stop these consumers first$',
          ),
        ) as string,
        next: true,
      })
      await connection.close()
      const undone = await operator.repair(['undo', run!])
      const { queues } = before
      expect({ code: undone.code, state: await state() }, undone.stderr).toEqual({
        code: 0,
        state: {
          ...before,
          queues: {
            ...queues,
            upload: { ...queues['upload'], texts: ['1', '2', '3', '4'] },
            export: { ...queues['export'], texts: ['a'] },
          },
        },
      })
    })
  })
})
