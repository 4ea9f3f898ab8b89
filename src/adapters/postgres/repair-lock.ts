import type { Holder, LockOwner, RepairLock } from '../../core/lock.ts'
import { date, epoch } from './locks.ts'
import { applicationName } from './session.ts'
import { asked } from './errors.ts'
import type { DatabaseSession, Row } from './session.ts'

/** This program's key of advisory locks: 'tops', 'admn' as two numbers. */
const key = { classid: 0x746f7073, objid: 0x61646d6e }
const locks = `FROM pg_locks l WHERE l.locktype = 'advisory' AND l.classid = ${key.classid} AND l.objid = ${key.objid}
  AND l.objsubid = 2 AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/**
 * Returns a lock that an open transaction holds on its own connection: session locks leak or vanish behind a pooler
 * (DESIGN.md 6.7). It ends with the connection, so a killed process leaves nothing behind.
 */
export function databaseLock(session: DatabaseSession, { who, what }: LockOwner): RepairLock {
  let holding: { end: () => void; ended: Promise<void> } | null = null
  let ask: ((sql: string) => Promise<readonly Row[]>) | null = null

  return {
    where: session.peer.where,
    async take() {
      const taken = deferred<Holder | null>()
      const end = deferred<void>()
      const held = async (): Promise<void> =>
        session.change(async (run) => {
          for (const setting of settings(who, what)) await run(setting)
          const [row] = await run(`SELECT pg_try_advisory_xact_lock(${key.classid}, ${key.objid}) AS taken`)
          // another operator holds it, even if we may not see who
          if (row?.['taken'] !== 't')
            return taken.resolve((await holderOf(run).catch(() => null)) ?? { who: null, since: null, what: null })
          ask = run
          taken.resolve(null)
          return end.promise
        })
      const ended = asked(session, held).catch((error: unknown) => taken.reject(error))
      const holder = await taken.promise
      if (holder === null) holding = { end: end.resolve, ended }
      return holder
    },
    async isHeld() {
      if (!ask) return false
      const [row] = await ask(`SELECT count(*) AS held ${locks} AND l.pid = pg_backend_pid()`).catch(() => [])
      return row?.['held'] === '1'
    },
    async release() {
      ask = null
      holding?.end()
      await holding?.ended
      holding = null
    },
  }
}

/**
 * Returns settings that keep a transaction open while a repair runs. They end it within a minute if the operator's
 * machine leaves the network, instead of the usual two hours.
 */
function settings(who: string, what: string): string[] {
  const name = `${applicationName} ${what} by ${who}`.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 63)
  return [
    'SET LOCAL idle_in_transaction_session_timeout = 0',
    'SET LOCAL tcp_keepalives_idle = 30',
    'SET LOCAL tcp_keepalives_interval = 10',
    'SET LOCAL tcp_keepalives_count = 3',
    `SET LOCAL application_name = '${name.replaceAll("'", "''")}'`,
    // PostgreSQL 17 adds this setting
    `SELECT set_config(name, '0', true) FROM pg_settings WHERE name = 'transaction_timeout'`,
  ]
}

/** Returns who holds the lock; null if nobody does. */
export async function readOperator(session: DatabaseSession): Promise<Holder | null> {
  return holderOf(async (sql) => session.read(sql))
}

async function holderOf(run: (sql: string) => Promise<readonly Row[]>): Promise<Holder | null> {
  const [row] =
    await run(`SELECT a.application_name AS name, host(a.client_addr) AS address, ${epoch('a.xact_start')} AS since
    FROM pg_stat_activity a WHERE a.pid = (SELECT l.pid ${locks} LIMIT 1)`)
  if (!row) return null
  const [, what, who] = /^testops-admin (.+) by (.+)$/s.exec(row['name'] ?? '') ?? []
  return { who: who ?? row['address'] ?? null, what: what ?? null, since: date(row['since']) }
}

/** Does what `Promise.withResolvers` does, which Node 20 lacks. */
function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
