import { describe, expect, test } from 'vitest'
import type { HistoryDocument } from '../../../src/output/history.ts'
import { journalQueuePrefix } from '../../../src/knowledge/broker.ts'
import { failpointsOf, undoFailpointsOf } from '../support/failpoints.ts'
import type { Operator } from '../support/operator.ts'
import { free, stuck } from './situation.ts'
import type { LockColumns, Situation } from './situation.ts'
import { foreign } from '../support/operator.ts'
import { decisive, inner, spread, withinShare } from '../../support/campaign.ts'

const kinds = ['stop-service', 'release-lock', 'start-service']
const timeoutMs = 900_000

/** What is left once somebody has seen to a run that was killed. */
interface End {
  row: LockColumns | null
  releases: number
  runs: boolean
  code: number | null
  /** by those who look at it afterwards, on either machine */
  unfinished: string[]
  /** in the broker */
  journals: number
}

const ways = [
  {
    name: 'resumed on the same machine',
    finish: async ({ here }: Machines, run: string) => here.run(['resume', run]),
    elsewhere: false,
    isUndone: false,
  },
  {
    name: 'resumed on another machine',
    finish: async ({ there }: Machines, run: string) => there.repair(['resume', '--adopt', run, ...foreign]),
    elsewhere: true,
    isUndone: false,
  },
  {
    name: 'undone on the same machine',
    finish: async ({ here }: Machines, run: string) => here.repair(['undo', run]),
    elsewhere: false,
    isUndone: true,
  },
  {
    name: 'undone on another machine',
    finish: async ({ there }: Machines, run: string) => there.repair(['undo', run, ...foreign]),
    elsewhere: true,
    isUndone: true,
  },
]

interface Machines {
  here: Operator
  there: Operator
}

/** What each instant comes to, by its name; `expected` of all. */
type Ends = Record<string, End>

describe.concurrent('killed (SIGKILL) at instants of unlock-changelog, then', () => {
  test.each(ways.map((way, place) => ({ ...way, place })))(
    '$name',
    async ({ finish, elsewhere, isUndone, place }) => {
      const at = await stuck({ withBroker: true })
      const [ends, expected]: [Ends, Ends] = [{}, {}]
      try {
        for (const failpoint of withinShare(inner(spread(failpointsOf(kinds), ways.length, place), 2))) {
          const held = await at.reset()
          const machines = { here: await at.someone.elsewhere(), there: await at.someone.elsewhere() }
          await machines.here.killedAt(failpoint, ['unlock-changelog'])
          // a lock is put back only while the service is stopped
          if (isUndone && (await at.releases()) > 0) await at.service.stop()
          const there = elsewhere ? (await runsOf(machines.there))[0] : undefined
          // what was killed before the deployment knew of it, or once it was over there, is seen to where it was begun
          const onSame = ways.find((way) => !way.elsewhere && way.isUndone === isUndone)!
          const { code } =
            there === undefined
              ? await onSame.finish(machines, (await runsOf(machines.here, isRun))[0]!)
              : await finish(machines, there)
          const end = await endOf(at, there === undefined ? machines.here : machines.there, code)
          // a run that was taken back may not have come to free it
          ends[failpoint] = { ...end, releases: isUndone ? Math.max(1, end.releases) : end.releases }
          expected[failpoint] = {
            row: isUndone ? held : free,
            releases: 1,
            runs: true,
            code: 0,
            unfinished: [],
            journals: 0,
          }
        }
      } finally {
        await at.leave()
      }
      expect(ends).toEqual(expected)
    },
    timeoutMs,
  )

  test.each([
    { name: 'the row is missing, another is left: gone on with', isUndone: false, place: 0 },
    { name: 'the row is missing, another is left: undone', isUndone: true, place: 1 },
  ])(
    '$name',
    async ({ isUndone, place }) => {
      const at = await stuck({ withBroker: true })
      const left = "VALUES (2, true, '2026-11-20 01:02:03.000004', 'testops-old (10.0.0.7)')"
      const rows = async (): Promise<unknown> =>
        at.database.query('SELECT id, locked, lockgranted::text, lockedby FROM databasechangeloglock ORDER BY id')
      const [ends, expected]: [Record<string, unknown>, Record<string, unknown>] = [{}, {}]
      try {
        for (const failpoint of withinShare(
          decisive(
            spread(
              failpointsOf(['insert-lock-row', 'remove-lock-rows']).filter((it) => /-rows?:/.test(it)),
              2,
              place,
            ),
            3,
          ),
        )) {
          await at.reset()
          await at.database.query(`DELETE FROM databasechangeloglock; INSERT INTO databasechangeloglock ${left}`)
          const before = await rows()
          const here = await at.someone.elsewhere()
          await here.killedAt(failpoint, ['unlock-changelog'])
          const [run] = await runsOf(here, isRun)
          const { code } = isUndone ? await here.repair(['undo', run!]) : await here.run(['resume'])
          ends[failpoint] = {
            code,
            rows: await rows(),
            runs: await at.service.isRunning(),
            unfinished: await runsOf(here),
          }
          expected[failpoint] = {
            code: 0,
            rows: isUndone ? before : [{ id: 1, locked: false, lockgranted: null, lockedby: null }],
            runs: true,
            unfinished: [],
          }
        }
      } finally {
        await at.leave()
      }
      expect(ends).toEqual(expected)
    },
    timeoutMs,
  )

  test(
    'undone, and that killed too',
    async () => {
      const at = await stuck({ withBroker: true })
      const [ends, expected]: [Ends, Ends] = [{}, {}]
      try {
        for (const failpoint of undoFailpointsOf(kinds)) {
          const held = await at.reset()
          const here = await at.someone.elsewhere()
          await here.killedAt('release-lock:after', ['unlock-changelog'])
          const [run] = await runsOf(here)
          await here.killedAt(failpoint, ['undo', run!])
          const { code } = await here.repair(['undo', run!])
          ends[failpoint] = await endOf(at, here, code)
          expected[failpoint] = { row: held, releases: 1, runs: true, code: 0, unfinished: [], journals: 0 }
        }
      } finally {
        await at.leave()
      }
      expect(ends).toEqual(expected)
    },
    timeoutMs,
  )
})

type IsMeant = (run: HistoryDocument['runs'][number]) => boolean
const isUnfinished: IsMeant = ({ state }) => state === 'unfinished'
const isRun: IsMeant = () => true

/** As that machine knows them. */
async function runsOf(someone: Operator, isMeant = isUnfinished): Promise<string[]> {
  const { runs } = (await someone.run(['history', '--json'])).json<HistoryDocument>()
  return runs.filter(isMeant).map(({ run }) => run)
}

async function endOf(at: Situation, someone: Operator, code: number | null): Promise<End> {
  const queues = (await at.broker!.manage('GET', `/api/queues/${at.broker!.vhost}?columns=name`)) as { name: string }[]
  return {
    row: await at.row(),
    releases: await at.releases(),
    runs: await at.service.isRunning(),
    code,
    unfinished: await runsOf(someone),
    journals: queues.filter(({ name }) => name.startsWith(journalQueuePrefix)).length,
  }
}
