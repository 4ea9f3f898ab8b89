import { systemProperty } from './jvm-options.ts'

/**
 * Where the service's own settings make its Liquibase look (FIELD-NOTES.md 2, "Spring Boot's settings of Liquibase").
 */
export interface LiquibaseSettings {
  /** Name of the lock table; null for the usual one */
  table: string | null
  /** Schema of Liquibase's own tables; null for the connection's */
  schema: string | null
  /**
   * Schemas of the connection, as `currentSchema` of the JDBC address names them; null for PostgreSQL's setting of the
   * user
   */
  searchPath: readonly string[] | null
  /** `NAME=value` of each setting that says so */
  shown: readonly string[]
}

/** Spring's own settings, then Liquibase's; each by its variables, and by its options of the JVM. */
const ways = {
  table: [
    {
      variables: ['SPRING_LIQUIBASE_DATABASE_CHANGE_LOG_LOCK_TABLE', 'SPRING_LIQUIBASE_DATABASECHANGELOGLOCKTABLE'],
      option: 'spring.liquibase.database-change-log-lock-table',
    },
    { variables: [], option: 'liquibase.databaseChangeLogLockTableName' },
  ],
  schema: [
    {
      variables: ['SPRING_LIQUIBASE_LIQUIBASE_SCHEMA', 'SPRING_LIQUIBASE_LIQUIBASESCHEMA'],
      option: 'spring.liquibase.liquibase-schema',
    },
    { variables: [], option: 'liquibase.liquibaseSchemaName' },
    {
      variables: ['SPRING_LIQUIBASE_DEFAULT_SCHEMA', 'SPRING_LIQUIBASE_DEFAULTSCHEMA'],
      option: 'spring.liquibase.default-schema',
    },
  ],
} as const

/** Reads the settings of Liquibase. `valueOf`: returns the value of a setting, undefined if it is not set. */
export function liquibaseSettings(valueOf: (name: string) => string | undefined): LiquibaseSettings {
  const [table, schema] = [found(ways.table, valueOf), found(ways.schema, valueOf)]
  const address = /[?&]currentSchema=([^&\s]{1,500})/.exec(
    valueOf('SPRING_LIQUIBASE_URL') || valueOf('SPRING_DATASOURCE_URL') || '',
  )?.[1]
  const searchPath =
    address === undefined
      ? null
      : decoded(address)
          .split(',')
          .map((one) => one.trim().replace(/^"(.*)"$/, '$1'))
  return {
    table: table?.value ?? null,
    schema: schema?.value ?? null,
    searchPath,
    shown: [
      ...[schema, table].flatMap((it) => it?.shown ?? []),
      ...(schema === null && address !== undefined ? [`currentSchema=${address}`] : []),
    ],
  }
}

function found(
  all: readonly { variables: readonly string[]; option: string }[],
  valueOf: (name: string) => string | undefined,
): { value: string; shown: string } | null {
  for (const { variables, option } of all) {
    // a system property takes precedence over an environment variable
    const given = systemProperty(option, valueOf)
    if (given !== undefined) return { value: given, shown: `-D${option}=${given}` }
    const name = variables.find((it) => (valueOf(it) ?? '') !== '')
    if (name !== undefined) return { value: valueOf(name)!, shown: `${name}=${valueOf(name)!}` }
  }
  return null
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
