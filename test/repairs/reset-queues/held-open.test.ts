import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { decisive } from '../../support/campaign.ts'
import type { Begun } from '../support/operator.ts'
import { madeDurable, withOwn } from './own-broker.ts'
import type { QueueDeployment, State } from './own-broker.ts'

const declares = {
  exchanges: [{ name: 'work', type: 'topic' }],
  queues: [{ name: 'passing', autoDelete: true }, { name: 'upload' }],
  bindings: [{ exchange: 'work', queue: 'passing', routingKey: 'pass.#' }],
}

/** A service that reads from a queue which vanishes without it, stopped in the middle of the repair. */
async function stoppedAt(
  point: string,
  texts: readonly string[],
  { fill, state, operator, connect, service }: QueueDeployment,
): Promise<{ begun: Begun; before: State }> {
  await fill('passing', texts)
  await fill('upload', ['u'])
  const before = await state()
  const itself = await connect()
  const reading = await itself.createChannel()
  await reading.prefetch(1)
  await reading.consume('passing', () => undefined)
  const calls = (await service.calls()).length
  const begun = operator.begin(['reset-queues', '--drain', '0', '--confirm', 'prod', '--json'], {
    failpoint: `${point}=stop`,
  })
  while ((await service.calls()).length === calls) await new Promise((resolve) => setTimeout(resolve, 20))
  // its consumer goes with the service
  await itself.close()
  await begun.untilStopped()
  return { begun, before }
}

/** The service declares its queues in no order that is known. */
function held({ queues }: State): string[] {
  return Object.keys(queues).sort()
}

describe.concurrent('a queue that vanishes without a reader', () => {
  const ways = [
    { texts: ['1', '2', '3'], way: 'resume' },
    { texts: ['1', '2'], way: 'undo' },
    { texts: ['only'], way: 'undo' },
  ]
  test.each(decisive(ways, 2))(
    'keeps its messages where the run is interrupted before they are moved, then $way: $texts',
    async ({ texts, way }) => {
      await withOwn(
        '3',
        async (own) => {
          const { begun, before } = await stoppedAt('set-setting:before', texts, own)
          begun.child.kill('SIGTERM')
          begun.goOn()
          const ended = await begun.ended
          expect({ code: ended.code, queues: held(await own.state()) }).toEqual({ code: 6, queues: ['upload'] })
          const { run } = ended.json<RepairDocument>()
          const { code } = await own.operator.repair([way, run!])
          expect({ code, state: await own.state() }).toEqual({
            code: 0,
            state: way === 'undo' ? before : madeDurable(before),
          })
        },
        { declares },
      )
    },
  )

  // more than are under way at a time, so that some are left in the queue
  test.each(['resume', 'undo'])(
    'keeps its messages where the run is interrupted while they are moved, then %s',
    async (way) => {
      await withOwn(
        '3',
        async (own) => {
          const texts = Array.from({ length: 200 }, (_, index) => String(index))
          const { begun, before } = await stoppedAt('move-messages:published', texts, own)
          begun.child.kill('SIGTERM')
          begun.goOn()
          const ended = await begun.ended
          expect({ code: ended.code, queues: held(await own.state()) }).toEqual({ code: 6, queues: ['upload'] })
          const { code } = await own.operator.repair([way, ended.json<RepairDocument>().run!])
          expect({ code, state: await own.state() }).toEqual({
            code: 0,
            state: way === 'undo' ? before : madeDurable(before),
          })
        },
        { declares },
      )
    },
  )

  test('keeps its messages where a step fails before they are moved', async () => {
    await withOwn(
      '3',
      async (own) => {
        const { begun, before } = await stoppedAt('set-setting:before', ['1', '2'], own)
        const { endpoint } = own.vhost
        await own.service.settings(`SPRING_RABBITMQ_USERNAME=${endpoint.user}\nVENDOR_RABBIT_DURABLE=perhaps`)
        begun.goOn()
        const ended = await begun.ended
        const { run, error } = ended.json<RepairDocument>()
        expect({ code: ended.code, error: error?.message }).toEqual({
          code: 6,
          error: "somebody else has changed VENDOR_RABBIT_DURABLE in the service's settings: it is no longer false",
        })
        await own.service.settings(`SPRING_RABBITMQ_USERNAME=${endpoint.user}\nVENDOR_RABBIT_DURABLE=false`)
        const { code } = await own.operator.repair(['undo', run!])
        expect({ code, state: await own.state() }).toEqual({ code: 0, state: before })
      },
      { declares },
    )
  })

  test('keeps its messages where an undo is interrupted once the service is stopped for it', async () => {
    await withOwn(
      '3',
      async (own) => {
        const { begun, before } = await stoppedAt('delete-held:before', ['1', '2'], own)
        begun.goOn()
        const done = await begun.ended
        expect(done.code).toBe(0)
        const { run } = done.json<RepairDocument>()
        const undoing = own.operator.begin(['undo', run!, '--confirm', 'prod', '--json'], {
          failpoint: 'start-service:undo-after=stop',
        })
        await undoing.untilStopped()
        undoing.child.kill('SIGTERM')
        undoing.goOn()
        expect((await undoing.ended).code).toBe(6)
        const { code } = await own.operator.repair(['undo', run!])
        expect({ code, state: await own.state() }).toEqual({ code: 0, state: before })
      },
      { declares },
    )
  })
})

