import amqp from 'amqplib'
import type { ChannelModel } from 'amqplib'
import { describe, expect, test, vi } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { madeDurable, withOwn } from './own-broker.ts'
import type { QueueDeployment } from './own-broker.ts'

const words = ['reset-queues', '--drain', '0']

/**
 * Another user of the virtual host, who is connected under that name until `leave`; `isListed`: as the broker's lists
 * have it, which lag.
 */
async function another(
  { vhost }: QueueDeployment,
  name: string,
  isListed = true,
): Promise<{ client: ChannelModel; leave: () => Promise<void> }> {
  const user = `${vhost.vhost}-other`
  await vhost.manage('PUT', `/api/users/${user}`, { password: 'other', tags: '' })
  await vhost.manage('PUT', `/api/permissions/${vhost.vhost}/${user}`, { configure: '.*', write: '.*', read: '.*' })
  const { host, port } = vhost.endpoint
  const client = await amqp.connect(`amqp://${user}:other@${host}:${port}/${vhost.vhost}`, {
    clientProperties: { connection_name: name },
  })
  client.on('error', () => undefined)
  const leave = async (): Promise<void> => {
    await client.close()
    await vhost.manage('DELETE', `/api/users/${user}`)
  }
  if (!isListed) return { client, leave }
  const listed = async (): Promise<string> =>
    JSON.stringify(await vhost.manage('GET', `/api/vhosts/${vhost.vhost}/connections`))
  await vi.waitFor(async () => expect(await listed()).toContain(`"user":"${user}"`), { timeout: 15_000, interval: 100 })
  return { client, leave }
}

async function publish(client: ChannelModel, text: string): Promise<void> {
  const channel = await client.createConfirmChannel()
  channel.publish('work', 'upload.x', Buffer.from(text), { persistent: true })
  await channel.waitForConfirms()
  await channel.close()
}

describe.concurrent('another client', () => {
  // the second one goes by this program's own name
  test.each(['billing', 'testops-admin'])(
    'that publishes as %s is refused; accepted by name, what it published before is kept',
    async (name) => {
      await withOwn('3', async (own) => {
        const { client, leave } = await another(own, name)
        try {
          await publish(client, 'theirs')
          await own.fill('upload', ['ours'])
          const before = await own.state()
          const calls = await own.service.calls()
          const refused = await own.operator.repair(words)
          const { error, plan } = refused.json<RepairDocument>()
          expect({
            code: refused.code,
            message: error?.message,
            risks: plan.risks.map((risk) => risk.name),
            calls: await own.service.calls(),
            state: await own.state(),
          }).toEqual({
            code: 4,
            message: expect.stringMatching(
              new RegExp(
                `^vhost ${own.vhost.vhost} has 1 other client \\(${name} as ${own.vhost.vhost}-other\\)\\. If ` +
                  'other clients publish ',
              ),
            ) as string,
            risks: ['foreign-clients'],
            calls,
            state: before,
          })
          const accepted = await own.operator.repair([...words, '--accept-risk', 'foreign-clients'])
          expect({ code: accepted.code, state: await own.state() }).toEqual({ code: 0, state: madeDurable(before) })
          // its bindings are the same as before
          await publish(client, 'later')
          expect(await own.texts('upload')).toEqual(['theirs', 'ours', 'later'])
        } finally {
          await leave()
        }
      })
    },
  )

  test('that publishes, and has come this instant, is refused', async () => {
    await withOwn('3', async (own) => {
      const before = await own.state()
      const { leave } = await another(own, 'billing', false)
      try {
        const { code, json } = await own.operator.repair(words)
        expect({
          code,
          risks: json<RepairDocument>().plan.risks.map((risk) => risk.name),
          state: await own.state(),
        }).toEqual({ code: 4, risks: ['foreign-clients'], state: before })
      } finally {
        await leave()
      }
    })
  })

  test(
    'that reads is refused, accepted or not; one that begins to read meanwhile gets the service started again, ' +
      'with all in place',
    async () => {
      await withOwn('3', async (own) => {
        const { client, leave } = await another(own, 'billing')
        await own.fill('upload', ['1', '2'])
        const before = await own.state()
        const channel = await client.createChannel()
        const { consumerTag } = await channel.consume('upload_dlq', () => undefined)
        const calls = await own.service.calls()
        const accepted = [...words, '--accept-risk', 'foreign-clients']
        const refused = await own.operator.repair(accepted)
        expect({
          code: refused.code,
          message: refused.json<RepairDocument>().error?.message,
          calls: await own.service.calls(),
          state: await own.state(),
        }).toEqual({
          code: 4,
          message: `other clients read from 1 queue (upload_dlq): billing as ${own.vhost.vhost}-other`,
          calls,
          state: before,
        })
        await channel.cancel(consumerTag)
        const begun = own.operator.begin([...accepted, '--patience', '3', '--confirm', 'prod', '--json'], {
          failpoint: 'stop-service:before=stop',
        })
        await begun.untilStopped()
        await channel.consume('upload_dlq', () => undefined)
        begun.goOn()
        const ended = await begun.ended
        expect({
          code: ended.code,
          message: ended.json<RepairDocument>().error?.message,
          state: await own.state(),
        }).toEqual({
          code: 4,
          message:
            'the service is stopped, but a client still reads from 1 queue (upload_dlq). testops-admin moves ' +
            'messages only while no other client uses the queues. Nothing was changed; the service is as it was before',
          state: before,
        })
        await leave()
        const again = await own.operator.repair(words)
        expect({ code: again.code, state: await own.state() }).toEqual({ code: 0, state: madeDurable(before) })
      })
    },
  )

  test('that signs in as the service does, and stays when it is stopped, gets the service started again', async () => {
    await withOwn('3', async (own) => {
      await own.fill('upload', ['1'])
      const before = await own.state()
      const left = await own.connect('nightly-export')
      const ended = await own.operator.repair([...words, '--patience', '3'])
      expect({
        code: ended.code,
        message: ended.json<RepairDocument>().error?.message,
        state: await own.state(),
      }).toEqual({
        code: 4,
        message: expect.stringMatching(
          new RegExp(
            String.raw`^the service is stopped, but user \S+ is still connected to the broker from ` +
              String.raw`(nightly-export|\S+ -> \S+)\. testops-admin moves messages .* ` +
              'the service is as it was before$',
          ),
        ) as string,
        state: before,
      })
      await left.close()
      expect((await own.operator.repair(words)).code).toBe(0)
    })
  })
})

