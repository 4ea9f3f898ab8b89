import { expect, test } from 'vitest'
import { brokerEndpoint } from '../../../src/runtime/endpoints/broker.ts'
import { errorOf } from '../error-of.ts'
import { clear, situation, withoutLogin } from './situation.ts'

const usual = {
  host: 'mq',
  port: 5672,
  vhost: '/',
  user: 'guest',
  password: 'secret guest',
  tls: { mode: 'disable', ca: null },
  managementUrl: 'http://mq:15672',
}
const user = { SPRING_RABBITMQ_USERNAME: 'testops', SPRING_RABBITMQ_PASSWORD: 'of-service' }
const signedIn = { user: 'testops', password: 'secret of-service' }

test.each([
  ['host alone', '', { SPRING_RABBITMQ_HOST: 'mq' }, usual],
  [
    'host, port, virtual host, user',
    '',
    { ...user, SPRING_RABBITMQ_HOST: 'mq', SPRING_RABBITMQ_PORT: '5673', SPRING_RABBITMQ_VIRTUAL_HOST: 'report' },
    { ...usual, ...signedIn, port: 5673, vhost: 'report', managementUrl: null },
  ],
  ['an address', '', { ...user, SPRING_RABBITMQ_ADDRESSES: 'amqp://mq:5672' }, { ...usual, ...signedIn }],
  ['addresses', '', { ...user, SPRING_RABBITMQ_ADDRESSES: 'mq,mq2:5673' }, { ...usual, ...signedIn }],
  [
    'an address with everything',
    '',
    { ...user, SPRING_RABBITMQ_ADDRESSES: 'amqps://u:p@mq/a%2Fb' },
    {
      ...usual,
      port: 5671,
      vhost: 'a/b',
      user: 'u',
      password: 'secret p',
      tls: { mode: 'verify', ca: null },
      managementUrl: 'https://mq:15671',
    },
  ],
  [
    'encryption by a setting',
    '',
    { SPRING_RABBITMQ_HOST: 'mq', SPRING_RABBITMQ_SSL_ENABLED: 'true' },
    { ...usual, port: 5671, tls: { mode: 'verify', ca: null }, managementUrl: 'https://mq:15671' },
  ],
  [
    'the configuration',
    'broker: {url: "amqp://doctor@mq/", managementUrl: "http://m/path/", password: {env: PASSWORD}}',
    {},
    { ...usual, user: 'doctor', password: 'secret of-configuration', managementUrl: 'http://m/path' },
  ],
  [
    'the configuration with the user of the service',
    'broker: {url: "amqp://tunnel:5672"}',
    { ...user, SPRING_RABBITMQ_HOST: 'mq' },
    { ...usual, ...signedIn, host: 'tunnel', managementUrl: 'http://tunnel:15672' },
  ],
  [
    'another user than the service',
    'broker: {url: "amqp://doctor@tunnel:1"}',
    { ...user, SPRING_RABBITMQ_HOST: 'mq' },
    { ...usual, host: 'tunnel', port: 1, user: 'doctor', password: null, managementUrl: null },
  ],
  ['a configured broker beside SQS', 'broker: {url: "amqp://mq"}', { SPRING_PROFILES_ACTIVE: 'kubernetes,sqs' }, usual],
])('%s', async (_, lines, settings, expected) => {
  expect(clear(withoutLogin(await brokerEndpoint(await situation(lines, settings))))).toEqual(expected)
})

test.each([
  [
    {},
    "NOT_CONFIGURED: no message broker is configured for `prod`: set `broker.url` (the service's settings do " +
      'not contain this address)',
  ],
  [
    { SPRING_PROFILES_ACTIVE: 'kubernetes, sqs' },
    'NOT_CONFIGURED: the service uses SQS (SPRING_PROFILES_ACTIVE names `sqs`), so there is no broker to check',
  ],
  [
    { SPRING_RABBITMQ_HOST: 'mq', SPRING_RABBITMQ_PORT: 'x' },
    "CONFIGURATION: the service's setting SPRING_RABBITMQ_PORT is not a port",
  ],
])('%j', async (settings, expected) => {
  expect(await errorOf(situation('', settings).then(brokerEndpoint))).toBe(expected)
})
