import { expect, test } from 'vitest'
import { databaseEndpoints } from '../../../src/runtime/endpoints/database.ts'
import { parseDatabaseAddress } from '../../../src/runtime/endpoints/addresses.ts'
import { errorOf } from '../error-of.ts'
import { clear, situation, withoutLogin } from './situation.ts'

const plain = { user: null, password: null, tlsMode: 'prefer', caFile: null, schema: null }

test.each([
  [
    'postgresql://testops@db.example.org/testops',
    { ...plain, hosts: [{ host: 'db.example.org', port: 5432 }], database: 'testops', user: 'testops' },
  ],
  [
    'jdbc:postgresql://h1:5433,h2/d?targetServerType=master',
    {
      ...plain,
      hosts: [
        { host: 'h1', port: 5433 },
        { host: 'h2', port: 5432 },
      ],
      database: 'd',
    },
  ],
  [
    'jdbc:postgresql://[::1]:5433/d?sslmode=verify-full&sslrootcert=/ca.pem',
    { ...plain, hosts: [{ host: '::1', port: 5433 }], database: 'd', tlsMode: 'verify', caFile: '/ca.pem' },
  ],
  [
    'jdbc:postgresql://h/d?sslmode=require&currentSchema=%22app%22,public&ApplicationName=x',
    { ...plain, hosts: [{ host: 'h', port: 5432 }], database: 'd', tlsMode: 'require', schema: 'app' },
  ],
  [
    'jdbc:postgresql://h/d?ssl=true&sslfactory=org.postgresql.ssl.NonValidatingFactory',
    { ...plain, hosts: [{ host: 'h', port: 5432 }], database: 'd', tlsMode: 'require' },
  ],
  [
    'jdbc:postgresql://h/d?ssl=true',
    { ...plain, hosts: [{ host: 'h', port: 5432 }], database: 'd', tlsMode: 'verify' },
  ],
  [
    'jdbc:postgresql://h/d?sslmode=disable',
    { ...plain, hosts: [{ host: 'h', port: 5432 }], database: 'd', tlsMode: 'disable' },
  ],
  ['jdbc:postgresql:d', { ...plain, hosts: [{ host: 'localhost', port: 5432 }], database: 'd' }],
  [
    'postgresql://us%40er:p%2Fw@h/d%20b',
    { ...plain, hosts: [{ host: 'h', port: 5432 }], database: 'd b', user: 'us@er', password: 'p/w' },
  ],
  [
    'jdbc:postgresql://h/?user=u&password=p',
    { ...plain, hosts: [{ host: 'h', port: 5432 }], database: 'u', user: 'u', password: 'p' },
  ],
])('%s', (address, expected) => {
  expect(parseDatabaseAddress(address)).toEqual(expected)
})

const service = {
  SPRING_DATASOURCE_URL: 'jdbc:postgresql://db/testops',
  SPRING_DATASOURCE_USERNAME: 'testops',
  SPRING_DATASOURCE_PASSWORD: 'of-service',
}
const main = {
  hosts: [{ host: 'db', port: 5432 }],
  database: 'testops',
  user: 'testops',
  password: 'secret of-service',
  tls: { mode: 'prefer', ca: null },
  schema: null,
}

