import { AdminError } from '../../../../src/core/error.ts'
import { PartialSettings } from '../../../../src/core/deployment.ts'
import { Secret, UnreadableSecret } from '../../../../src/core/secret.ts'
import { ago, backend, fakeDatabase, fakeService, lockRow, lockTable, settings, stopped } from '../../../fakes/index.ts'
import type { Case } from '../../table.ts'
import { database, down, held, taken } from './situation.ts'

type Values = Readonly<Record<string, string | Secret | undefined>>

const main = {
  SPRING_DATASOURCE_URL: 'jdbc:postgresql://db.example.org:5432/testops',
  SPRING_DATASOURCE_USERNAME: 'testops',
}
const off = (values: Values): ReturnType<typeof fakeService> =>
  fakeService({ status: stopped(), environment: settings({ ...main, ...values }) })
const identity = {
  version: '15.8',
  user: 'testops',
  database: 'testops',
  startedAt: ago(9e7),
  inRecovery: false,
  port: 5432,
  pooled: false,
}
const hushed = new Secret('jdbc:postgresql://hush.internal:5432/testops', { mayAppear: true })
const stuck = { status: 'problem', severity: 'error' } as const
const isDead = { ...stuck, says: ['The holder is dead'] } as const
const unproven = (...says: (string | RegExp)[]): Pick<Case, 'status' | 'severity' | 'says' | 'silentOn'> => ({
  ...stuck,
  says: ['Cannot tell whether the holder is alive', ...says],
  silentOn: ['is dead', 'hush'],
})
const migrator = backend({
  pid: 66,
  user: 'migrator',
  application: 'Liquibase',
  clientAddress: '10.0.0.9',
  state: 'idle',
  query: 'COMMIT',
  startedAt: new Date(taken.getTime() - 2000),
})
const free = lockTable([lockRow()])

