import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashPassword, passwordMatches } from '../../../src/lab/practice-service/data/seeds.ts'
import { parseDuration, parseJdbcUrl, readSettings } from '../../../src/lab/practice-service/settings.ts'
import { shortDate } from '../../../src/lab/practice-service/liquibase/lock-service.ts'
import {
  abbreviated,
  createLog,
  levelFilter,
  throwable,
  timestamps,
} from '../../../src/lab/practice-service/log/log.ts'
import { practiceMachine, readMachine } from '../../../src/lab/practice-service/machine.ts'
import { parseEnvironment } from '../../../src/lab/service-control/unit.ts'
import { onEnd, spawnService } from './support/deployment.ts'
import { buildPrograms } from './support/programs.ts'
import type { Programs } from './support/programs.ts'

let programs: Programs
beforeAll(async () => void (programs = await buildPrograms()))
afterAll(() => programs.remove())

const moment = Date.UTC(2026, 10, 20, 18, 4, 5, 7)

test.each([
  ['UTC', '2026-11-20 18:04:05.007'],
  ['Asia/Tokyo', '2026-11-21 03:04:05.007'],
  ['America/New_York', '2026-11-20 13:04:05.007'],
])('a time in %s', (zone, expected) => expect(timestamps(zone)(moment)).toBe(expected))

test("Liquibase's date is Java's SHORT in the zone of the JVM", () => {
  expect(shortDate(new Date(moment), 'Asia/Tokyo')).toBe('11/21/26, 3:04 AM')
  expect(shortDate(new Date(moment), 'UTC')).toBe('11/20/26, 6:04 PM')
})

test.each([
  ['liquibase.lockservice', 'liquibase.lockservice'],
  ['org.springframework.boot.SpringApplication', 'o.s.boot.SpringApplication'],
  [
    'org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer',
    'o.s.a.r.l.SimpleMessageListenerContainer',
  ],
  [
    'org.springframework.boot.web.servlet.context.AnnotationConfigServletWebServerApplicationContext',
    'ConfigServletWebServerApplicationContext',
  ],
])('the logger %s', (name, expected) => expect(abbreviated(name)).toBe(expected))

test('a record with an exception and its causes', () => {
  let text = ''
  const log = createLog({
    write: (part) => (text += part),
    clock: { offsetMs: 0, now: () => moment },
    timeZone: 'UTC',
    enabled: () => true,
  })
  const cause = throwable('java.net.ConnectException', 'Connection refused', ['a.B.c(B.java:1)'])
  log
    .from('a-rather-long-thread-name')
    .error('a.Logger', 'Failed', throwable('java.io.IOException', null, ['d.E.f(E.java:2)'], cause))
  expect(text.replace(` ${process.pid} `, ' PID ')).toMatchInlineSnapshot(`
    "2026-11-20 18:04:05.007 ERROR PID --- [ong-thread-name] a.Logger                                 : Failed

    java.io.IOException
    	at d.E.f(E.java:2)
    Caused by: java.net.ConnectException: Connection refused
    	at a.B.c(B.java:1)
    	... 32 common frames omitted

    "
  `)
})

test('levels are the longest logger that fits', () => {
  const enabled = levelFilter({
    LOGGING_LEVEL_VENDOR_PACKAGE: 'warn',
    LOGGING_LEVEL_VENDOR_PACKAGE_INTEGRATION: 'debug',
    LOGGING_LEVEL_LIQUIBASE: 'off',
    LOGGING_LEVEL_X: 'loud',
  })
  expect(enabled('INFO', 'vendor.package.report.Any')).toBe(false)
  expect(enabled('DEBUG', 'vendor.package.integration.http.Any')).toBe(true)
  expect(enabled('ERROR', 'liquibase.lockservice')).toBe(false)
  expect(enabled('INFO', 'com.zaxxer.hikari.HikariDataSource')).toBe(true)
  expect(enabled('DEBUG', 'com.zaxxer.hikari.HikariDataSource')).toBe(false)
  expect(levelFilter({ LOGGING_LEVEL_ROOT: 'ERROR' })('WARN', 'any')).toBe(false)
})

test.each([
  ['10d', 864_000_000],
  ['30m', 1_800_000],
  ['3600', 3_600_000],
  ['500ms', 500],
  ['PT1H30M', 5_400_000],
  ['P1DT1S', 86_401_000],
  ['P', null],
  ['ten', null],
])('the duration %s', (text, expected) => expect(parseDuration(text)).toBe(expected))

test.each([
  [
    'jdbc:postgresql://db:5433/testops',
    {
      host: 'db',
      port: 5433,
      database: 'testops',
      applicationName: 'PostgreSQL JDBC Driver',
      schema: null,
      encrypted: false,
    },
  ],
  ['jdbc:postgresql://h1:1,h2:2/db?targetServerType=master&sslmode=require', { host: 'h1', port: 1, encrypted: true }],
  [
    'jdbc:postgresql://[fd00::2]/my%20db?currentSchema=s&ApplicationName=testops-service',
    { host: 'fd00::2', port: 5432, database: 'my db', schema: 's', applicationName: 'testops-service' },
  ],
  ['jdbc:mysql://db/x', null],
])('the address %s', (url, expected) => {
  const parsed = parseJdbcUrl(url)
  if (expected === null) expect(parsed).toBeNull()
  else expect(parsed).toMatchObject(expected)
})

