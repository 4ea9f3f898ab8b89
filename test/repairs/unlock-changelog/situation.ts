import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { freshDatabase, freshVhost } from '../../servers/index.ts'
import type { FreshDatabase, FreshVhost } from '../../servers/index.ts'
import { deploy } from '../support/deploy.ts'
import type { Deployed } from '../support/deploy.ts'
import { operator } from '../support/operator.ts'
import type { Operator } from '../support/operator.ts'
import { standIn } from '../support/stand-in.ts'
import type { StandIn } from '../support/stand-in.ts'

export interface LockColumns {
  locked: boolean
  /** local time of a JVM in UTC */
  lockgranted: string | null
  lockedby: string | null
}

export const free: LockColumns = { locked: false, lockgranted: null, lockedby: null }
/** What a JVM of this machine, in UTC, writes now. */
function heldNow(): LockColumns {
  return {
    locked: true,
    lockgranted: new Date().toISOString().replace('T', ' ').replace('Z', '171'),
    lockedby: `${hostname()} (10.0.0.7)`,
  }
}

/**
 * A deployment whose service is a stand-in, with a real database and, where it is asked for, a broker that keeps
 * journals.
 */
export interface Situation {
  database: FreshDatabase
  broker: FreshVhost | null
  service: StandIn
  deployed: Deployed
  someone: Operator
  /** the row as it was left by a process that died; the service was started again since, and runs */
  reset(): Promise<LockColumns>
  /** writes row 1 */
  write(row: LockColumns): Promise<void>
  row(): Promise<LockColumns | null>
  /** how often a held row was freed since it was written */
  releases(): Promise<number>
  /** the operator reaches the database by these ports of this machine, in place of its own */
  reachedAt(...ports: number[]): Promise<void>
  /** by its own again */
  reachedDirectly(): Promise<void>
  /** a session of the service's own user, as a JVM has it */
  session(): Promise<pg.Client>
  leave(): Promise<void>
}

/** `settings`: of the deployment, above those that it has anyway. */
export async function stuck({
  withBroker = false,
  settings = {},
}: {
  withBroker?: boolean
  settings?: object
} = {}): Promise<Situation> {
  const [database, broker, service] = await Promise.all([
    freshDatabase(),
    withBroker ? freshVhost('4.3') : null,
    standIn({ running: false }),
  ])
  await makeTable(database)
  const { user } = database.endpoint
  await service.settings(
    `SPRING_DATASOURCE_URL=jdbc:${withoutLogin(database.url)}\nSPRING_DATASOURCE_USERNAME=${user}\nTZ=UTC\n`,
  )
  const settingsOf =
    (url: string): Parameters<typeof deploy>[0] =>
    (secret) => ({
      url: service.url,
      platform: 'host',
      host: service.host,
      database: { url, user, password: secret(database.endpoint.password!.reveal()) },
      ...(broker && {
        broker: {
          url: `amqp://${broker.endpoint.host}:${broker.endpoint.port}/${broker.vhost}`,
          managementUrl: broker.endpoint.managementUrl,
          user: broker.endpoint.user,
          password: secret(broker.endpoint.password!.reveal()),
        },
      }),
      ...settings,
    })
  const address = withoutLogin(database.url)
  const deployed = await deploy(settingsOf(address))
  const someone = await operator(deployed)
  const sessions: pg.Client[] = []
  const write: Situation['write'] = async ({ locked, lockgranted, lockedby }) => {
    await database.query('TRUNCATE databasechangeloglock; TRUNCATE releases')
    await database.query('INSERT INTO databasechangeloglock VALUES (1, $1, $2, $3)', [locked, lockgranted, lockedby])
  }
  const reset = async (): Promise<LockColumns> => {
    const left = heldNow()
    await write(left)
    await service.stop()
    // the clocks of the two are known to a few milliseconds
    await sleep(100)
    await service.start()
    return left
  }
  await reset()
  return {
    database,
    broker,
    service,
    deployed,
    someone,
    write,
    reset,
    async row() {
      const [row] = await database.query(
        "SELECT locked, to_char(lockgranted, 'YYYY-MM-DD HH24:MI:SS.US') AS lockgranted, lockedby FROM " +
          'databasechangeloglock WHERE id = 1',
      )
      return (row as LockColumns | undefined) ?? null
    },
    async releases() {
      const [row] = await database.query('SELECT count(*)::int AS count FROM releases')
      return row!['count'] as number
    },
    async reachedAt(...ports) {
      await deployed.configure(
        settingsOf(`postgresql://${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${database.name}`),
      )
    },
    reachedDirectly: async () => deployed.configure(settingsOf(address)),
    async session() {
      const { hosts, database: name, password } = database.endpoint
      const client = new pg.Client({
        ...hosts[0]!,
        database: name,
        user: user!,
        password: password!.reveal(),
        application_name: 'PostgreSQL JDBC Driver',
      })
      client.on('error', () => undefined)
      await client.connect()
      sessions.push(client)
      return client
    },
    async leave() {
      await someone.leave()
      await Promise.all(sessions.map(async (client) => client.end().catch(() => undefined)))
      await Promise.all([service.end(), deployed.remove(), broker?.cleanup(), database.cleanup()])
    },
  }
}

/** Liquibase's own statement (FIELD-NOTES.md 2), and a trigger that counts what is freed. */
async function makeTable(database: FreshDatabase): Promise<void> {
  const { user } = database.endpoint
  await database.query(
    `CREATE TABLE databasechangeloglock (ID INTEGER NOT NULL, LOCKED BOOLEAN NOT NULL,
      LOCKGRANTED TIMESTAMP WITHOUT TIME ZONE, LOCKEDBY VARCHAR(255),
      CONSTRAINT databasechangeloglock_pkey PRIMARY KEY (ID));
    CREATE TABLE releases (at timestamptz NOT NULL DEFAULT clock_timestamp());
    CREATE FUNCTION count_release() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN INSERT INTO releases DEFAULT VALUES; RETURN NULL; END';
    CREATE TRIGGER count_release AFTER UPDATE ON databasechangeloglock FOR EACH ROW
      WHEN (OLD.locked AND NOT NEW.locked) EXECUTE FUNCTION count_release();
    ALTER TABLE databasechangeloglock OWNER TO ${user}; ALTER TABLE releases OWNER TO ${user}`,
  )
}

function withoutLogin(url: string): string {
  return url.replace(/\/\/[^@]*@/, '//')
}

/** What is said of a run that ended, without what differs from run to run. */
export function told({ outcome, applied, verification, error }: RepairDocument): object {
  return {
    outcome,
    applied: applied.map(({ step, status }) => `${step} ${status}`),
    verification,
    ...(error && { error: `${error.code} ${error.message}` }),
  }
}