/** Where and as whom the service's Liquibase works, and by which way. */
export const liquibasePlace: readonly Case[] = [
  ...(
    [
      ['names the database itself', {}],
      ['names it by a short name', { SPRING_DATASOURCE_URL: 'jdbc:postgresql://db/testops' }],
      [
        'is a Secret, which names it',
        { SPRING_DATASOURCE_URL: new Secret(main.SPRING_DATASOURCE_URL, { mayAppear: true }) },
      ],
      [
        'names it for Liquibase too',
        { SPRING_LIQUIBASE_URL: 'jdbc:postgresql://db.example.org/testops?ApplicationName=x' },
      ],
      [
        'names a pooler, and Liquibase goes past it',
        {
          SPRING_DATASOURCE_URL: 'jdbc:postgresql://db.example.org:6432/testops',
          SPRING_LIQUIBASE_URL: main.SPRING_DATASOURCE_URL,
        },
      ],
    ] as const
  ).map(
    ([what, values]): Case => ({
      situation: `the address of the data source ${what}`,
      sources: { database: database([held()]), service: off(values), ...down },
      ...isDead,
    }),
  ),
  ...(
    [
      ['is not set', { SPRING_DATASOURCE_URL: undefined }, '`SPRING_DATASOURCE_URL` is not set'],
      ['is empty', { SPRING_DATASOURCE_URL: '' }, '`SPRING_DATASOURCE_URL` is not set'],
      [
        'may not be read',
        { SPRING_DATASOURCE_URL: new UnreadableSecret(new Error('no')) },
        'this user may not read `SPRING_DATASOURCE_URL`',
      ],
      ['is none', { SPRING_DATASOURCE_URL: '${DATABASE_URL}' }, 'cannot find a host in `SPRING_DATASOURCE_URL`'],
      [
        'leads where it does not say',
        { SPRING_DATASOURCE_URL: 'jdbc:postgresql://db.example.org:5432/testops?PGPORT=6432' },
        'cannot find a host in',
      ],
      [
        'may be overridden',
        { SPRING_APPLICATION_JSON: '{"spring":{"datasource":{"url":"jdbc:postgresql://p:6432/x"}}}' },
        'There may be a pooler in between, which shares sessions between clients',
      ],
      [
        'is another host than this program goes to',
        { SPRING_DATASOURCE_URL: 'jdbc:postgresql://pg.internal:5432/testops' },
        'connects to this database at pg.internal:5432, not at db.example.org:5432/testops',
      ],
      [
        'is another host, by a Secret',
        { SPRING_DATASOURCE_URL: hushed },
        'connects to this database at the address in SPRING_DATASOURCE_URL, not at',
      ],
      [
        'is another port, by a Secret',
        { SPRING_DATASOURCE_URL: new Secret('jdbc:postgresql://hush.internal:6432/testops', { mayAppear: true }) },
        "the address in SPRING_DATASOURCE_URL (in the service's settings) may be a pooler",
      ],
      [
        'is another database',
        { SPRING_DATASOURCE_URL: 'jdbc:postgresql://db.example.org:5432/other' },
        ", not at|none of the service's settings points to this database",
      ],
      [
        'is that of a pooler by an option of the JVM',
        { JAVA_TOOL_OPTIONS: '-Dkey=hush -Dspring.datasource.url=jdbc:postgresql://db.example.org:6432/testops' },
        'the address in -Dspring.datasource.url',
      ],
    ] as const
  ).map(
    ([what, values, says]): Case => ({
      situation: `the address of the data source ${what}`,
      sources: { database: database([held()]), service: off(values), ...down },
      ...unproven(new RegExp(says.includes('|') ? says : says.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))),
    }),
  ),
  {
    situation: 'some of the settings may not be read, in which Liquibase may have an address and a user of its own',
    sources: {
      database: database([held()]),
      service: fakeService({
        status: stopped(),
        environment: new PartialSettings(settings(main), new AdminError('FORBIDDEN', 'no')),
      }),
      ...down,
    },
    ...unproven('There may be a pooler in between, which shares sessions between clients'),
  },
  ...(
    [
      ['its Liquibase has a user of its own', { SPRING_LIQUIBASE_USER: 'migrator' }],
      [
        'its Liquibase has a user of its own, by a Secret',
        { SPRING_LIQUIBASE_USER: new Secret('migrator', { mayAppear: true }) },
      ],
      [
        'its Liquibase has a user of its own, by an option of the JVM',
        { JAVA_OPTS: '-Dspring.liquibase.user=migrator' },
      ],
      [
        'its Liquibase has a user of its own, in an address of its own',
        { SPRING_LIQUIBASE_URL: 'jdbc:postgresql://db.example.org:5432/testops?user=migrator' },
      ],
      ['its pool has a user of its own', { SPRING_DATASOURCE_HIKARI_USERNAME: 'migrator' }],
      [
        'its data source has a user in the address',
        {
          SPRING_DATASOURCE_USERNAME: undefined,
          SPRING_DATASOURCE_URL: 'jdbc:postgresql://db.example.org:5432/testops?user=migrator',
        },
      ],
    ] as const
  ).map(
    ([situation, values]): Case => ({
      situation: `${situation}, and a session of that user is open`,
      sources: { database: database([held()], [migrator]), service: off(values), ...down },
      ...unproven('an open database session may belong to the lock holder: database session 66 (idle'),
    }),
  ),
  {
    situation: 'its Liquibase has an address of its own, without a user, so that anybody may be it',
    sources: {
      database: database([held()], [migrator]),
      service: off({ SPRING_LIQUIBASE_URL: 'jdbc:postgresql://db.example.org:5432/testops' }),
      ...down,
    },
    ...unproven(
      "the service's database user is unknown, and 1 session of migrator (PID 66 of Liquibase) may hold the lock",
    ),
  },
  ...(
    [
      ['names another host', 'jdbc:postgresql://db2.example.org:5432/testops', 'db2.example.org:5432/testops'],
      ['names another database', 'jdbc:postgresql://db.example.org:5432/migrations', 'db.example.org:5432/migrations'],
      ['names another port', 'jdbc:postgresql://db.example.org:5433/testops', 'db.example.org:5433/testops'],
      ['is a Secret, which names another host', hushed, 'at the address in SPRING_LIQUIBASE_URL'],
    ] as const
  ).map(
    ([what, url, says]): Case => ({
      situation: `the address of Liquibase ${what}: no other lock is judged in its place`,
      sources: {
        database: database([held()]),
        service: off({ SPRING_LIQUIBASE_URL: url, SPRING_LIQUIBASE_USER: 'migrator' }),
        ...down,
      },
      status: 'unknown',
      says: [
        "the service's Liquibase uses the database at",
        says,
        'The lock that the service uses may not be in db.example.org:5432/testops',
      ],
      silentOn: ['hush', 'is dead'],
    }),
  ),
  {
    situation: 'the address of Liquibase may not be read',
    sources: {
      database: database([held()]),
      service: off({ SPRING_LIQUIBASE_URL: new UnreadableSecret(new Error('no')) }),
      ...down,
    },
    status: 'unknown',
    says: ["cannot tell which database the service's Liquibase uses: this user may not read `SPRING_LIQUIBASE_URL`"],
  },
  {
    situation: 'its Liquibase works in the second of its databases, where its table has a name of its own',
    sources: {
      database: [
        fakeDatabase({ changelogLocks: [] }),
        fakeDatabase({
          target: 'db2.example.org:5432/migrations',
          identity: { ...identity, database: 'migrations' },
          changelogLocks: [{ ...held(), table: 'own_lock' }],
          backends: [],
        }),
      ],
      service: off({
        SPRING_LIQUIBASE_URL: 'jdbc:postgresql://db2.example.org:5432/migrations',
        SPRING_LIQUIBASE_USER: 'testops',
        SPRING_LIQUIBASE_DATABASE_CHANGE_LOG_LOCK_TABLE: 'own_lock',
      }),
      ...down,
    },
    ...isDead,
  },
  {
    situation: 'its Liquibase goes past the pooler by which the service and this program go to the same database',
    sources: {
      database: [
        fakeDatabase({
          target: 'pooler:6432/testops',
          identity: { ...identity, pooled: true },
          changelogLocks: [held()],
          backends: [],
        }),
        fakeDatabase({ identity, changelogLocks: [held()], backends: [] }),
      ],
      service: off({
        SPRING_DATASOURCE_URL: 'jdbc:postgresql://pooler:6432/testops',
        SPRING_LIQUIBASE_URL: 'jdbc:postgresql://db.example.org:5432/testops',
        SPRING_LIQUIBASE_USER: 'testops',
      }),
      ...down,
    },
    ...isDead,
    silentOn: ['pooler:6432'],
  },
  {
    situation: 'its Liquibase has an address of its own, and the lock there is free',
    sources: {
      database: database([free]),
      service: off({ SPRING_LIQUIBASE_URL: 'jdbc:postgresql://db.example.org/testops' }),
      ...down,
    },
    status: 'ok',
    says: ['is free'],
  },
]
