import { fakeService, lockRow, lockTable, record, fakeLogs, ago, running, settings } from '../../../fakes/index.ts'
import type { Case } from '../../table.ts'
import { database, dead, down, held, minute, waits } from './situation.ts'

const started = running({
  instances: [{ name: 'testops.service', host: 'testops-1', pid: 900, startedAt: ago(10 * minute) }],
})
const set = (values: Record<string, string>): ReturnType<typeof fakeService> =>
  fakeService({ status: started, environment: settings(values) })
const free = lockTable([lockRow()])
const heldIn = (schema: string, table?: string): ReturnType<typeof lockTable> => ({
  ...held(),
  schema,
  inSearchPath: false,
  ...(table !== undefined && { table }),
})
const starting = fakeLogs({
  recent: {
    complete: true,
    records: [record('INFO liquibase.lockservice : Successfully acquired change log lock', { at: ago(5000) })],
  },
})

/** VARCHAR(255) */
const long = `${'testops-'.repeat(28)}1 (10.0.0.7)`

/** The service's settings have Liquibase's tables elsewhere than PostgreSQL finds them first. */
export const ownPlace: readonly Case[] = [
  ...[
    { SPRING_LIQUIBASE_LIQUIBASE_SCHEMA: 'migrations' },
    { SPRING_LIQUIBASE_LIQUIBASESCHEMA: 'migrations', SPRING_LIQUIBASE_DEFAULT_SCHEMA: 'public' },
    { SPRING_LIQUIBASE_DEFAULT_SCHEMA: 'MIGRATIONS' },
    { SPRING_DATASOURCE_URL: 'jdbc:postgresql://db:5432/testops?ssl=false&currentSchema=migrations,public' },
    { JAVA_OPTS: '-Xmx2g -Dliquibase.liquibaseSchemaName=migrations' },
    {
      JAVA_TOOL_OPTIONS: '-Dspring.liquibase.liquibase-schema=migrations',
      SPRING_LIQUIBASE_LIQUIBASE_SCHEMA: 'public',
    },
  ].map(
    (values): Case => ({
      situation: `${Object.keys(values).join(' and ')}: its table there is held`,
      sources: { database: database([free, heldIn('migrations')]), service: set(values), logs: waits, ...down },
      status: 'problem',
      severity: 'error',
      says: ['has held the change-log lock since', 'FROM migrations.databasechangeloglock'],
      silentOn: ['does not look', 'ALTER', 'DROP'],
    }),
  ),
  {
    situation: 'its table has a name of its own, and is held',
    sources: {
      database: database([free, heldIn('public', 'migration_lock')]),
      service: set({ SPRING_LIQUIBASE_DATABASE_CHANGE_LOG_LOCK_TABLE: 'MIGRATION_LOCK' }),
      logs: waits,
      ...down,
    },
    status: 'problem',
    severity: 'error',
    says: ['has held the change-log lock since', 'FROM public.migration_lock'],
  },
  {
    situation: 'its table has a name of its own, and is free, while the one of the usual name is held',
    sources: {
      database: database([held(), { ...free, table: 'migration_lock' }]),
      service: set({ SPRING_LIQUIBASE_DATABASE_CHANGE_LOG_LOCK_TABLE: 'migration_lock' }),
    },
    status: 'ok',
    says: ['public.migration_lock at db.example.org:5432/testops is free'],
  },
  {
    situation: 'its schema has no such table, and it waits for one',
    sources: {
      database: database([]),
      service: set({ SPRING_LIQUIBASE_LIQUIBASE_SCHEMA: 'migrations' }),
      logs: waits,
      ...down,
    },
    status: 'problem',
    severity: 'error',
    says: [
      'according to its log, the service is waiting for the change-log lock, but db.example.org:5432/testops has no ' +
        'table databasechangeloglock. Either the lock was just released, or the service uses another table, ' +
        'schema or database',
      "the service's settings say SPRING_LIQUIBASE_LIQUIBASE_SCHEMA=migrations",
    ],
    silentOn: ['ALTER', 'DROP', 'testops-admin unlock-changelog'],
  },
  {
    situation: 'it waits, and the table that it is known to look at is free',
    sources: { database: database([free]), service: set({}), logs: waits, ...down },
    status: 'problem',
    severity: 'error',
    says: [
      'is waiting for the change-log lock, but public.databasechangeloglock at db.example.org:5432/testops is free',
      "the service's settings name no schema or table",
      'Either the lock was just released',
      'Waiting for changelog lock....',
      "tablename ILIKE '%lock%'",
    ],
    silentOn: ['ALTER', 'DROP', 'testops-admin unlock-changelog'],
  },
  ...[
    ['127.0.0.1 (127.0.0.1)', 'every machine has this address'],
    ['0:0:0:0:0:0:0:1 (0:0:0:0:0:0:0:1)', 'every machine has this address'],
    ['fe80::1%eth0 (fe80::1%eth0)', 'link-local'],
    ['169.254.3.4 (169.254.3.4)', 'link-local'],
    ['172.18.0.5 (172.18.0.5)', 'every Docker host uses the same addresses for its bridges and containers'],
    ['10.0.0.7 (10.0.0.7)', 'another machine may have the same address'],
  ].map(
    ([lockedBy, why]): Case => ({
      situation: `held by ${lockedBy} alone, with no session and no instance left`,
      sources: { database: database([held({ lockedBy })]), service: dead, ...down },
      status: 'problem',
      severity: 'error',
      says: ['Cannot tell whether the holder is alive', why!],
      silentOn: ['is dead'],
    }),
  ),
  {
    situation: 'a holder with a very long name',
    sources: { database: database([held({ lockedBy: long })]), service: dead, ...down },
    status: 'problem',
    severity: 'error',
    says: ['… (236 characters) has held the change-log lock'],
    silentOn: [long.slice(0, 130)],
  },
  {
    situation: 'it has got its lock, and given it back',
    sources: { database: database([free]), service: set({}), logs: starting, ...down },
    status: 'ok',
  },
  {
    situation: 'it waited once, and works',
    sources: { database: database([free]), service: set({}), logs: waits },
    status: 'ok',
  },
]
