import { hostname } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { pgbouncer } from '../../servers/index.ts'
import { lineTo } from './line.ts'
import { free, stuck, told } from './situation.ts'
import type { LockColumns, Situation } from './situation.ts'

const timeoutMs = 120_000
const done = {
  outcome: 'done',
  applied: ['0 done', '1 done', '2 done'],
  verification: { 'api/reachable': 'ok', 'database/changelog-lock': 'ok', 'service/running': 'ok' },
}

let at: Situation
beforeAll(async () => void (at = await stuck({ withBroker: true })))
afterAll(async () => at.leave())

const confirmed = ['unlock-changelog', '--confirm', 'prod', '--json']

describe('a lock whose holder is dead', () => {
  test(
    'is released, and taken back once the service is stopped',
    async () => {
      const held = await at.reset()
      const here = await at.someone.elsewhere()
      const ended = await here.repair(['unlock-changelog'])
      const document = ended.json<RepairDocument>()
      expect({ code: ended.code, ...told(document), row: await at.row(), releases: await at.releases() }).toEqual({
        code: 0,
        ...done,
        row: free,
        releases: 1,
      })
      const refused = await here.repair(['undo', document.run!])
      expect({ code: refused.code, row: await at.row() }).toEqual({ code: 4, row: free })
      await at.service.stop()
      const undone = await here.repair(['undo', document.run!])
      expect({ code: undone.code, row: await at.row(), runs: await at.service.isRunning() }).toEqual({
        code: 0,
        row: held,
        runs: true,
      })
    },
    timeoutMs,
  )

  test(
    'is shown by a dry run, which writes nothing',
    async () => {
      const held = await at.reset()
      const calls = await at.service.calls()
      const here = await at.someone.elsewhere()
      const [before] = await at.database.query(
        'SELECT xmin::text, pg_current_wal_lsn() IS NOT NULL AS here FROM databasechangeloglock',
      )
      const { code, json } = await here.run(['unlock-changelog', '--dry-run', '--json'])
      const [after] = await at.database.query(
        'SELECT xmin::text, pg_current_wal_lsn() IS NOT NULL AS here FROM databasechangeloglock',
      )
      const history = await here.run(['history', '--json'])
      expect({
        code,
        outcome: json<RepairDocument>().outcome,
        row: await at.row(),
        after,
        calls: await at.service.calls(),
        runs: history.json<{ runs: unknown[] }>().runs,
      }).toEqual({
        code: 0,
        outcome: 'planned',
        row: held,
        after: before,
        calls,
        runs: [],
      })
    },
    timeoutMs,
  )
})

describe('the lock changes hands', () => {
  const taken: LockColumns = {
    locked: true,
    lockgranted: '2026-11-21 01:00:00.000000',
    lockedby: 'testops-2 (10.0.0.8)',
  }

  test.each([
    ['before the service is stopped', 'stop-service:before'],
    ['once it is stopped', 'stop-service:after'],
  ] as const)(
    '%s: refused, and the service runs',
    async (_, failpoint) => {
      await at.reset()
      const here = await at.someone.elsewhere()
      const begun = here.begin(confirmed, { failpoint: `${failpoint}=stop` })
      await begun.untilStopped()
      await at.write(taken)
      begun.goOn()
      const { code, json } = await begun.ended
      const { outcome, error } = json<RepairDocument>()
      expect({
        code,
        outcome,
        said: /has changed since the plan was made/.test(error!.message),
        row: await at.row(),
        runs: await at.service.isRunning(),
        releases: await at.releases(),
      }).toEqual({
        code: 4,
        outcome: 'refused',
        said: true,
        row: taken,
        runs: true,
        releases: 0,
      })
    },
    timeoutMs,
  )

  test(
    'a release that was killed before it took effect is not undone over what somebody else freed',
    async () => {
      await at.reset()
      const here = await at.someone.elsewhere()
      await here.killedAt('release-lock:noted', ['unlock-changelog'])
      await at.write(free)
      const { runs } = (await here.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
      const { code } = await here.repair(['undo', runs[0]!.run])
      expect({ code, row: await at.row(), runs: await at.service.isRunning() }).toEqual({
        code: 0,
        row: free,
        runs: true,
      })
    },
    timeoutMs,
  )
})

test(
  'a statement that outlives its JVM is refused, also once the service was stopped for it',
  async () => {
    const session = await at.session()
    const held = await at.reset()
    const here = await at.someone.elsewhere()
    const begun = here.begin([...confirmed, '--patience', '2', '--accept-risk', 'unproven-holder'], {
      failpoint: 'stop-service:after=stop',
    })
    await begun.untilStopped()
    void session.query('SELECT pg_sleep(30)').catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 300))
    begun.goOn()
    const { code, json } = await begun.ended
    expect({
      code,
      said: /^the holder of the lock is alive: database session/.test(json<RepairDocument>().error!.message),
      row: await at.row(),
      runs: await at.service.isRunning(),
    }).toEqual({ code: 4, said: true, row: held, runs: true })
    // its statement would run on, and hold up the others
    await at.database.query(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'PostgreSQL JDBC " +
        "Driver' AND datname = current_database()",
    )
  },
  timeoutMs,
)

