import { expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { startBroker } from '../../servers/index.ts'
import type { Ended } from '../support/operator.ts'
import { madeDurable, withOwn } from './own-broker.ts'
import type { Beans, QueueDeployment } from './own-broker.ts'

// RabbitMQ 4 closes the connection instead of refusing anything in whose refusal one of these names would stand
const letters = 'о'.repeat(120)
const exchange = `x${letters}`

const words = ['reset-queues', '--drain', '0']

async function permit(
  { vhost: own }: QueueDeployment,
  { tags, configure = '.*' }: { tags: string; configure?: string },
): Promise<void> {
  const { user, password } = own.endpoint
  await own.manage('PUT', `/api/users/${user}`, { password: password!.reveal(), tags })
  await own.manage('PUT', `/api/permissions/${own.vhost}/${user}`, { configure, write: '.*', read: '.*' })
}

/** Expects a plan that says what cannot be found out, and a repair that is refused before it changes anything. */
async function expectRefused(
  own: QueueDeployment,
  { right, object, next }: { right: string; object: string; next: readonly string[] },
): Promise<void> {
  const { user, host, port, vhost } = own.vhost.endpoint
  const message =
    `cannot tell whether user ${user} has the ${right} permission on ${object} (RabbitMQ at ${host}:${port}, ` +
    `vhost ${vhost}): the broker closes the connection instead of answering, perhaps because the name is very long`
  const before = await own.state()
  const dry = await own.operator.run([...words, '--dry-run', '--json'])
  const { notes } = dry.json<RepairDocument>().plan
  // a queue needs several permissions, and a plan does not ask for them in the same way as the repair
  expect([dry.code, notes.filter((it) => it.includes('may be refused: cannot tell whether'))]).toEqual([
    0,
    [expect.stringContaining(` permission on ${object} (RabbitMQ at `)],
  ])
  const refused = await own.operator.repair(words)
  const { outcome, applied, error } = refused.json<RepairDocument>()
  expect([refused.code, outcome, applied, error]).toEqual([
    4,
    'refused',
    [],
    { code: 'REFUSED', message, suggestions: next },
  ])
  expect(await own.state()).toEqual(before)
}

function expectDone(ended: Ended): void {
  expect([ended.code, ended.json<RepairDocument>().error], ended.stderr).toEqual([0, undefined])
}

test('a permission on an exchange, which 4.3 does not tell', async () => {
  const declares: Beans = {
    exchanges: [{ name: exchange, type: 'topic' }],
    queues: [],
    bindings: [],
  }
  await withOwn(
    '4.3',
    async (own) => {
      const { vhost, endpoint } = own.vhost
      const { user } = endpoint
      const configured = { right: 'configure', object: `exchange '${exchange}'` }
      // this program does not read such a pattern
      const configure = '^(?!xо)'
      await permit(own, { tags: 'administrator', configure })
      await expectRefused(own, {
        ...configured,
        next: [`rabbitmqctl set_permissions -p ${vhost} ${user} '.*' '.*' '.*'   # on the broker`],
      })
      await permit(own, { tags: 'monitoring', configure })
      await expectRefused(own, {
        ...configured,
        next: [
          `rabbitmqctl list_permissions -p ${vhost}   # on the broker: shows what user ${user} may do`,
          `rabbitmqctl set_user_tags ${user} monitoring administrator   # lets testops-admin read this list`,
        ],
      })
      // the list tells that it is missing
      await permit(own, { tags: 'administrator', configure: '^testops-admin' })
      const refused = await own.operator.repair(words)
      expect([refused.code, refused.json<RepairDocument>().applied, (await own.state()).running]).toEqual([
        69,
        [],
        true,
      ])
      expect(refused.json<RepairDocument>().error?.message).toContain(
        `user ${user} has no configure permission on exchange '${exchange}' (RabbitMQ at `,
      )
      // 4.3 declares again what this user may declare
      await permit(own, { tags: 'monitoring' })
      expectDone(await own.operator.repair(words))
      expect((await own.state()).exchanges).toEqual({ [exchange]: true })
    },
    { declares },
  )
}, 120_000)

test('permissions on a queue, which 4.3 does not tell', async () => {
  const broker = await startBroker('4.3-permitting')
  try {
    const declares: Beans = {
      exchanges: [{ name: 'work', type: 'topic' }],
      queues: [{ name: letters, arguments: { 'x-dead-letter-exchange': 'work' } }, { name: 'upload' }],
      bindings: [{ exchange: 'work', queue: letters, routingKey: letters }],
    }
    await withOwn(
      '4.3-permitting',
      async (own) => {
        const { vhost, endpoint } = own.vhost
        const { user } = endpoint
        await own.fill(letters, ['1', '2'])
        const before = await own.state()
        await permit(own, { tags: 'monitoring' })
        await expectRefused(own, {
          right: 'read',
          object: `queue '${letters}'`,
          next: [
            `rabbitmqctl list_permissions -p ${vhost}   # on the broker: shows what user ${user} may do`,
            `rabbitmqctl set_user_tags ${user} monitoring administrator   # lets testops-admin read this list`,
          ],
        })
        // the list shows this user's permissions
        await permit(own, { tags: 'administrator' })
        const done = await own.operator.repair(words)
        expectDone(done)
        expect(await own.state()).toEqual(madeDurable(before))
        expectDone(await own.operator.repair(['undo', done.json<RepairDocument>().run!]))
        expect(await own.state()).toEqual(before)
      },
      { declares, on: broker.server },
    )
  } finally {
    await broker.remove()
  }
}, 120_000)
