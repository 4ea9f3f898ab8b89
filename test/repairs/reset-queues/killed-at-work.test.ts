import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { isCampaign } from '../../support/campaign.ts'
import { madeDurable, withOwn, withoutRepetitions } from './own-broker.ts'
import type { QueueDeployment, State } from './own-broker.ts'

const reset = ['reset-queues', '--drain', '0']
const texts = Array.from({ length: 60 }, (_, index) => String(index + 100))

interface Meeting {
  /**
   * who is at work, and is stopped there; `resume` goes on with a run that was killed once queues were declared anew
   */
  first: 'reset-queues' | 'resume' | 'undo'
  at: string
  /** who comes meanwhile */
  second: 'reset-queues' | 'resume' | 'undo'
}

const meetings: readonly Meeting[] = [
  { first: 'resume', at: 'move-messages:published', second: 'undo' },
  { first: 'undo', at: 'move-messages:undo-published', second: 'resume' },
  { first: 'undo', at: 'delete-queues:undo-acked', second: 'reset-queues' },
  { first: 'undo', at: 'redeclare-queues:undo-intended', second: 'undo' },
  { first: 'resume', at: 'start-service:intended', second: 'undo' },
  { first: 'reset-queues', at: 'switch-exchanges:deleted', second: 'undo' },
  { first: 'undo', at: 'stop-service:undo-intended', second: 'resume' },
  { first: 'reset-queues', at: 'move-messages:acked', second: 'reset-queues' },
]

/** A run with messages that wait, and how all was before it. */
async function begun({ operator, fill, state }: QueueDeployment, { first }: Meeting): Promise<State> {
  await fill('upload', texts)
  await fill('export', ['a', 'b'])
  const before = await state()
  if (first === 'reset-queues') return before
  await operator.killedAt('redeclare-queues:after', reset)
  if (first === 'undo') await operator.killedAt('move-messages:confirmed', ['resume'])
  return before
}

async function runOf({ operator }: QueueDeployment): Promise<string> {
  const { runs } = (await operator.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
  return runs.at(-1)!.run
}

const wordsOf = (command: Meeting['first'], run: string): readonly string[] =>
  command === 'reset-queues' ? reset : [command, run]

describe.concurrent('of two operators at once', () => {
  test.each(meetings.filter((_, index) => isCampaign || index < 3))(
    '$second is refused while $first is at $at, and does its work once that was killed',
    async (meeting) => {
      await withOwn('3', async (own) => {
        const { operator, deployed } = own
        const before = await begun(own, meeting)
        const words = meeting.first === 'reset-queues' ? reset : wordsOf(meeting.first, await runOf(own))
        const first = operator.begin([...words, '--confirm', deployed.name, '--json'], {
          failpoint: `${meeting.at}=stop`,
        })
        await first.untilStopped()
        const run = await runOf(own)
        const busy = await operator.repair(wordsOf(meeting.second, run))
        const { error } = busy.json<{ error: RepairDocument['error'] }>()
        expect({ code: busy.code, error: error?.code, message: error?.message }).toEqual({
          code: 5,
          error: 'BUSY',
          message: expect.stringContaining(
            `(process ${first.child.pid}) has been running ` +
              `${meeting.first === 'reset-queues' ? '' : `${meeting.first} `}reset-queues on this deployment ` +
              'since ',
          ) as string,
        })
        first.child.kill('SIGKILL')
        expect((await first.ended).signal).toBe('SIGKILL')
        const isBack = meeting.first === 'undo' || meeting.second === 'undo'
        if (meeting.second === 'reset-queues') {
          // what is half done is not begun anew
          const refused = await operator.repair(reset)
          expect({
            code: refused.code,
            next: refused.json<RepairDocument>().error?.suggestions.map((it) => it.split(' ').slice(0, 3).join(' ')),
          }).toEqual({ code: 4, next: [`testops-admin resume ${run}`, `testops-admin undo ${run}`] })
        }
        const last = await operator.repair(
          meeting.second === 'reset-queues' ? ['resume', run] : wordsOf(meeting.second, run),
        )
        expect({ code: last.code, state: withoutRepetitions(await own.state()) }, last.stderr).toEqual({
          code: 0,
          state: isBack ? before : madeDurable(before),
        })
      })
    },
    90_000,
  )

  test.each(
    isCampaign
      ? [
          ['undo', 'undo'],
          ['undo', 'resume'],
          ['resume', 'resume'],
        ]
      : [['undo', 'resume']],
  )(
    '%s and %s that begin in the same instant',
    async (...both) => {
      await withOwn('3', async (own) => {
        const { operator } = own
        const before = await begun(own, { first: 'resume', at: '', second: 'undo' })
        const run = await runOf(own)
        const ended = await Promise.all(both.map(async (command) => operator.repair([command, run])))
        const told = ended.map(({ stdout, stderr }) => `${stderr}${stdout}`).join('\n')
        // whoever came second was told so, or came when all was done
        expect(
          ended.map(({ code }) => code).every((code) => code === 0 || code === 5),
          told,
        ).toBe(true)
        expect(
          ended.some(({ code }) => code === 0),
          told,
        ).toBe(true)
        const undone = await operator.repair(['undo', run])
        expect({ code: undone.code, state: withoutRepetitions(await own.state()) }, told).toEqual({
          code: 0,
          state: before,
        })
      })
    },
    90_000,
  )
})