test.each([
  ["the service's own settings suffice", '', service, [main]],
  [
    'further data sources are looked at, too, each database once',
    '',
    {
      ...service,
      SPRING_DATASOURCEUPLOADER_URL: 'jdbc:postgresql://db/testops',
      SPRING_DATASOURCEUPLOADER_USERNAME: 'uploader',
      SPRING_DATASOURCEANALYTICS_URL: 'jdbc:postgresql://db2/analytics?user=a&password=p',
    },
    [main, { ...main, hosts: [{ host: 'db2', port: 5432 }], database: 'analytics', user: 'a', password: 'secret p' }],
  ],
  [
    'the database of its Liquibase alone is looked at, too',
    '',
    {
      ...service,
      SPRING_LIQUIBASE_URL: 'jdbc:postgresql://db2/migrations',
      SPRING_LIQUIBASE_USER: 'migrator',
      SPRING_LIQUIBASE_PASSWORD: 'm',
    },
    [
      main,
      { ...main, hosts: [{ host: 'db2', port: 5432 }], database: 'migrations', user: 'migrator', password: 'secret m' },
    ],
  ],
  [
    'the address of its Liquibase is the same',
    '',
    { ...service, SPRING_LIQUIBASE_URL: 'jdbc:postgresql://db:5432/testops' },
    [main],
  ],
  ['the address of its Liquibase is not understood', '', { ...service, SPRING_LIQUIBASE_URL: '${LIQUIBASE}' }, [main]],
  [
    'the configuration names the database, and its Liquibase has another user',
    'database: {url: "postgresql://tunnel:15432/testops"}',
    { SPRING_LIQUIBASE_URL: 'jdbc:postgresql://db2/migrations', SPRING_LIQUIBASE_USER: 'migrator' },
    [{ ...main, hosts: [{ host: 'tunnel', port: 15_432 }], user: null, password: null }],
  ],
  [
    'the configuration stands above them',
    'database: {url: "postgresql://other@tunnel:15432/testops"}',
    service,
    [{ ...main, hosts: [{ host: 'tunnel', port: 15_432 }], user: 'other', password: null }],
  ],
  [
    'what it leaves out is taken from them',
    'database: {url: "postgresql://tunnel:15432/testops"}',
    service,
    [{ ...main, hosts: [{ host: 'tunnel', port: 15_432 }] }],
  ],
  [
    'for the same user',
    'database: {url: "postgresql://testops@tunnel/testops"}',
    service,
    [{ ...main, hosts: [{ host: 'tunnel', port: 5432 }] }],
  ],
  [
    'a user of its own',
    'database: {user: doctor, password: {env: PASSWORD}}',
    service,
    [{ ...main, user: 'doctor', password: 'secret of-configuration' }],
  ],
  [
    'a user of its own without password',
    'database: {user: doctor}',
    service,
    [{ ...main, user: 'doctor', password: null }],
  ],
  [
    'a list',
    'database: [{url: "postgresql://a/one"}, {url: "postgresql://u@b/two", ca: ca.pem}]',
    null,
    [
      { ...main, hosts: [{ host: 'a', port: 5432 }], database: 'one', user: null, password: null },
      {
        ...main,
        hosts: [{ host: 'b', port: 5432 }],
        database: 'two',
        user: 'u',
        password: null,
        tls: { mode: 'verify', ca: '-----BEGIN CERTIFICATE-----\n' },
      },
    ],
  ],
])('%s', async (_, lines, settings, expected) => {
  expect(clear((await databaseEndpoints(await situation(lines, settings))).map(withoutLogin))).toEqual(expected)
})

test.each([
  [
    '',
    {},
    "NOT_CONFIGURED: no database is configured for `prod`: set `database.url` (the service's settings do not " +
      'contain this address)',
  ],
  [
    '',
    null,
    'NOT_CONFIGURED: no database is configured for `prod`: set `database.url` (this version reads the service ' +
      'on platform `host` only)',
  ],
  [
    '',
    { SPRING_DATASOURCE_URL: 'jdbc:mysql://u:hunter2@h/d' },
    "CONFIGURATION: the service's setting SPRING_DATASOURCE_URL must begin with postgresql:// or postgres://",
  ],
  [
    'database: {password: {env: NONE}}',
    service,
    'SECRET_MISSING: the secret at testops-admin.yaml:4 is missing: the environment variable NONE is not set',
  ],
])('%s with %j', async (lines, settings, expected) => {
  const workingContext = await situation(lines, settings)
  expect((await errorOf(databaseEndpoints(workingContext))).replace(/at \/.*\/(testops-admin.yaml)/, 'at $1')).toBe(
    expected,
  )
})
