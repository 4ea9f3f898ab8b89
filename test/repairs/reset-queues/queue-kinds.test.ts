import { describe, expect, test, vi } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { madeDurable, withOwn } from './own-broker.ts'
import type { Beans, QueueDeployment } from './own-broker.ts'

const words = ['reset-queues', '--drain', '0']

function only(...queues: Beans['queues']): Beans {
  return { exchanges: [], queues, bindings: [] }
}

function losesOf({ plan }: RepairDocument): string {
  return plan.steps.map(({ loses = '' }) => loses).join('; ')
}

/** From a stream nothing can be got one by one. */
async function streamed({ connect }: QueueDeployment, stream: string, count: number): Promise<string[]> {
  const connection = await connect()
  const channel = await connection.createChannel()
  await channel.prefetch(10)
  const texts: string[] = []
  await new Promise<void>((resolve, reject) => {
    const take = (text: string): unknown => texts.push(text) === count && resolve()
    channel
      .consume(stream, (message) => message && take(message.content.toString()), {
        arguments: { 'x-stream-offset': 'first' },
      })
      .catch(reject)
  })
  await connection.close()
  return texts
}

describe.concurrent('reset-queues and', () => {
  test.each(['3', '4.3'] as const)('quorum queues and streams of RabbitMQ %s, which are left alone', async (line) => {
    const declares = only(
      { name: 'quorum', durable: true, arguments: { 'x-queue-type': 'quorum' } },
      { name: 'stream', durable: true, arguments: { 'x-queue-type': 'stream' } },
      // refused by 4.3
      { name: 'plain' },
    )
    await withOwn(
      line,
      async (own) => {
        await own.fill('quorum', ['q1', 'q2', 'q3'])
        await own.fill('stream', ['s1', 's2'])
        if (line === '3') await own.fill('plain', ['p'])
        const { code, json } = await own.operator.repair(words)
        const { plan, error } = json<RepairDocument>()
        const deleted = plan.steps.flatMap(({ action }) =>
          action.kind === 'delete-queues' ? action.queues.map(({ queue }) => queue.name) : [],
        )
        expect({
          code,
          error,
          deleted,
          notes: plan.notes.filter((note) => note.startsWith('quorum')),
          setting: await own.setting(),
        }).toEqual({
          code: 0,
          deleted: line === '3' ? ['plain'] : [],
          notes: ['quorum queues and streams are always durable and stay unchanged: quorum, stream'],
          setting: 'true',
        })
        expect([await own.texts('plain'), await own.texts('quorum'), await streamed(own, 'stream', 2)]).toEqual([
          line === '3' ? ['p'] : [],
          ['q1', 'q2', 'q3'],
          ['s1', 's2'],
        ])
      },
      { declares },
    )
  })

  test('an exclusive queue of the service, which is lost as with each stop of it', async () => {
    await withOwn('3', async ({ connect, fill, operator, service, state, vhost }) => {
      await fill('upload', ['1'])
      const before = await state()
      const connection = await connect('the service')
      const channel = await connection.createChannel()
      await channel.assertQueue('replies', { exclusive: true })
      await channel.consume('replies', () => undefined)
      const listed = async (): Promise<string> =>
        JSON.stringify(await vhost.manage('GET', `/api/consumers/${vhost.vhost}`))
      await vi.waitFor(async () => expect(await listed()).toContain(`"user":"${vhost.endpoint.user}"`), {
        timeout: 15_000,
        interval: 100,
      })
      const calls = (await service.calls()).length
      const begun = operator.begin([...words, '--confirm', 'prod', '--json'])
      while ((await service.calls()).length === calls) await new Promise((resolve) => setTimeout(resolve, 20))
      await connection.close()
      const ended = await begun.ended
      const document = ended.json<RepairDocument>()
      const stop = document.plan.steps.find(({ action }) => action.kind === 'stop-service')
      expect({ code: ended.code, loses: stop?.loses, state: await state() }).toEqual({
        code: 0,
        loses: expect.stringMatching(/^exclusive queues replies with all their messages/) as string,
        state: madeDurable(before),
      })
    })
  })

  test.each<{ what: string; arguments: Record<string, unknown>; texts: [string, number][]; loses: RegExp }>([
    {
      what: 'x-expires',
      arguments: { 'x-expires': 600_000 },
      texts: [
        ['1', 0],
        ['2', 0],
      ],
      loses: /queue-of-a-kind with all messages, if the time in x-expires passes/,
    },
    {
      what: 'x-message-ttl',
      arguments: { 'x-message-ttl': 600_000 },
      texts: [
        ['1', 0],
        ['2', 0],
      ],
      loses: /its time to live restarts/,
    },
    {
      what: 'priorities',
      arguments: { 'x-max-priority': 9 },
      texts: [
        ['low', 1],
        ['high', 9],
        ['middle', 5],
        ['second low', 1],
      ],
      loses: /^(?!.*queue-of-a-kind)/,
    },
    {
      what: 'x-queue-mode, as long as it is taken',
      arguments: { 'x-queue-mode': 'lazy' },
      texts: [
        ['1', 0],
        ['2', 0],
      ],
      loses: /^(?!.*queue-of-a-kind)/,
    },
    {
      what: 'x-single-active-consumer',
      arguments: { 'x-single-active-consumer': true },
      texts: [['1', 0]],
      loses: /^(?!.*queue-of-a-kind)/,
    },
  ])('a queue with $what, which has it afterwards', async ({ arguments: given, texts, loses }) => {
    await withOwn(
      '3',
      async ({ fill, operator, state }) => {
        for (const [text, priority] of texts) await fill('queue-of-a-kind', [text], { priority })
        const before = await state()
        const { code, json } = await operator.repair(words)
        const document = json<RepairDocument>()
        expect({ code, loses: losesOf(document), state: await state() }).toEqual({
          code: 0,
          loses: expect.stringMatching(loses) as string,
          state: madeDurable(before),
        })
        expect(before.queues['queue-of-a-kind']).toMatchObject({ durable: false, arguments: given })
      },
      { declares: only({ name: 'queue-of-a-kind', arguments: given }) },
    )
  })

  test('--queue, which resets those alone', async () => {
    await withOwn('3', async ({ fill, operator, service, state, vhost }) => {
      await fill('upload', ['1', '2'])
      await fill('export', ['x'])
      // as the service finds them once the setting was changed by hand
      await service.settings(`SPRING_RABBITMQ_USERNAME=${vhost.endpoint.user}\nVENDOR_RABBIT_DURABLE=true\n`)
      const before = await state()
      const { code, json } = await operator.repair([
        ...words,
        '--patience',
        '3',
        '--queue',
        'up*d',
        '--queue',
        'upload_???',
      ])
      const { plan } = json<RepairDocument>()
      const { queues } = await state()
      const { queues: made } = madeDurable(before)
      expect({ code, notes: plan.notes.filter((note) => note.startsWith('queues that stay')), queues }).toEqual({
        // the service's declaration of the third is refused still
        code: 1,
        notes: ['queues that stay transient, because --queue leaves them out: export'],
        queues: { ...made, export: before.queues['export'] },
      })
      const rest = await operator.repair([...words, '--queue', 'export'])
      expect({ code: rest.code, state: await state() }).toEqual({ code: 0, state: madeDurable(before) })
    })
  })

  test('a virtual host, an exchange, a queue and a routing key of odd names', async () => {
    const queue = 'Очередь /1 ü.%2F "x" \'y\''
    const declares: Beans = {
      exchanges: [{ name: 'обмен/a b.c%', type: 'direct' }],
      queues: [{ name: queue }, { name: `${'длинная'.repeat(17)}-1` }],
      bindings: [{ exchange: 'обмен/a b.c%', queue, routingKey: 'ключ /.#*%' }],
    }
    await withOwn(
      '3',
      async ({ fill, operator, state }) => {
        await fill(queue, ['1', 'два'])
        await fill(declares.queues[1]!.name, ['3'])
        const before = await state()
        expect(before.bindings).toEqual([`обмен/a b.c% -ключ /.#*%-> ${queue}`])
        const { code, json } = await operator.repair(words)
        expect({ code, state: await state() }).toEqual({ code: 0, state: madeDurable(before) })
        const undone = await operator.repair(['undo', json<RepairDocument>().run!])
        expect({ code: undone.code, state: await state() }).toEqual({ code: 0, state: before })
      },
      { declares, named: 'test/a b.ü%2F' },
    )
  })

  test('a virtual host that is not there', async () => {
    await withOwn('3', async ({ operator, service, vhost }) => {
      const path = `/api/vhosts/${vhost.vhost}`
      await vhost.manage('DELETE', path)
      const calls = await service.calls()
      const { code, json } = await operator.repair(words)
      const { error } = json<{ error: { code: string; message: string; suggestions: string[] } }>()
      await vhost.manage('PUT', path)
      expect({ code, error: error.message, next: error.suggestions[0], calls: await service.calls() }).toEqual({
        code: 69,
        error: expect.stringMatching(
          new RegExp(
            `^RabbitMQ at \\S+ does not let user \\S+ open vhost ${vhost.vhost}. The vhost or the permission ` +
              'is missing, or a connection limit has been reached$',
          ),
        ) as string,
        next: 'rabbitmqctl list_vhosts',
        calls,
      })
    })
  })
})
