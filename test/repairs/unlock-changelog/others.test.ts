import { createServer, connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair-document.ts'
import { pgbouncer } from '../../servers/index.ts'
import type { Begun } from '../support/operator.ts'
import { free, stuck, told, withoutLogin } from './situation.ts'
import type { LockColumns, Situation } from './situation.ts'

const timeoutMs = 120_000
const done = { outcome: 'done', applied: ['0 done', '1 done', '2 done'], verification: { 'api/reachable': 'ok', 'database/changelog-lock': 'ok', 'service/running': 'ok' } }

let at: Situation
beforeAll(async () => void (at = await stuck({ withBroker: true })))
afterAll(async () => at.leave())

/** Once the process has stopped itself at its failpoint. */
async function stopped({ child, ended }: Begun): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error((await ended).stderr)
    if (/\) T /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const confirmed = ['unlock-changelog', '--confirm', 'prod', '--json']

describe('a lock whose holder is dead', () => {
  test('is released, and taken back once the service is stopped', async () => {
    const held = await at.reset()
    const here = await at.someone.elsewhere()
    const ended = await here.repair(['unlock-changelog'])
    const document = ended.json<RepairDocument>()
    expect({ code: ended.code, ...told(document), row: await at.row(), releases: await at.releases() }).toEqual({ code: 0, ...done, row: free, releases: 1 })
    const refused = await here.repair(['undo', document.run!])
    expect({ code: refused.code, row: await at.row() }).toEqual({ code: 4, row: free })
    await at.service.stop()
    const undone = await here.repair(['undo', document.run!])
    expect({ code: undone.code, row: await at.row(), runs: await at.service.isRunning() }).toEqual({ code: 0, row: held, runs: true })
  }, timeoutMs)

  test('is shown by a dry run, which writes nothing', async () => {
    const held = await at.reset()
    const calls = await at.service.calls()
    const here = await at.someone.elsewhere()
    const [before] = await at.database.query('SELECT xmin::text, pg_current_wal_lsn() IS NOT NULL AS here FROM databasechangeloglock')
    const { code, json } = await here.run(['unlock-changelog', '--dry-run', '--json'])
    const [after] = await at.database.query('SELECT xmin::text, pg_current_wal_lsn() IS NOT NULL AS here FROM databasechangeloglock')
    const history = await here.run(['history', '--json'])
    expect({ code, outcome: json<RepairDocument>().outcome, row: await at.row(), after, calls: await at.service.calls(), runs: history.json<{ runs: unknown[] }>().runs }).toEqual({
      code: 0, outcome: 'planned', row: held, after: before, calls, runs: [],
    })
  }, timeoutMs)
})

describe('the lock changes hands', () => {
  const taken: LockColumns = { locked: true, lockgranted: '2026-11-21 01:00:00.000000', lockedby: 'testops-2 (10.0.0.8)' }

  test.each([
    ['before the service is stopped', 'stop-service:before'],
    ['once it is stopped', 'stop-service:after'],
  ] as const)('%s: refused, and the service runs', async (_, failpoint) => {
    await at.reset()
    const here = await at.someone.elsewhere()
    const begun = here.begin(confirmed, { failpoint: `${failpoint}=stop` })
    await stopped(begun)
    await at.write(taken)
    begun.goOn()
    const { code, json } = await begun.ended
    const { outcome, error } = json<RepairDocument>()
    expect({ code, outcome, said: /has changed hands/.test(error!.message), row: await at.row(), runs: await at.service.isRunning(), releases: await at.releases() }).toEqual({
      code: 4, outcome: 'refused', said: true, row: taken, runs: true, releases: 0,
    })
  }, timeoutMs)

  test('a release that was killed before it took effect is not undone over what somebody else freed', async () => {
    await at.reset()
    const here = await at.someone.elsewhere()
    await here.killedAt('release-lock:noted', ['unlock-changelog'])
    await at.write(free)
    const { runs } = (await here.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
    const { code } = await here.repair(['undo', runs[0]!.run])
    expect({ code, row: await at.row(), runs: await at.service.isRunning() }).toEqual({ code: 0, row: free, runs: true })
  }, timeoutMs)
})

test('a statement that outlives its JVM is refused, also once the service was stopped for it', async () => {
  const session = await at.session()
  const held = await at.reset()
  const here = await at.someone.elsewhere()
  const begun = here.begin([...confirmed, '--patience', '2', '--accept-risk', 'unproven-holder'], { failpoint: 'stop-service:after=stop' })
  await stopped(begun)
  void session.query('SELECT pg_sleep(30)').catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 300))
  begun.goOn()
  const { code, json } = await begun.ended
  expect({ code, said: /^the holder of the lock lives: database session/.test(json<RepairDocument>().error!.message), row: await at.row(), runs: await at.service.isRunning() }).toEqual({ code: 4, said: true, row: held, runs: true })
  // its statement would run on, and hold up the others
  await at.database.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'PostgreSQL JDBC Driver' AND datname = current_database()")
}, timeoutMs)