test(
  'what was accepted is what was shown: a session that is there once the service is stopped is refused all the same',
  async () => {
    await at.reset()
    const held = {
      locked: true,
      lockgranted: new Date().toISOString().replace('T', ' ').replace('Z', '000'),
      lockedby: 'elsewhere (10.0.0.9)',
    }
    await at.write(held)
    const here = await at.someone.elsewhere()
    const begun = here.begin([...confirmed, '--patience', '2', '--accept-risk', 'unproven-holder'], {
      failpoint: 'stop-service:after=stop',
    })
    await begun.untilStopped()
    const session = await at.session()
    await session.query('BEGIN; SHOW SEARCH_PATH')
    begun.goOn()
    const { code, json } = await begun.ended
    const { plan, error } = json<RepairDocument>()
    expect({
      code,
      lacks: plan.steps.flatMap(({ action }) => (action.kind === 'release-lock' ? action.lacks : [])),
      said: /an open database session may belong to the lock holder: database session/.test(error!.message),
      row: await at.row(),
      runs: await at.service.isRunning(),
    }).toEqual({
      code: 4,
      lacks: ['another-host'],
      said: true,
      row: held,
      runs: true,
    })
    await session.query('ROLLBACK')
    await session.end()
  },
  timeoutMs,
)

test(
  'a JVM in another time zone than the settings name is not taken for one of former times while a session is at work',
  async () => {
    const session = await at.session()
    await at.reset()
    const inNewYork = {
      locked: true,
      lockgranted: new Date(Date.now() - 5 * 3_600_000).toISOString().replace('T', ' ').replace('Z', '171'),
      lockedby: `${hostname()} (10.0.0.7)`,
    }
    await at.write(inNewYork)
    void session.query('SELECT pg_sleep(60)').catch(() => undefined)
    // longer than a statement of the service's daily work
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const here = await at.someone.elsewhere()
    const refused = await here.run(['unlock-changelog', '--confirm', 'prod', '--json'])
    expect({
      code: refused.code,
      risks: refused.json<RepairDocument>().plan.risks.map(({ name }) => name),
      row: await at.row(),
      runs: await at.service.isRunning(),
    }).toEqual({ code: 4, risks: ['unproven-holder'], row: inNewYork, runs: true })
    await at.database.query(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'PostgreSQL JDBC " +
        "Driver' AND datname = current_database()",
    )
    const released = await here.repair(['unlock-changelog'])
    expect({ code: released.code, row: await at.row() }).toEqual({ code: 0, row: free })
  },
  timeoutMs,
)

test(
  'two operators at once: the second is told who, on the same machine and on another',
  async () => {
    await at.reset()
    const here = await at.someone.elsewhere()
    const first = here.begin(confirmed, { failpoint: 'release-lock:judged=stop' })
    await first.untilStopped()
    const others = [
      await here.repair(['unlock-changelog']),
      await (await at.someone.elsewhere()).repair(['unlock-changelog']),
    ]
    first.goOn()
    const { code } = await first.ended
    expect({ code, others: others.map((it) => it.code), releases: await at.releases() }).toEqual({
      code: 0,
      others: [5, 5],
      releases: 1,
    })
  },
  timeoutMs,
)