test('a binding that is made once the plan is confirmed stays', async () => {
  await withOwn('3', async ({ fill, operator, connect, state }) => {
    await fill('upload', ['1'])
    const begun = operator.begin(['reset-queues', '--drain', '0', '--confirm', 'prod', '--json'], {
      failpoint: 'switch-exchanges:before=stop',
    })
    await begun.untilStopped()
    const other = await connect()
    const channel = await other.createChannel()
    await channel.assertQueue('late', { durable: true })
    await channel.bindQueue('late', 'work', 'late.#')
    await other.close()
    begun.child.kill('SIGKILL')
    begun.goOn()
    await begun.ended
    const killed = await operator.killedAt('switch-exchanges:deleted', ['resume'])
    expect(killed.signal).toBe('SIGKILL')
    expect((await operator.run(['resume', '--json'])).code).toBe(0)
    expect((await state()).bindings).toContain('work -late.#-> late')
  })
})

test('a setting that is taken back takes effect: a service that runs is started anew', async () => {
  await withOwn(
    '3',
    async ({ operator, service, state }) => {
      await service.settings('VENDOR_RABBIT_DURABLE=false')
      // as the service that was refused says it
      await service.stop()
      await service.start()
      const { code, json } = await operator.repair(['reset-queues'])
      expect(code).toBe(0)
      const before = (await service.calls()).length
      const undone = await operator.repair(['undo', json<RepairDocument>().run!])
      expect({
        code: undone.code,
        calls: (await service.calls()).slice(before),
        setting: (await state()).setting,
      }).toEqual({ code: 0, calls: ['stop', 'start'], setting: 'false' })
    },
    { durable: 'true' },
  )
})

test('a right that the way back needs is missed while the service still runs', async () => {
  await withOwn('3', async ({ fill, operator, vhost, service, state }) => {
    await fill('upload', ['1'])
    const before = await state()
    const permissions = `/api/permissions/${encodeURIComponent(vhost.vhost)}/${vhost.endpoint.user}`
    await vhost.manage('PUT', permissions, { configure: '^(?!testops-admin[.]back)', write: '.*', read: '.*' })
    const calls = await service.calls()
    const refused = await operator.repair(['reset-queues', '--drain', '0'])
    const { applied, error } = refused.json<RepairDocument>()
    expect({ code: refused.code, applied, calls: await service.calls() }).toEqual({ code: 69, applied: [], calls })
    expect(error?.message).toMatch(/testops-admin\.back\./)
    await vhost.manage('PUT', permissions, { configure: '.*', write: '.*', read: '.*' })
    expect(await state()).toEqual(before)
    // nothing has to be undone first
    expect((await operator.repair(['reset-queues', '--drain', '0'])).code).toBe(0)
  })
})
