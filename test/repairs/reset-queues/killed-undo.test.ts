import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { madeDurable, withOwn, withoutRepetitions } from './own-broker.ts'
import { inner } from '../../support/campaign.ts'

/** Within what is taken back, where that is more than one change. */
const points = [
  'move-messages:undo-opened',
  'move-messages:undo-published#2',
  'move-messages:undo-confirmed',
  'move-messages:undo-acked#2',
  'move-messages:undo-emptied',
  'switch-exchanges:undo-deleted',
  'switch-exchanges:undo-deleted#2',
  'switch-exchanges:undo-declared',
  'switch-exchanges:undo-bound',
]

describe.concurrent('killed within an undo', () => {
  test.each(inner(points, 2))('at %s, it is gone on with; and so is the run itself', async (point) => {
    await withOwn('3', async ({ fill, operator, state }) => {
      await fill('upload', ['1', '2', '3'])
      await fill('export', ['a'])
      const before = await state()
      const { run } = (await operator.repair(['reset-queues', '--drain', '0'])).json<RepairDocument>()
      await operator.killedAt(point, ['undo', run!])
      const undone = await operator.repair(['undo', run!])
      expect({ code: undone.code, state: withoutRepetitions(await state()) }).toEqual({ code: 0, state: before })
      const anew = await operator.repair(['reset-queues', '--drain', '0'])
      expect({ code: anew.code, state: withoutRepetitions(await state()) }).toEqual({
        code: 0,
        state: madeDurable(before),
      })
    })
  })
})
