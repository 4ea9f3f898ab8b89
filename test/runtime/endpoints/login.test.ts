import { expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import { brokerEndpoint } from '../../../src/runtime/endpoints/broker.ts'
import type { Login } from '../../../src/runtime/endpoints/context.ts'
import { databaseEndpoints } from '../../../src/runtime/endpoints/database.ts'
import { toldByLogin } from '../../../src/runtime/endpoints/context.ts'
import { sessionsEndpoint } from '../../../src/runtime/endpoints/sessions.ts'
import { situation } from './situation.ts'

type Settings = Readonly<Record<string, string>> | null

const database = {
  SPRING_DATASOURCE_URL: 'jdbc:postgresql://db/testops',
  SPRING_DATASOURCE_USERNAME: 'testops',
  SPRING_DATASOURCE_PASSWORD: 'p',
}
const broker = { SPRING_RABBITMQ_HOST: 'mq', SPRING_RABBITMQ_USERNAME: 'testops', SPRING_RABBITMQ_PASSWORD: 'p' }
const sessions = { SPRING_DATA_REDIS_HOST: 'redis', SPRING_DATA_REDIS_PASSWORD: 'p' }
const unread = 'this version reads the service on platform `host` only'

/** What a secret of the configuration gives in `situation`. */
const same = 'of-configuration'
const service: Login = { isService: true, unread: null }
const own: Login = { isService: false, unread: null }

test.each<[what: string, lines: string, settings: Settings, login: Login]>([
  ["the service's", '', database, service],
  ["the service's at another address", 'database: {url: "postgresql://tunnel/testops"}', database, service],
  ["the service's user with another password", 'database: {password: {env: PASSWORD}}', database, own],
  [
    "the service's user and password, written down here too",
    'database: {url: "postgresql://testops@db/testops", password: {env: PASSWORD}}',
    { ...database, SPRING_DATASOURCE_PASSWORD: same },
    service,
  ],
  [
    'another user',
    'database: {user: doctor, password: {env: PASSWORD}}',
    { ...database, SPRING_DATASOURCE_PASSWORD: same },
    own,
  ],
  ['a user of its own, where the service tells nothing of a database', 'database: {url: "postgresql://h/d"}', {}, own],
  [
    'no password, where the settings cannot be had',
    'database: {url: "postgresql://u@h/d"}',
    null,
    { isService: false, unread },
  ],
  [
    'a password, where the settings cannot be had',
    'database: {url: "postgresql://u@h/d", password: {env: PASSWORD}}',
    null,
    own,
  ],
])("the database's login: %s", async (_, lines, settings, login) => {
  expect((await databaseEndpoints(await situation(lines, settings)))[0].login).toEqual(login)
})

test('a further database that is configured has the login of the configuration', async () => {
  const lines = 'database: [{password: {env: PASSWORD}}, {url: "postgresql://h2/d2"}]'
  const endpoints = await databaseEndpoints(await situation(lines, { ...database, SPRING_DATASOURCE_PASSWORD: same }))
  expect(endpoints.map(({ login }) => login)).toEqual([service, own])
})

test.each<[what: string, lines: string, settings: Settings, login: Login]>([
  ["the service's", '', broker, service],
  ["the broker's own guest, as the service has it", '', { SPRING_RABBITMQ_HOST: 'mq' }, service],
  ["the service's at another address", 'broker: {url: "amqp://tunnel"}', broker, service],
  ['guest, where the service has a user', 'broker: {url: "amqp://guest@tunnel"}', broker, own],
  ['guest, where the service tells nothing of a broker', 'broker: {url: "amqp://tunnel"}', {}, own],
  ["the service's user with another password", 'broker: {password: {env: PASSWORD}}', broker, own],
  [
    'no password, where the settings cannot be had',
    'broker: {url: "amqp://tunnel"}',
    null,
    { isService: false, unread },
  ],
])("the broker's login: %s", async (_, lines, settings, login) => {
  expect((await brokerEndpoint(await situation(lines, settings))).login).toEqual(login)
})

test.each<[what: string, lines: string, settings: Settings, login: Login]>([
  ["the service's", '', sessions, service],
  ['none, as the service', 'sessions: {url: "redis://tunnel"}', { SPRING_DATA_REDIS_HOST: 'redis' }, service],
  ['none, where the service tells nothing of a store', 'sessions: {url: "redis://tunnel"}', {}, own],
  [
    "a password that is not the service's",
    'sessions: {url: "redis://tunnel", password: {env: PASSWORD}}',
    sessions,
    own,
  ],
  ['none, where the settings cannot be had', 'sessions: {url: "redis://tunnel"}', null, { isService: false, unread }],
])("the session store's login: %s", async (_, lines, settings, login) => {
  expect((await sessionsEndpoint(await situation(lines, settings))).login).toEqual(login)
})

test.each<[what: string, code: AdminError['code'], login: Login, isOwn: boolean, suggestions: string[]]>([
  ["the service's password", 'UNAUTHENTICATED', service, false, ['look']],
  ['another password', 'UNAUTHENTICATED', own, true, ['look']],
  ['a user who may not', 'FORBIDDEN', own, true, ['look']],
  [
    'a password that is not known',
    'UNAUTHENTICATED',
    { isService: false, unread },
    true,
    ['look', `no password is configured, and ${unread}`],
  ],
  ['nothing that a login has to do with', 'UNREACHABLE', own, false, ['look']],
])('what is refused is %s', async (_, code, login, isOwn, suggestions) => {
  const cause = new Error('said')
  const error: unknown = await toldByLogin(
    login,
    Promise.reject(new AdminError(code, 'refused', ['look'], { cause })),
  ).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(AdminError)
  expect(error).toMatchObject({
    code,
    message: 'refused',
    suggestions,
    cause,
    obstacle: isOwn ? { kind: 'login' } : null,
  })
})

test('what is opened, and bugs, pass', async () => {
  expect(await toldByLogin(own, Promise.resolve('opened'))).toBe('opened')
  await expect(toldByLogin(own, Promise.reject(new TypeError('oops')))).rejects.toThrow(TypeError)
})
