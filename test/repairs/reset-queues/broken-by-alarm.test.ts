import { describe, expect, test, vi } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { brokerControl } from '../../../src/lab/servers/index.ts'
import type { ServerRecord } from '../../../src/lab/servers/index.ts'
import { isCampaign } from '../../support/campaign.ts'
import { startBroker } from '../../servers/index.ts'
import type { FreshVhost } from '../../servers/index.ts'
import { madeDurable, queueDeployment, withoutRepetitions } from './own-broker.ts'
import type { QueueDeployment, State } from './own-broker.ts'

const alarms = {
  memory: {
    raise: ['set_vm_memory_high_watermark', '0'],
    clear: ['set_vm_memory_high_watermark', '0.6'],
    flag: 'mem_alarm',
    said: 'low on memory',
  },
  disk: {
    raise: ['set_disk_free_limit', '900000GB'],
    clear: ['set_disk_free_limit', '50MB'],
    flag: 'disk_free_alarm',
    said: 'low on disk',
  },
} as const

/** Returns once the management API tells of it, which is some time after publishers learn of it. */
async function set(
  kind: keyof typeof alarms,
  to: 'raise' | 'clear',
  server: ServerRecord,
  vhost: FreshVhost,
): Promise<void> {
  await brokerControl(server, alarms[kind][to])
  const told = `"${alarms[kind].flag}":${String(to === 'raise')}`
  // the tests run side by side, where `expect.poll` does not know its own
  await vi.waitFor(async () => expect(JSON.stringify(await vhost.manage('GET', '/api/nodes'))).toContain(told), {
    timeout: 20_000,
    interval: 100,
  })
}

const words = ['reset-queues', '--drain', '0', '--timeout', '5']
const texts = Array.from({ length: 50 }, (_, index) => String(index))
/** where a run is when the alarm comes, and how one goes on once it is over */
const comings = [
  { at: 'move-messages:intended', way: 'resume' },
  { at: 'move-messages:published', way: 'undo' },
  { at: 'move-messages:intended#2', way: 'resume' },
  { at: 'move-messages:published#3', way: 'undo' },
] as const

async function filled(on: ServerRecord): Promise<{ own: QueueDeployment; before: State }> {
  const own = await queueDeployment('3', { on })
  await own.fill('upload', texts)
  await own.fill('export', ['a', 'b'])
  return { own, before: await own.state() }
}

type Begun = Awaited<ReturnType<typeof stoppedAt>>

async function stoppedAt(on: ServerRecord, { at, way }: (typeof comings)[number]) {
  const { own, before } = await filled(on)
  const begun = own.operator.begin([...words, '--confirm', 'prod', '--json'], { failpoint: `${at}=stop` })
  await begun.untilStopped()
  return { own, before, way, begun }
}

/** It ends, and so does the next command, as long as the alarm stands. Gives the run. */
async function endsBlocked({ own, begun, way }: Begun, said: string): Promise<string> {
  begun.goOn()
  const ended = await begun.ended
  const { run, outcome, error } = ended.json<RepairDocument>()
  expect({ code: ended.code, outcome, message: error?.message }).toEqual({
    code: 6,
    outcome: 'interrupted',
    message: expect.stringMatching(
      new RegExp(
        `^moving the messages of queue .* has accepted no messages for 5 s, because it is ${said}. Messages ` +
          'that it did not accept stay where they were$',
      ),
    ) as string,
  })
  const again = await own.operator.repair([way, run!, '--timeout', '5'])
  expect({ code: again.code, message: again.json<RepairDocument>().error?.message }).toEqual({
    code: 6,
    message: expect.stringContaining(said) as string,
  })
  return run!
}

async function isRefused({ own, before }: Awaited<ReturnType<typeof filled>>): Promise<void> {
  const calls = await own.service.calls()
  const refused = await own.operator.repair(words)
  const { error } = refused.json<{ error: { message: string; suggestions: string[] } }>()
  expect({
    code: refused.code,
    message: error.message,
    next: error.suggestions[0],
    calls: await own.service.calls(),
    state: await own.state(),
  }).toEqual({
    code: 4,
    message: expect.stringMatching(
      /^the broker has an alarm on \S+ and accepts no messages, so the repair cannot move messages$/,
    ) as string,
    next: expect.stringContaining('doctor') as string,
    calls,
    state: before,
  })
}

describe.concurrent('an alarm', () => {
  test.each(isCampaign ? (['memory', 'disk'] as const) : (['disk'] as const))(
    'of the %s is refused where it stands; where it comes, nothing is lost, and what was begun ends well once ' +
      'it is over',
    async (kind) => {
      // its alarms are those of all virtual hosts, so that it is nobody else's
      const broker = await startBroker('3')
      try {
        await comesAndGoes(kind, broker.server)
      } finally {
        await broker.remove()
      }
    },
    180_000,
  )
})

async function comesAndGoes(kind: keyof typeof alarms, server: ServerRecord): Promise<void> {
  const standing = await filled(server)
  const { vhost } = standing.own
  const half = comings.filter((_, index) => isCampaign || index % 2 === 1)
  const begun = await Promise.all(half.map(async (coming) => stoppedAt(server, coming)))
  try {
    await set(kind, 'raise', server, vhost)
    let runs: string[]
    try {
      const ended = Promise.all(begun.map(async (one) => endsBlocked(one, alarms[kind].said)))
      await isRefused(standing)
      runs = await ended
    } finally {
      await set(kind, 'clear', server, vhost)
    }
    await Promise.all(
      begun.map(async ({ own, before, way }, index) => {
        const { code } = await own.operator.repair([way, runs[index]!])
        expect({ code, state: withoutRepetitions(await own.state()) }).toEqual({
          code: 0,
          state: way === 'undo' ? before : madeDurable(before),
        })
      }),
    )
  } finally {
    for (const { own } of [standing, ...begun]) await own.end()
  }
}