test(
  'another host of the address becomes the primary under way: gone on with there, and taken back',
  async () => {
    const held = await at.reset()
    const server = at.database.endpoint.hosts[0]!
    const [one, other] = [await lineTo(server), await lineTo(server)]
    try {
      await at.reachedAt(one.port, other.port)
      other.down()
      const here = await at.someone.elsewhere()
      const begun = here.begin(confirmed, { failpoint: 'release-lock:released=stop' })
      await begun.untilStopped()
      one.down()
      other.mend()
      begun.goOn()
      const broken = await begun.ended
      const resumed = await here.run(['resume', '--json'])
      expect({
        broken: broken.code,
        resumed: resumed.code,
        row: await at.row(),
        releases: await at.releases(),
        runs: await at.service.isRunning(),
      }).toEqual({ broken: 6, resumed: 0, row: free, releases: 1, runs: true })
      await at.service.stop()
      const undone = await here.repair(['undo', resumed.json<RepairDocument>().run!])
      expect({ undone: undone.code, row: await at.row() }).toEqual({ undone: 0, row: held })
    } finally {
      one.close()
      other.close()
      await at.reachedDirectly()
    }
  },
  timeoutMs,
)

describe('--no-restart', () => {
  test.each([
    ['runs', true],
    ['is stopped', false],
  ])(
    'leaves a service that %s as it is; the lock is put back once it is stopped',
    async (_, runs) => {
      const held = await at.reset()
      if (!runs) await at.service.stop()
      const calls = await at.service.calls()
      const here = await at.someone.elsewhere()
      const ended = await here.repair(['unlock-changelog', '--no-restart'])
      const document = ended.json<RepairDocument>()
      expect({ code: ended.code, ...told(document), row: await at.row() }).toEqual({
        code: 0,
        outcome: 'done',
        applied: ['0 done'],
        verification: { 'database/changelog-lock': 'ok' },
        row: free,
      })
      await at.service.start()
      expect([(await here.repair(['undo', document.run!])).code, await at.row()]).toEqual([4, free])
      await at.service.stop()
      expect([(await here.repair(['undo', document.run!])).code, await at.row()]).toEqual([0, held])
      expect([await at.service.calls(), await at.service.isRunning()]).toEqual([calls, false])
    },
    timeoutMs,
  )
})

test(
  'a second row is removed while the service runs, saved, and put back',
  async () => {
    const calls = await at.service.calls()
    await at.write(free)
    await at.service.start()
    const others = async (): Promise<unknown> =>
      at.database.query(
        'SELECT id, locked, lockgranted::text, lockedby FROM databasechangeloglock WHERE id <> 1 ORDER BY id',
      )
    await at.database.query(
      "INSERT INTO databasechangeloglock VALUES (2, true, '2026-11-20 01:02:03.000004', 'testops-old " +
        "(10.0.0.7)'), (-3, false, NULL, NULL)",
    )
    const left = await others()
    const here = await at.someone.elsewhere()
    const ended = await here.repair(['unlock-changelog'])
    const document = ended.json<RepairDocument>()
    expect({ code: ended.code, ...told(document), impact: document.plan.impact, left: await others() }).toEqual({
      code: 0,
      outcome: 'done',
      applied: ['0 done'],
      verification: { 'database/changelog-lock': 'ok' },
      impact: { rowsRemoved: 2 },
      left: [],
    })
    const undone = await here.repair(['undo', document.run!])
    expect({ code: undone.code, left: await others(), row: await at.row(), calls: await at.service.calls() }).toEqual({
      code: 0,
      left,
      row: free,
      calls,
    })
  },
  timeoutMs,
)

test(
  'through pgbouncer in transaction mode: unproven, released where that is accepted, one operator at a time',
  async () => {
    const held = await at.reset()
    const pooler = await pgbouncer(at.database)
    try {
      await at.reachedAt(pooler.port)
      const here = await at.someone.elsewhere()
      const refused = await here.repair(['unlock-changelog'])
      expect({
        code: refused.code,
        said: /a pooler .* in front of the database shares/.test(refused.json<RepairDocument>().error!.message),
        row: await at.row(),
      }).toEqual({ code: 4, said: true, row: held })
      const accepted = [...confirmed, '--accept-risk', 'unproven-holder']
      const first = here.begin(accepted, { failpoint: 'release-lock:judged=stop' })
      await first.untilStopped()
      const second = await (await here.elsewhere()).run(accepted)
      first.goOn()
      const { code, stderr } = await first.ended
      expect({ code, second: second.code, row: await at.row(), releases: await at.releases() }, stderr).toEqual({
        code: 0,
        second: 5,
        row: free,
        releases: 1,
      })
    } finally {
      await pooler.stop()
    }
  },
  timeoutMs,
)
