import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import type { CheckReport, DoctorReport } from '../../../src/core/check.ts'
import { foreign } from '../support/operator.ts'
import type { Ended, Operator, OperatorOptions } from '../support/operator.ts'
import { madeDurable, withOwn, withoutRepetitions } from './own-broker.ts'
import type { QueueDeployment } from './own-broker.ts'

const reset = ['reset-queues', '--drain', '0']
const texts = Array.from({ length: 60 }, (_, index) => String(index + 100))

/** Another machine: with a home and a state folder of its own, it shares nothing with the first but the broker. */
async function elsewhere({
  operator,
}: QueueDeployment): Promise<{ run: Operator['run']; repair: Operator['repair']; leave: () => Promise<void> }> {
  const [home, other] = [await mkdtemp(join(tmpdir(), 'testops-admin-home-')), await operator.elsewhere()]
  const at = (options?: OperatorOptions): OperatorOptions => ({ ...options, env: { HOME: home } })
  return {
    run: async (words, options) => other.run(words, at(options)),
    repair: async (words, options) => other.repair(words, at(options)),
    leave: async () => rm(home, { recursive: true, force: true }),
  }
}

async function runOf({ operator }: QueueDeployment): Promise<string> {
  const { runs } = (await operator.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
  return runs.at(-1)!.run
}

/** What `doctor` says of it there. */
async function unfinished(run: Operator['run']): Promise<CheckReport | undefined> {
  return (await run(['doctor', '--only', 'service/unfinished-repair', '--json']))
    .json<DoctorReport>()
    .checks.find(({ id }) => id === 'service/unfinished-repair')
}

const errorOf = (ended: Ended): RepairDocument['error'] => ended.json<{ error?: RepairDocument['error'] }>().error

interface Meeting {
  first: 'reset-queues' | 'resume' | 'undo'
  at: string
  second: 'resume --adopt' | 'undo' | 'reset-queues'
}

const meetings: readonly Meeting[] = [
  { first: 'reset-queues', at: 'move-messages:published', second: 'resume --adopt' },
  { first: 'undo', at: 'delete-queues:undo-published', second: 'reset-queues' },
  { first: 'resume', at: 'move-messages:acked#2', second: 'undo' },
]

describe.concurrent('of two machines that share only the broker', () => {
  test.each(meetings)(
    '$second is refused at the one while $first is at $at at the other, and ends well once that was killed',
    async ({ first, at, second }) => {
      await withOwn('3', async (own) => {
        await own.fill('upload', texts)
        await own.fill('export', ['a', 'b'])
        const before = await own.state()
        const there = await elsewhere(own)
        try {
          let words: readonly string[] = reset
          if (first === 'resume') {
            await own.operator.killedAt('redeclare-queues:after', reset)
            words = ['resume', await runOf(own)]
          } else if (first === 'undo') words = ['undo', (await own.operator.repair(reset)).json<RepairDocument>().run!]
          const begun = own.operator.begin([...words, '--confirm', 'prod', '--json'], { failpoint: `${at}=stop` })
          await begun.untilStopped()
          const run = await runOf(own)
          const other = second === 'reset-queues' ? reset : [...second.split(' '), run, ...foreign]
          const busy = await there.repair(other)
          expect({ code: busy.code, error: errorOf(busy)?.code, message: errorOf(busy)?.message }).toEqual({
            code: 5,
            error: 'BUSY',
            message: expect.stringMatching(
              new RegExp(
                `^\\S+@\\S+ has been running ${first === 'reset-queues' ? '' : `${first} `}reset-queues on ` +
                  `this deployment since \\S+ \\S+Z$`,
              ),
            ) as string,
          })
          // neither machine calls half done what is under way
          const underway = {
            status: 'ok',
            detail: expect.stringMatching(
              /^a repair is under way: \S+@\S+ .*has been running .*reset-queues since \S+ \S+Z$/,
            ) as string,
          }
          expect([await unfinished(there.run), await unfinished(own.operator.run)]).toMatchObject([underway, underway])
          begun.child.kill('SIGKILL')
          expect((await begun.ended).signal).toBe('SIGKILL')
          // its lock has gone with it
          await vi.waitFor(async () => expect(await unfinished(there.run)).toMatchObject({ status: 'problem' }), {
            timeout: 30_000,
          })
          const isBack = first === 'undo' || second === 'undo'
          const last = await there.repair(second === 'reset-queues' ? ['undo', run, ...foreign] : other)
          expect({ code: last.code, state: withoutRepetitions(await own.state()) }, last.stderr).toEqual({
            code: 0,
            state: isBack ? before : madeDurable(before),
          })
        } finally {
          await there.leave()
        }
      })
    },
    120_000,
  )

  test('a plan takes no lock, and is made while the other works', async () => {
    await withOwn('3', async (own) => {
      await own.fill('upload', texts)
      const there = await elsewhere(own)
      try {
        const begun = own.operator.begin([...reset, '--confirm', 'prod', '--json'], {
          failpoint: 'move-messages:before=stop',
        })
        await begun.untilStopped()
        const locks = async (): Promise<unknown> =>
          own.vhost.manage(
            'GET',
            `/api/queues/${own.vhost.vhost}?name=testops-admin.lock&columns=name,exclusive&page=1`,
          )
        const whoseLock = { items: [{ name: 'testops-admin.lock', exclusive: true }] }
        expect([(await there.repair([...reset, '--dry-run'])).code, await locks()]).toEqual([
          0,
          expect.objectContaining(whoseLock),
        ])
        begun.goOn()
        expect([(await begun.ended).code, await locks()]).toEqual([0, expect.objectContaining({ items: [] })])
        expect([(await there.repair([...reset, '--dry-run'])).code, await locks()]).toEqual([
          0,
          expect.objectContaining({ items: [] }),
        ])
      } finally {
        await there.leave()
      }
    })
  }, 120_000)
})