test('two operators at once: the second is told who, on the same machine and on another', async () => {
  await at.reset()
  const here = await at.someone.elsewhere()
  const first = here.begin(confirmed, { failpoint: 'release-lock:judged=stop' })
  await stopped(first)
  const others = [await here.repair(['unlock-changelog']), await (await at.someone.elsewhere()).repair(['unlock-changelog'])]
  first.goOn()
  const { code } = await first.ended
  expect({ code, others: others.map((it) => it.code), releases: await at.releases() }).toEqual({ code: 0, others: [5, 5], releases: 1 })
}, timeoutMs)

test('rights that are taken away under way: half done, and gone on with once they are back', async () => {
  await at.reset()
  const here = await at.someone.elsewhere()
  const begun = here.begin(confirmed, { failpoint: 'release-lock:judged=stop' })
  await stopped(begun)
  const { user } = at.database.endpoint
  await at.database.query(`ALTER TABLE databasechangeloglock OWNER TO CURRENT_USER; GRANT SELECT ON databasechangeloglock TO ${user}`)
  begun.goOn()
  const failed = await begun.ended
  await at.database.query(`ALTER TABLE databasechangeloglock OWNER TO ${user}`)
  const resumed = await here.run(['resume'])
  expect({ failed: failed.code, error: failed.json<RepairDocument>().error!.code, resumed: resumed.code, row: await at.row(), releases: await at.releases() }).toEqual({
    failed: 6, error: 'FORBIDDEN', resumed: 0, row: free, releases: 1,
  })
}, timeoutMs)

test.each(['stop-service:after', 'release-lock:judged', 'release-lock:noted', 'release-lock:released'])('a connection that is cut at %s: half done, and gone on with', async (failpoint) => {
  await at.reset()
  const place = at.database.endpoint.hosts[0]!
  const sockets = new Set<Socket>()
  const proxy = createServer((socket) => {
    const server = connect(place)
    for (const one of [socket, server]) sockets.add(one.on('error', () => undefined))
    socket.pipe(server).pipe(socket)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  const through = await stuckThrough(port)
  try {
    const begun = through.begin(confirmed, { failpoint: `${failpoint}=stop` })
    await stopped(begun)
    for (const socket of sockets) socket.destroy()
    begun.goOn()
    const cut = await begun.ended
    const resumed = await through.run(['resume'])
    expect({ cut: cut.code, resumed: resumed.code, row: await at.row(), releases: await at.releases(), runs: await at.service.isRunning() }, cut.stderr).toEqual({ cut: 6, resumed: 0, row: free, releases: 1, runs: true })
  } finally {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  }
}, timeoutMs)

/** An operator who reaches the database by another port of this machine. */
async function stuckThrough(port: number): ReturnType<Situation['someone']['elsewhere']> {
  const { user, password } = at.database.endpoint
  const address = new URL(withoutLogin(at.database.url))
  address.port = String(port)
  await at.deployed.configure((secret) => ({
    url: at.service.url,
    platform: 'host',
    host: at.service.host,
    database: { url: address.href, user, password: secret(password!.reveal()) },
  }))
  return at.someone.elsewhere()
}

test('through pgbouncer in transaction mode: unproven, released where that is accepted, one operator at a time', async () => {
  const held = await at.reset()
  const pooler = await pgbouncer(at.database)
  try {
    const here = await stuckThrough(pooler.port)
    const refused = await here.repair(['unlock-changelog'])
    expect({ code: refused.code, said: /a pooler stands before the database/.test(refused.json<RepairDocument>().error!.message), row: await at.row() }).toEqual({ code: 4, said: true, row: held })
    const accepted = [...confirmed, '--accept-risk', 'unproven-holder']
    const first = here.begin(accepted, { failpoint: 'release-lock:judged=stop' })
    await stopped(first)
    const second = await (await here.elsewhere()).run(accepted)
    first.goOn()
    const { code, stderr } = await first.ended
    expect({ code, second: second.code, row: await at.row(), releases: await at.releases() }, stderr).toEqual({ code: 0, second: 5, row: free, releases: 1 })
  } finally {
    await pooler.stop()
  }
}, timeoutMs)
