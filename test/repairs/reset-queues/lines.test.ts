import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import type { RabbitmqLine, ServerRecord } from '../../../src/lab/servers/index.ts'
import { servers, startBroker } from '../../servers/index.ts'
import type { OwnBroker } from '../../servers/index.ts'
import { planned } from './kinds.ts'
import { beans, madeDurable, queueDeployment } from './own-broker.ts'

let own: Partial<Record<RabbitmqLine, OwnBroker>> = {}
beforeAll(async () => {
  const [four, permitting] = await Promise.all([startBroker('4.0'), startBroker('4.3-permitting')])
  own = { '4.0': four, '4.3-permitting': permitting }
})
afterAll(async () => void (await Promise.all(Object.values(own).map(async (it) => it.remove()))))

function brokerOf(line: RabbitmqLine): ServerRecord {
  return own[line]?.server ?? servers()[line === '3' ? 'rabbitmq3' : 'rabbitmq43']
}

/** one argument that newer brokers ignore, and compare all the same */
const declares = { ...beans, queues: [...beans.queues, { name: 'lazy', arguments: { 'x-queue-mode': 'lazy' } }] }
const texts = Array.from({ length: 200 }, (_, index) => String(index))

describe.concurrent('on RabbitMQ', () => {
  test.each([
    ['3', /, RabbitMQ 3\.\d/],
    ['4.0', /, RabbitMQ 4\.[0-2]\./],
    ['4.3-permitting', /, RabbitMQ (4\.([3-9]|\d\d)|[5-9])\./],
  ] as const)('%s, messages, setting and all that is transient are changed, and taken back', async (line, version) => {
    const on = await queueDeployment(line, { on: brokerOf(line), declares })
    try {
      await on.fill('upload', texts)
      await on.fill('export', ['low', 'high'], { priority: 3 })
      await on.fill('lazy', ['later'])
      const before = await on.state()
      expect(Object.values(before.queues).map(({ durable }) => durable)).toEqual([false, false, false, false])
      const { code, json } = await on.operator.repair(['reset-queues', '--drain', '0'])
      const { plan, verification, run } = json<RepairDocument>()
      expect({
        code,
        target: plan.target['broker'],
        kinds: plan.steps.map(({ action }) => action.kind),
        verification,
        state: await on.state(),
      }).toEqual({
        code: 0,
        target: expect.stringMatching(version) as string,
        kinds: planned,
        verification: { 'broker/queues-durable': 'ok', 'service/running': 'ok', 'api/reachable': 'ok' },
        state: madeDurable(before),
      })
      const undone = await on.operator.repair(['undo', run!])
      expect({ code: undone.code, state: await on.state() }).toEqual({ code: 0, state: before })
    } finally {
      await on.end()
    }
  })

  test('4.3, which refuses transient queues, the messages of durable ones stay where they are', async () => {
    const on = await queueDeployment('4.3', { durable: 'true' })
    try {
      await on.fill('upload', texts)
      const before = await on.state()
      // as an upgrade finds it whose exchanges are older than the setting
      const path = `/api/exchanges/${on.vhost.vhost}/work`
      await on.vhost.manage('DELETE', path)
      await on.vhost.manage('PUT', path, { type: 'topic', durable: false })
      await on.service.settings('VENDOR_RABBIT_DURABLE=false\n')
      await on.service.stop()
      await on.service.start()
      const { code, json } = await on.operator.repair(['reset-queues', '--drain', '0'])
      const { plan, verification } = json<RepairDocument>()
      expect({
        code,
        kinds: plan.steps.map(({ action }) => action.kind),
        verification,
        state: await on.state(),
      }).toEqual({
        code: 0,
        kinds: ['stop-service', 'await-quiet', 'set-setting', 'switch-exchanges', 'start-service'],
        verification: { 'broker/queues-durable': 'ok', 'service/running': 'ok', 'api/reachable': 'ok' },
        state: before,
      })
    } finally {
      await on.end()
    }
  })
})
