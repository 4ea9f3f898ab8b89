import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { servers } from '../../servers/index.ts'
import { isCampaign } from '../../support/campaign.ts'
import { proxyTo } from '../support/proxy.ts'
import type { Proxy } from '../support/proxy.ts'
import { planned } from './kinds.ts'
import { madeDurable, queueDeployment, withoutRepetitions } from './own-broker.ts'
import type { QueueDeployment } from './own-broker.ts'

interface Broken {
  what: string
  break: (proxy: Proxy, own: QueueDeployment) => Promise<void> | void
  mend: (proxy: Proxy, own: QueueDeployment) => Promise<void> | void
  message: RegExp
}

const permit = async ({ vhost }: QueueDeployment, all: string): Promise<void> =>
  void (await vhost.manage('PUT', `/api/permissions/${vhost.vhost}/${vhost.endpoint.user}`, {
    configure: all,
    write: all,
    read: all,
  }))

const faults: readonly Broken[] = [
  {
    what: 'the connection is cut',
    break: (proxy) => proxy.cut(),
    mend: (proxy) => proxy.mend(),
    message: new RegExp(
      'closed the connection|Socket closed abruptly|refused the connection|' +
        'RabbitMQ was restarted, cut the connection or does not answer',
    ),
  },
  {
    what: 'no answer comes',
    break: (proxy) => proxy.swallow(),
    mend: (proxy) => proxy.mend(),
    // before a step that asks the broker, the lock in it is asked first
    message: new RegExp(
      'did not answer within 3 s|made no progress for 3 s|' +
        'RabbitMQ was restarted, cut the connection or does not answer',
    ),
  },
  {
    what: 'the rights are taken',
    break: async (_, own) => permit(own, '^$'),
    mend: async (_, own) => permit(own, '.*'),
    message: /^user \S+ has no \w+ permission on |refused: ACCESS_REFUSED/,
  },
]

/** the n-th step of a kind is reached at `KIND:intended#n` */
const steps = planned
  .filter((kind) => kind !== 'start-service')
  .map((kind, index) => {
    const times = planned.slice(0, index + 1).filter((it) => it === kind).length
    return `${kind}:intended${times > 1 ? `#${times}` : ''}`
  })
const ways = ['resume', 'undo'] as const
/** in the campaign, each with each; else each step once, and all faults and ways in turn */
const all = steps.flatMap((step, index) =>
  faults
    .flatMap((fault, at) =>
      ways.map((way, which) => ({
        step,
        fault,
        what: fault.what,
        way,
        isDaily: (index + at) % faults.length === 0 && (index + which) % ways.length === 0,
      })),
    )
    .filter(({ isDaily }) => isCampaign || isDaily),
)

const texts = Array.from({ length: 20 }, (_, index) => String(index))

/** Nothing of the last step is asked of the broker, so that there is nothing to be broken. */
describe.concurrent('where', () => {
  test.each(all)('$what at $step, it ends with 6; then $way', async ({ step, fault, way }) => {
    const proxy = await proxyTo(servers().rabbitmq3)
    const own = await queueDeployment('3', { port: proxy.port })
    try {
      await own.fill('upload', texts)
      await own.fill('export', ['a', 'b'])
      const before = await own.state()
      const begun = own.operator.begin(
        ['reset-queues', '--drain', '0', '--timeout', '3', '--confirm', 'prod', '--json'],
        { failpoint: `${step}=stop` },
      )
      await begun.untilStopped()
      await fault.break(proxy, own)
      begun.goOn()
      const ended = await begun.ended
      const { error, outcome, run } = ended.json<RepairDocument>()
      expect({
        code: ended.code,
        outcome,
        message: error?.message,
        next: error?.suggestions.filter((it) => it.includes(run!)).map((it) => it.split(' ')[1]),
      }).toEqual({
        code: 6,
        outcome: 'interrupted',
        message: expect.stringMatching(fault.message) as string,
        next: ['resume', 'undo'],
      })
      await fault.mend(proxy, own)
      const again = await own.operator.repair([way, run!])
      expect({ code: again.code, state: withoutRepetitions(await own.state()) }).toEqual({
        code: 0,
        state: way === 'undo' ? before : madeDurable(before),
      })
    } finally {
      await own.end()
      await proxy.close()
    }
  })
})