test.concurrent('another operator, at another machine, is told of the run that is under way', async () => {
  await withOwn('3', async ({ fill, operator, state }) => {
    await fill('upload', ['1'])
    const before = await state()
    const first = operator.begin([...words, '--confirm', 'prod', '--json'], { failpoint: 'move-messages:opened=stop' })
    await first.untilStopped()
    const elsewhere = await operator.elsewhere()
    const second = await elsewhere.repair(words)
    const { message } = second.json<{ error: { message: string } }>().error
    first.goOn()
    const ended = await first.ended
    expect({ second: second.code, message, first: ended.code, state: await state() }).toEqual({
      second: 5,
      message: expect.stringMatching(
        /^\S+@\S+ has been running reset-queues on this deployment since \S+ \S+Z$/,
      ) as string,
      first: 0,
      state: madeDurable(before),
    })
  })
})

/** With what of it would be lost; each matches the queues in which messages would wait. */
const lossy: readonly { definition: Record<string, unknown>; appliesTo?: string; isOperators?: true }[] = [
  { definition: { 'message-ttl': 1000 } },
  { definition: { expires: 1000 } },
  { definition: { 'max-length': 5 }, appliesTo: 'all' },
  { definition: { 'max-length-bytes': 500 } },
  { definition: { 'dead-letter-exchange': 'dead' } },
  { definition: { 'message-ttl': 1000 }, isOperators: true },
  { definition: { 'max-length': 5, expires: 1000 }, isOperators: true },
]

test.concurrent(
  'policies under which waiting messages would be lost are refused, ' + 'each by its name, and no others',
  async () => {
    await withOwn('3', async ({ fill, operator, state, vhost }) => {
      await fill('upload', ['1'])
      const before = await state()
      for (const { definition, appliesTo = 'queues', isOperators } of lossy) {
        const path = `/api/${isOperators ? 'operator-' : ''}policies/${vhost.vhost}/lossy`
        await vhost.manage('PUT', path, { pattern: '\\.upload$', definition, 'apply-to': appliesTo })
        const { code, json } = await operator.repair(words)
        const { error } = json<{ error: { message: string } }>()
        const keys = Object.keys(definition).sort((a, b) => b.length - a.length)
        expect({ code, message: error.message }).toEqual({
          code: 4,
          message: expect.stringMatching(
            new RegExp(
              `^${isOperators ? 'operator ' : ''}policy lossy \\(pattern \\\\\\.upload\\$\\) sets ` +
                `(?=.*${keys.join(')(?=.*')}).* on the temporary queues that hold the messages during the repair, ` +
                'so messages could be lost$',
            ),
          ) as string,
        })
        await vhost.manage('DELETE', path)
      }
      expect(await state()).toEqual(before)
      // for other queues, for exchanges, and without loss
      await vhost.manage('PUT', `/api/policies/${vhost.vhost}/others`, {
        pattern: '^upload$',
        definition: { 'max-length': 1000 },
        'apply-to': 'queues',
      })
      await vhost.manage('PUT', `/api/policies/${vhost.vhost}/exchanges`, {
        pattern: '.*',
        definition: { 'alternate-exchange': 'dead' },
        'apply-to': 'exchanges',
      })
      const { code } = await operator.repair(words)
      expect({ code, state: await state() }).toEqual({ code: 0, state: madeDurable(before) })
    })
  },
)
