import { beforeAll, describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { brokerControl, resumeServer, stopServer } from '../../../src/lab/servers/index.ts'
import type { ServerRecord } from '../../../src/lab/servers/index.ts'
import { startBroker } from '../../servers/index.ts'
import type { OwnBroker } from '../../servers/index.ts'
import { madeDurable, queueDeployment, withoutRepetitions } from './own-broker.ts'
import type { QueueDeployment, State } from './own-broker.ts'
import { decisive, isCampaign } from '../../support/campaign.ts'

const reset = ['reset-queues', '--drain', '0', '--timeout', '5']
const count = 300
const texts = Array.from({ length: count }, (_, index) => String(index + 100))

interface Coming {
  /** where it is when the broker goes */
  at: string
  of: 'reset-queues' | 'resume' | 'undo'
  /** what goes on with it */
  way: 'resume' | 'undo'
  /** whether a queue that is transient holds some of them then, which go with the broker */
  loses: boolean
}

const comings: readonly Coming[] = [
  { of: 'reset-queues', at: 'move-messages:published#2', way: 'undo', loses: true },
  { of: 'undo', at: 'delete-queues:undo-acked#2', way: 'undo', loses: true },
  { of: 'resume', at: 'move-messages:published#2', way: 'resume', loses: false },
  { of: 'undo', at: 'move-messages:undo-published#2', way: 'undo', loses: false },
  { of: 'reset-queues', at: 'move-messages:acked', way: 'resume', loses: true },
  { of: 'reset-queues', at: 'delete-queues:intended', way: 'undo', loses: false },
  { of: 'reset-queues', at: 'switch-exchanges:deleted', way: 'resume', loses: false },
  { of: 'resume', at: 'move-messages:acked#2', way: 'undo', loses: false },
  { of: 'undo', at: 'move-messages:undo-acked#2', way: 'resume', loses: false },
  { of: 'undo', at: 'delete-queues:undo-published#2', way: 'resume', loses: true },
]

interface Begun extends Coming {
  own: QueueDeployment
  before: State
  run: string
  going: ReturnType<QueueDeployment['operator']['begin']>
}

async function stoppedAt<C extends Pick<Coming, 'of' | 'at' | 'way'> & { isKilled?: true }>(
  on: ServerRecord,
  coming: C,
): Promise<C & Omit<Begun, keyof Coming>> {
  const own = await queueDeployment('3', { on })
  await own.fill('upload', texts)
  await own.fill('export', ['a', 'b'])
  const before = await own.state()
  const confirmed = ['--confirm', 'prod', '--json']
  let words = reset
  if (coming.of === 'resume') {
    await own.operator.killedAt('redeclare-queues:after', reset)
    words = ['resume', '--timeout', '5']
  } else if (coming.of === 'undo')
    words = ['undo', (await own.operator.repair(reset)).json<RepairDocument>().run!, '--timeout', '5']
  const going = own.operator.begin([...words, ...confirmed], {
    failpoint: `${coming.at}${coming.isKilled ? '' : '=stop'}`,
  })
  await (coming.isKilled ? going.ended : going.untilStopped())
  const { runs } = (await own.operator.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
  return { ...coming, own, before, run: runs[0]!.run, going }
}

const restarts: Readonly<
  Record<string, { down: (server: ServerRecord) => Promise<unknown>; up: (server: ServerRecord) => Promise<unknown> }>
> = {
  'its node is killed and started': {
    down: async (server) => stopServer(server, 'kill'),
    up: async (server) => resumeServer(server, { progress: () => undefined }),
  },
  'its application is stopped and started': {
    down: async (server) => brokerControl(server, ['stop_app']),
    up: async (server) => brokerControl(server, ['start_app']),
  },
}

/** Where the broker goes for good, each ends with one error that says how to go on. */
async function endsInterrupted({ going, run, of }: Begun): Promise<void> {
  going.goOn()
  const ended = await going.ended
  const { error, outcome, run: named } = ended.json<RepairDocument>()
  expect({
    code: ended.code,
    outcome,
    named,
    message: error?.message,
    next: error?.suggestions.filter((it) => it.includes(run)).map((it) => it.split(' ')[1]),
  }).toEqual({
    code: 6,
    outcome: 'interrupted',
    named: run,
    message: expect.stringMatching(
      new RegExp(
        "closed the connection(: broker forced connection closure with reason 'shutdown')?$|" +
          'refused the connection|is not reachable',
      ),
    ) as string,
    next: of === 'undo' ? ['undo'] : ['resume', 'undo'],
  })
}

/**
 * What a queue that was transient held is lost, and told of once, unless a broker that was killed holds it once more;
 * all else is there, in its order.
 */
async function endsWell({ own, run, way, of, before, loses }: Begun): Promise<void> {
  const first = await own.operator.repair([way, run])
  const last = loses && first.code === 6 ? await own.operator.repair([way, run]) : first
  const after = withoutRepetitions(await own.state())
  const wanted = way === 'undo' || of === 'undo' ? before : madeDurable(before)
  const left = (queue: string): readonly string[] =>
    loses
      ? wanted.queues[queue]!.texts.filter((text) => after.queues[queue]!.texts.includes(text))
      : wanted.queues[queue]!.texts
  const queues = Object.fromEntries(
    Object.entries(wanted.queues).map(([name, queue]) => [name, { ...queue, texts: left(name) }]),
  )
  expect({ code: last.code, state: after }, last.stderr).toEqual({ code: 0, state: { ...wanted, queues } })
  const lost = Object.keys(queues).filter((name) => left(name).length < wanted.queues[name]!.texts.length)
  const { message = '' } = first.json<RepairDocument>().error ?? {}
  const said =
    /^(\d+ messages? had been .* queue|Queue) (upload|export) .*, or a restart of RabbitMQ emptied transient queues/
  expect({ code: first.code, isTold: said.test(message) }, message).toEqual({
    code: lost.length > 0 ? 6 : 0,
    isTold: lost.length > 0,
  })
  // what was lost is told to the number
  const results = last
    .json<RepairDocument>()
    .applied.flatMap(({ results: told = [] }) => told)
    .join()
  expect(
    lost.filter((name) => !results.toLowerCase().includes(`queue ${name} `)),
    results,
  ).toEqual([])
}

/** The broker goes while nothing is being moved, and transient queues with it. */
interface Between {
  of: 'reset-queues' | 'undo'
  at: string
  /** it is killed there, and knows of no restart */
  isKilled?: true
  /** what goes on with it */
  way: 'resume' | 'undo'
  /**
   * what is told of a queue that is gone, by whoever is first to look; null: what was there is durable, and still there
   */
  said: RegExp | null
  /** none is there twice */
  isExact?: true
}

const goneBefore = new RegExp(
  '^(Queue (export|upload|upload_dlq) is gone, along with any messages in it: ' +
    'none of them had been moved aside[.] ){3}' +
    'Most likely RabbitMQ was restarted: a restart drops transient queues[.]' +
    '( The plan counted 302 messages in all queues[.])? The service is still stopped$',
)
/** a broker that is killed may hold again what was acknowledged last, and some of that is brought back then */
const goneAfter = new RegExp(
  '^(Queue (export|upload) (is gone, along with the (2|300) messages that had been moved back to it|' +
    String.raw`has lost \d+ of the (2|300) messages moved back to it, because RabbitMQ was restarted)[.] ){1,2}` +
    '(Most likely RabbitMQ was restarted|All other messages are back)',
)

const between: readonly Between[] = [
  { of: 'reset-queues', at: 'move-messages:before', isKilled: true, way: 'resume', said: goneBefore },
  { of: 'undo', at: 'stop-service:undo-intended', isKilled: true, way: 'undo', said: goneAfter },
  { of: 'reset-queues', at: 'stop-service:after', way: 'resume', said: goneBefore },
  { of: 'undo', at: 'set-setting:undo-after', way: 'undo', said: goneAfter },
  { of: 'reset-queues', at: 'await-quiet:quiet', isKilled: true, way: 'undo', said: goneBefore },
  { of: 'reset-queues', at: 'move-messages:intended', way: 'resume', said: goneBefore },
  { of: 'undo', at: 'delete-queues:undo-after', isKilled: true, way: 'undo', said: goneAfter },
  { of: 'undo', at: 'stop-service:undo-intended', way: 'undo', said: goneAfter },
  { of: 'reset-queues', at: 'move-messages:after#2', way: 'resume', said: null },
  { of: 'reset-queues', at: 'start-service:before', isKilled: true, way: 'undo', said: null },
]

/**
 * Its node is killed at once, so that it holds again what was acknowledged last: what had come back is in a durable
 * queue (said: null), or goes with a transient one.
 */
const atOnce: readonly Between[] = [
  { of: 'reset-queues', at: 'delete-held:intended', isKilled: true, way: 'resume', said: null, isExact: true },
  { of: 'undo', at: 'set-setting:undo-after', isKilled: true, way: 'undo', said: goneAfter },
  { of: 'reset-queues', at: 'move-messages:noted#2', isKilled: true, way: 'resume', said: null, isExact: true },
  { of: 'undo', at: 'delete-queues:undo-after', isKilled: true, way: 'undo', said: goneAfter },
  { of: 'undo', at: 'delete-queues:undo-after', isKilled: true, way: 'resume', said: goneAfter },
  { of: 'reset-queues', at: 'start-service:before', way: 'resume', said: null, isExact: true },
  { of: 'reset-queues', at: 'start-service:before', isKilled: true, way: 'resume', said: null, isExact: true },
  { of: 'undo', at: 'delete-queues:undo-intended', isKilled: true, way: 'undo', said: null },
  { of: 'reset-queues', at: 'delete-held:intended', isKilled: true, way: 'undo', said: null },
  { of: 'undo', at: 'move-messages:undo-after', isKilled: true, way: 'undo', said: null },
  { of: 'undo', at: 'redeclare-queues:undo-after', isKilled: true, way: 'resume', said: null },
]

/**
 * Each queue of which something is gone was told of exactly once before a command ends with 0; all else is there, in
 * its order.
 */
async function isTold(
  { own, run, way, before, going }: Begun,
  { said, of, isKilled, isExact }: Between,
): Promise<void> {
  going.goOn()
  const first = await going.ended
  const ends = isKilled ? [] : [first]
  while (ends.length < 5 && ends.at(-1)?.code !== 0) ends.push(await own.operator.repair([way, run]))
  const messages = ends.map((it) => it.json<RepairDocument>().error?.message ?? null)
  const lost =
    'RabbitMQ was restarted, cut the connection or does not answer. Another operator may be repairing the ' +
    'deployment now'
  const others = messages.filter((message) => message !== null && !(said?.test(message) ?? false))
  expect(
    others.every((message) => message!.endsWith(lost)) && others.length <= (isKilled ? 0 : 1),
    messages.join('\n'),
  ).toBe(true)
  expect(
    { codes: ends.slice(0, -1).every(({ code }) => code === 6), last: ends.at(-1)!.code },
    messages.join('\n'),
  ).toEqual({ codes: true, last: 0 })
  const after = isExact ? await own.state() : withoutRepetitions(await own.state())
  const wanted = way === 'undo' || of === 'undo' ? before : madeDurable(before)
  const left = (queue: string): readonly string[] =>
    said === null
      ? wanted.queues[queue]!.texts
      : wanted.queues[queue]!.texts.filter((text) => after.queues[queue]!.texts.includes(text))
  const queues = Object.fromEntries(
    Object.entries(wanted.queues).map(([name, queue]) => [name, { ...queue, texts: left(name) }]),
  )
  expect({ at: way, state: after }).toEqual({ at: way, state: { ...wanted, queues } })
  // the record can still be read, and refuses no later repair
  expect((await own.operator.run([...reset, '--dry-run', '--json'])).code).toBe(0)
  const told = messages.filter((message) => said?.test(message ?? '')).join('\n')
  const times = Object.fromEntries(Object.keys(queues).map((name) => [name, told.split(`Queue ${name} `).length - 1]))
  const isLost = Object.keys(queues).filter((name) => left(name).length < wanted.queues[name]!.texts.length)
  expect(
    {
      lost: isLost.map((name) => times[name]),
      rest: Object.keys(queues).filter(
        (name) => !isLost.includes(name) && times[name]! > (name === 'upload_dlq' && said === goneBefore ? 1 : 0),
      ),
    },
    told,
  ).toEqual({ lost: isLost.map(() => 1), rest: [] })
}

let broker: OwnBroker
beforeAll(async () => {
  broker = await startBroker('3')
  return async () => broker.remove()
})

describe('a broker that goes while messages are moved,', () => {
  test.each(Object.keys(restarts).filter((_, index) => isCampaign || index === 0))(
    'as %s: it ends with 6, and what waited in durable queues comes back',
    async (how) => {
      const begun: Begun[] = []
      try {
        for (const coming of decisive(comings, 2)) begun.push(await stoppedAt(broker.server, coming))
        await restarts[how]!.down(broker.server)
        for (const one of begun) await endsInterrupted(one)
        await restarts[how]!.up(broker.server)
        for (const one of begun) await endsWell(one)
      } finally {
        // the next test needs it
        await restarts[how]!.up(broker.server).catch(() => undefined)
        for (const { own } of begun) await own.end().catch(() => undefined)
      }
    },
    isCampaign ? 600_000 : 240_000,
  )
})

describe('a broker that goes while nothing is being moved,', () => {
  test.each(Object.keys(restarts).filter((_, index) => isCampaign || index === 0))(
    'as %s: what goes with its transient queues is told once',
    async (how) => {
      const begun: (Between & Omit<Begun, keyof Coming>)[] = []
      try {
        for (const one of decisive(between, 3)) begun.push(await stoppedAt(broker.server, one))
        await restarts[how]!.down(broker.server)
        await restarts[how]!.up(broker.server)
        for (const one of begun) await isTold({ ...one, loses: one.said !== null }, one)
      } finally {
        // the next test needs it
        await restarts[how]!.up(broker.server).catch(() => undefined)
        for (const { own } of begun) await own.end().catch(() => undefined)
      }
    },
    isCampaign ? 600_000 : 240_000,
  )
})

describe('a broker whose process is killed as soon as messages were moved,', () => {
  test.each(['its node is killed and started'])(
    'as %s: what it holds once more is brought back or left out',
    async (how) => {
      for (const one of decisive(atOnce, 1)) {
        const begun = await stoppedAt(broker.server, one)
        try {
          await restarts[how]!.down(broker.server)
          await restarts[how]!.up(broker.server)
          await isTold({ ...begun, loses: one.said !== null }, one)
        } finally {
          await restarts[how]!.up(broker.server).catch(() => undefined)
          await begun.own.end().catch(() => undefined)
        }
      }
    },
    isCampaign ? 600_000 : 240_000,
  )
})
