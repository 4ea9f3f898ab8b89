import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { planned } from './kinds.ts'
import { madeDurable, withOwn } from './own-broker.ts'

function kindsOf({ plan }: RepairDocument): string[] {
  return plan.steps.map(({ action }) => action.kind)
}

const settingAlone = ['stop-service', 'set-setting', 'start-service']

describe.concurrent('reset-queues', () => {
  test('moves the messages aside and back, and makes all of the service durable', async () => {
    await withOwn('3', async ({ fill, state, operator, vhost }) => {
      await fill(
        'upload',
        Array.from({ length: 50 }, (_, index) => String(index)),
      )
      await fill('upload_dlq', ['dead'])
      const before = await state()
      const { code, json } = await operator.repair(['reset-queues', '--drain', '0'])
      const document = json<RepairDocument>()
      expect({
        code,
        outcome: document.outcome,
        kinds: kindsOf(document),
        impact: document.plan.impact,
        verification: document.verification,
      }).toEqual({
        code: 0,
        outcome: 'done',
        kinds: planned,
        impact: {
          messagesMoved: 51,
          queuesWithMessages: 2,
          queuesReset: 3,
          exchangesReset: 2,
          settingsChanged: 1,
          serviceRestarts: 1,
        },
        verification: { 'broker/queues-durable': 'ok', 'service/running': 'ok', 'api/reachable': 'ok' },
      })
      expect(document.plan.target['broker']).toMatch(new RegExp(`vhost ${vhost.vhost}, RabbitMQ 3\\.`))
      expect(await state()).toEqual(madeDurable(before))
      const again = await operator.repair(['reset-queues'])
      expect({ code: again.code, outcome: again.json<RepairDocument>().outcome }).toEqual({
        code: 0,
        outcome: 'nothing-to-do',
      })
    })
  })

  test.each([['1', '2'], []])('is taken back: %s', async (...texts) => {
    await withOwn('3', async ({ fill, state, operator }) => {
      await fill('upload', texts)
      const before = await state()
      const { json } = await operator.repair(['reset-queues', '--drain', '0'])
      const undone = await operator.repair(['undo', json<RepairDocument>().run!])
      expect({ code: undone.code, state: await state() }).toEqual({ code: 0, state: before })
    })
  })

  test.each(['false', null])(
    'where the queues are durable and the setting is %s, it is the setting and a restart',
    async (setting) => {
      await withOwn(
        '4.3',
        async ({ fill, state, operator, service }) => {
          await fill('upload', ['kept'])
          await service.settings(setting === null ? '' : `VENDOR_RABBIT_DURABLE=${setting}`)
          // as the service that was refused says it
          await service.stop()
          await service.start()
          const { code, json } = await operator.repair(['reset-queues'])
          expect({
            code,
            kinds: kindsOf(json<RepairDocument>()),
            texts: (await state()).queues['upload']?.texts,
          }).toEqual({ code: 0, kinds: settingAlone, texts: ['kept'] })
          expect((await state()).setting).toBe('true')
        },
        { durable: 'true' },
      )
    },
  )

  test(
    'where the broker refuses transient queues and none is there, ' + 'it is the setting, the exchanges and a restart',
    async () => {
      await withOwn('4.3', async ({ operator, state }) => {
        expect((await state()).queues).toEqual({})
        const { code, json } = await operator.repair(['reset-queues'])
        expect({ code, kinds: kindsOf(json<RepairDocument>()), queues: Object.keys((await state()).queues) }).toEqual({
          code: 0,
          // the exchanges were declared before the broker refused the first queue
          kinds: ['stop-service', 'await-quiet', 'set-setting', 'switch-exchanges', 'start-service'],
          queues: ['export', 'upload', 'upload_dlq'],
        })
      })
    },
  )

  test('a dry run changes nothing', async () => {
    await withOwn('3', async ({ fill, state, operator, service }) => {
      await fill('upload', ['1'])
      const before = await state()
      const calls = await service.calls()
      const { code, json } = await operator.run(['reset-queues', '--dry-run', '--json'])
      const document = json<RepairDocument>()
      expect({ code, outcome: document.outcome, state: await state(), calls: await service.calls() }).toEqual({
        code: 0,
        outcome: 'planned',
        state: before,
        calls,
      })
      const loses = document.plan.steps.flatMap(({ loses: it }) => it ?? [])
      expect(loses).toEqual([
        'for each moved message: the exchange it came through, its time in the queue so far (its time to live ' +
          "restarts), its redelivered flag, its delivery mode (it becomes persistent), its user_id (if another user's)",
      ])
    })
  })

  test('--discard-messages deletes no more than was confirmed', async () => {
    await withOwn('3', async ({ fill, state, operator }) => {
      await fill('upload', ['1', '2'])
      const before = await state()
      const saved = operator.begin(['reset-queues', '--discard-messages', '--confirm', 'prod', '--json'], {
        failpoint: 'delete-queues:before=stop',
      })
      await saved.untilStopped()
      await fill('upload', ['3'])
      saved.goOn()
      const refused = await saved.ended
      expect({ code: refused.code, error: refused.json<RepairDocument>().error?.message }).toEqual({
        code: 6,
        error: '3 messages would be lost now, but you confirmed a loss of only 2 messages',
      })
      const { run, plan } = refused.json<RepairDocument>()
      expect(plan.impact['messagesDiscarded']).toBe(2)
      const undone = await operator.repair(['undo', run!])
      const { queues, ...rest } = await state()
      expect({ code: undone.code, texts: queues['upload']?.texts, rest }).toEqual({
        code: 0,
        texts: ['1', '2', '3'],
        rest: { exchanges: before.exchanges, bindings: before.bindings, setting: 'false', running: true, ours: [] },
      })
      const done = await operator.repair(['reset-queues', '--discard-messages'])
      expect({ code: done.code, texts: (await state()).queues['upload']?.texts }).toEqual({ code: 0, texts: [] })
      await fill('upload', ['since'])
      const undoneToo = await operator.repair(['undo', done.json<RepairDocument>().run!])
      const { queues: emptied, setting, ours } = await state()
      expect({
        code: undoneToo.code,
        durable: Object.values(emptied).map(({ durable }) => durable),
        texts: emptied['upload']?.texts,
        setting,
        ours,
      }).toEqual({
        code: 0,
        durable: [false, false, false],
        texts: ['since'],
        setting: 'false',
        ours: [],
      })
    })
  })

  test('a queue that gains messages meanwhile keeps them', async () => {
    await withOwn('3', async ({ fill, state, operator }) => {
      await fill('upload', ['1'])
      const begun = operator.begin(['reset-queues', '--drain', '0', '--confirm', 'prod', '--json'], {
        failpoint: 'delete-queues:counted=stop',
      })
      await begun.untilStopped()
      await fill('upload', ['2', '3'])
      await fill('export', ['x'])
      begun.goOn()
      const { code } = await begun.ended
      const { queues } = await state()
      expect({ code, upload: queues['upload'], exported: queues['export']?.texts }).toMatchObject({
        code: 0,
        upload: { durable: true, texts: ['1', '2', '3'] },
        exported: ['x'],
      })
    })
  })

  test('a queue that gains a reader meanwhile stops the run, which goes on once the reader has gone', async () => {
    await withOwn('3', async ({ fill, state, operator, connect }) => {
      await fill('upload', ['1'])
      const before = await state()
      const begun = operator.begin(['reset-queues', '--drain', '0', '--confirm', 'prod', '--json'], {
        failpoint: 'delete-queues:before=stop',
      })
      await begun.untilStopped()
      const reader = await connect()
      await (await reader.createChannel()).consume('export', () => undefined)
      begun.goOn()
      const ended = await begun.ended
      const { error } = ended.json<RepairDocument>()
      expect({ code: ended.code, message: error?.message }).toEqual({
        code: 6,
        message: 'queue export was not deleted: another client reads from the queue. Nothing is lost',
      })
      await reader.close()
      const resumed = await operator.run(['resume', '--json'])
      expect({ code: resumed.code, state: await state() }).toEqual({ code: 0, state: madeDurable(before) })
    })
  })

  test.each([['1', '2', '3'], ['only']])(
    'an auto-delete queue is held open while the service stops: %s',
    async (...texts) => {
      const declares = { exchanges: [], queues: [{ name: 'passing', autoDelete: true }], bindings: [] }
      await withOwn(
        '3',
        async ({ fill, state, operator, connect, service }) => {
          await fill('passing', texts)
          const reader = await connect()
          const reading = await reader.createChannel()
          await reading.prefetch(1)
          await reading.consume('passing', () => undefined)
          const begun = operator.begin(['reset-queues', '--drain', '0', '--confirm', 'prod', '--json'])
          const before = (await service.calls()).length
          while ((await service.calls()).length === before) await new Promise((resolve) => setTimeout(resolve, 20))
          // its consumer goes with the service
          await reader.close()
          const ended = await begun.ended
          expect({ code: ended.code, kinds: kindsOf(ended.json<RepairDocument>()).slice(0, 3) }).toEqual({
            code: 0,
            kinds: ['hold-queues', 'keep-queues', 'stop-service'],
          })
          expect((await state()).queues).toEqual({ passing: { durable: true, autoDelete: true, arguments: {}, texts } })
        },
        { declares },
      )
    },
  )

  test('a healthy service empties its queues itself', async () => {
    await withOwn('3', async ({ fill, operator, connect, service, state, vhost }) => {
      const reader = await connect()
      const channel = await reader.createChannel()
      await channel.prefetch(1)
      await channel.consume('export', (message) => message && channel.ack(message))
      await fill('export', ['a', 'b'])
      while (((await vhost.manage('GET', `/api/consumers/${vhost.vhost}`)) as unknown[]).length === 0)
        await new Promise((resolve) => setTimeout(resolve, 100))
      const begun = operator.begin(['reset-queues', '--confirm', 'prod', '--json'])
      const before = (await service.calls()).length
      while ((await service.calls()).length === before) await new Promise((resolve) => setTimeout(resolve, 20))
      await reader.close()
      const ended = await begun.ended
      expect({ code: ended.code, kinds: kindsOf(ended.json<RepairDocument>()).slice(0, 3) }).toEqual({
        code: 0,
        kinds: ['hold-queues', 'drain-queues', 'stop-service'],
      })
      expect((await state()).queues['export']?.texts).toEqual([])
    })
  })
})
