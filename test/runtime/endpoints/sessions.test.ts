import { expect, test } from 'vitest'
import { sessionsEndpoint } from '../../../src/runtime/endpoints/sessions.ts'
import { errorOf } from '../error-of.ts'
import { clear, situation, withoutLogin } from './situation.ts'

const usual = {
  host: 'redis',
  port: 6379,
  database: 0,
  user: null,
  password: null,
  tls: { mode: 'disable', ca: null },
  namespace: null,
  sentinel: null,
  cluster: null,
}
const nodes = [
  { host: 's1', port: 26_379 },
  { host: 's2', port: 26_380 },
]

test.each([
  ['host alone', '', { SPRING_DATA_REDIS_HOST: 'redis' }, usual],
  [
    'all of it',
    '',
    {
      SPRING_DATA_REDIS_HOST: 'redis',
      SPRING_DATA_REDIS_PORT: '6380',
      SPRING_DATA_REDIS_DATABASE: '3',
      SPRING_DATA_REDIS_PASSWORD: 'p',
      SPRING_DATA_REDIS_SSL_ENABLED: 'true',
    },
    { ...usual, port: 6380, database: 3, password: 'secret p', tls: { mode: 'verify', ca: null } },
  ],
  [
    'an address',
    '',
    { SPRING_DATA_REDIS_URL: 'rediss://u:p@redis/2', SPRING_DATA_REDIS_HOST: 'x' },
    { ...usual, database: 2, user: 'u', password: 'secret p', tls: { mode: 'verify', ca: null } },
  ],
  [
    'sentinels',
    '',
    {
      SPRING_DATA_REDIS_SENTINEL_MASTER: 'm',
      SPRING_DATA_REDIS_SENTINEL_NODES: 's1,s2:26380',
      SPRING_DATA_REDIS_SENTINEL_PASSWORD: 'sp',
      SPRING_DATA_REDIS_PASSWORD: 'p',
    },
    {
      ...usual,
      host: 's1',
      port: 26_379,
      password: 'secret p',
      sentinel: { master: 'm', nodes, password: 'secret sp' },
    },
  ],
  [
    'a cluster',
    '',
    { SPRING_DATA_REDIS_CLUSTER_NODES: 's1:26379,s2:26380' },
    { ...usual, host: 's1', port: 26_379, cluster: nodes },
  ],
  [
    "the sessions' name space",
    '',
    { SPRING_DATA_REDIS_HOST: 'redis', SPRING_SESSION_REDIS_NAMESPACE: 'app' },
    { ...usual, namespace: 'app' },
  ],
  [
    'the configuration',
    'sessions: {url: "redis://redis:6380/1", namespace: "spring:session", password: {env: PASSWORD}}',
    {},
    { ...usual, port: 6380, database: 1, namespace: 'spring:session', password: 'secret of-configuration' },
  ],
  [
    'the configuration with the password of the service',
    'sessions: {url: "redis://tunnel"}',
    { SPRING_DATA_REDIS_HOST: 'redis', SPRING_DATA_REDIS_PASSWORD: 'p' },
    { ...usual, host: 'tunnel', password: 'secret p' },
  ],
  [
    'configured sentinels',
    'sessions: {sentinel: {master: m, nodes: ["s1", "s2:26380"], password: {env: PASSWORD}}}',
    null,
    { ...usual, host: 's1', port: 26_379, sentinel: { master: 'm', nodes, password: 'secret of-configuration' } },
  ],
  [
    'a configured cluster under TLS',
    'sessions: {cluster: ["s1:26379", "s2:26380"], ca: ca.pem}',
    null,
    {
      ...usual,
      host: 's1',
      port: 26_379,
      cluster: nodes,
      tls: { mode: 'verify', ca: '-----BEGIN CERTIFICATE-----\n' },
    },
  ],
])('%s', async (_, lines, settings, expected) => {
  expect(clear(withoutLogin(await sessionsEndpoint(await situation(lines, settings))))).toEqual(expected)
})

test.each([
  [
    {},
    "NOT_CONFIGURED: no session store is configured for `prod`: set `sessions.url` (the service's settings do " +
      'not contain this address)',
  ],
  [
    { SPRING_DATA_REDIS_HOST: 'h', SPRING_DATA_REDIS_DATABASE: 'x' },
    "CONFIGURATION: the service's setting SPRING_DATA_REDIS_DATABASE is not a number",
  ],
])('%j', async (settings, expected) => {
  expect(await errorOf(situation('', settings).then(sessionsEndpoint))).toBe(expected)
})