test('the broker is taken from the addresses, else from host and port', () => {
  const base = {
    SPRING_DATASOURCE_URL: 'jdbc:postgresql://db/x',
    SPRING_RABBITMQ_USERNAME: 'u',
    SPRING_RABBITMQ_PASSWORD: 'p',
  }
  const broker = (more: Record<string, string>): object => {
    const { password, ...rest } = readSettings(
      { ...base, ...more },
      { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
    ).broker
    return { ...rest, password: password.reveal() }
  }
  expect(
    broker({ SPRING_RABBITMQ_HOST: 'mq', SPRING_RABBITMQ_PORT: '5673', SPRING_RABBITMQ_VIRTUAL_HOST: 'report' }),
  ).toEqual({
    host: 'mq',
    port: 5673,
    vhost: 'report',
    user: 'u',
    password: 'p',
    durable: false,
  })
  expect(broker({ SPRING_RABBITMQ_ADDRESSES: 'amqp://a:b%2F@mq1:5674/v%2F1,mq2' })).toMatchObject({
    host: 'mq1',
    port: 5674,
    vhost: 'v/1',
    user: 'a',
    password: 'b/',
  })
  expect(broker({ SPRING_RABBITMQ_ADDRESSES: 'mq3:5675', SPRING_RABBITMQ_HOST: 'no' })).toMatchObject({
    host: 'mq3',
    port: 5675,
    vhost: '/',
  })
})

test('settings bear the prefix of the vendor', () => {
  const settings = readSettings(
    {
      SPRING_DATASOURCE_URL: 'jdbc:postgresql://db/x',
      ALLURE_RABBIT_DURABLE: 'true',
      ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS: '60',
      ALLURE_REDIS_NAMESPACE: 'a',
      TZ: 'Not/AZone',
    },
    { prefix: 'ALLURE', package: 'io.qameta.allure' },
  )
  expect(settings).toMatchObject({
    broker: { durable: true },
    tokenSeconds: 60,
    sessions: { namespace: 'a', maxInactiveSeconds: 1800 },
    timeZone: 'UTC',
  })
})

test('environment files are read as systemd reads them', () => {
  expect(
    parseEnvironment('# comment\n\nA=1\n B = 2\nC="two words"\nD=\'$x\'\nE=a=b\nF="say \\"x\\" \\\\"\nG=\nnonsense\n'),
  ).toEqual({ A: '1', C: 'two words', D: '$x', E: 'a=b', F: 'say "x" \\', G: '' })
})

test('passwords are hashed with a salt of their own', () => {
  const [first, second] = [hashPassword('secret'), hashPassword('secret')]
  expect(first).not.toBe(second)
  expect([
    passwordMatches('secret', first),
    passwordMatches('Secret', first),
    passwordMatches('secret', 'plain'),
  ]).toEqual([true, false, false])
})

describe('a machine that is not described well', () => {
  test.each([
    [[], 'the content has the wrong type'],
    [{ image: 5 }, 'image has the wrong type'],
    [{ cpuinfo: 5 }, 'cpuinfo has the wrong type'],
    [{ brokerRetryMs: -1 }, 'brokerRetryMs is negative'],
    [{ vendor: { prefix: 1 } }, 'vendor.prefix has the wrong type'],
    [{ migration: { statements: 5 } }, 'migration.name is missing'],
    [{ migration: { name: 'x', sql: 'y' } }, 'migration.sql is unknown'],
  ])('%j', (values, said) => expect(() => practiceMachine(values)).toThrow(`machine file is invalid: ${said}`))

  test('is filled in where it says little', () => {
    expect(practiceMachine({ clockOffsetMs: -5, migration: { name: 'x' } })).toMatchObject({
      clockOffsetMs: -5,
      build: '527u01',
      vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
      migration: { name: 'x', changeSets: 1, statements: 100, statementMs: 50 },
    })
  })

  test('ends the program with one line', async () => {
    const child = await spawnService(programs.service, {}, { clockOffset: 5 })
    expect(await child.ended).toEqual({ code: 64, signal: null })
    expect(child.output()).toBe("the practice service's machine file is invalid: clockOffset is unknown\n")
  })

  test('or not in JSON', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'machine-'))
    onEnd(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'machine.json'), '{')
    await expect(readMachine(join(folder, 'machine.json'))).rejects.toThrow(
      /could not read the machine file .*machine\.json: /,
    )
    await expect(readMachine(join(folder, 'none.json'))).rejects.toThrow(
      /could not read the machine file .*none\.json: /,
    )
    expect(await readMachine(undefined)).toMatchObject({
      clockOffsetMs: 0,
      image: 'testops',
      cpuinfo: null,
      migration: null,
    })
  })

  test('or whose control port is taken', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onEnd(() => new Promise((resolve) => other.close(resolve)))
    const { port } = other.address() as { port: number }
    const child = await spawnService(
      programs.service,
      { SPRING_DATASOURCE_URL: 'jdbc:postgresql://db/x' },
      { controlPort: port },
    )
    expect(await child.ended).toEqual({ code: 69, signal: null })
    expect(child.output()).toContain(`port ${port}, which controls the practice service, is taken\n`)
  })
})
