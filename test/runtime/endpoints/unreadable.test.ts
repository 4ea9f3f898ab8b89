import { describe, expect, it } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import { UnreadableSecret } from '../../../src/core/secret.ts'
import type { Secret } from '../../../src/core/secret.ts'
import { brokerEndpoint } from '../../../src/runtime/endpoints/broker.ts'
import type { EndpointContext } from '../../../src/runtime/endpoints/context.ts'
import { databaseEndpoints } from '../../../src/runtime/endpoints/database.ts'
import { sessionsEndpoint } from '../../../src/runtime/endpoints/sessions.ts'
import { told } from '../../platforms/kubernetes/cluster.ts'
import { situation } from './situation.ts'

const why = (name: string): AdminError =>
  new AdminError('FORBIDDEN', `${name} may not be read`, ['kubectl auth can-i get secrets'], {
    obstacle: { kind: 'settings' },
  })

/** The chart's settings, of which those out of its Secret may not be read. */
async function forbidden(lines: string): Promise<EndpointContext> {
  const context = await situation(lines)
  const hidden = [
    'SPRING_DATASOURCE_USERNAME',
    'SPRING_DATASOURCE_PASSWORD',
    'SPRING_RABBITMQ_USERNAME',
    'SPRING_RABBITMQ_PASSWORD',
    'SPRING_DATA_REDIS_PASSWORD',
  ]
  const settings = new Map<string, string | Secret>([
    ['SPRING_DATASOURCE_URL', 'jdbc:postgresql://db:5432/testops'],
    ['SPRING_RABBITMQ_ADDRESSES', 'amqp://mq:5672'],
    ['SPRING_DATA_REDIS_HOST', 'redis'],
    ...hidden.map((name) => [name, new UnreadableSecret(why(name))] as const),
  ])
  return { ...context, environment: async () => settings }
}

const login = (section: string, user = 'me'): string =>
  `${section}: {${user === '' ? '' : `user: ${user}, `}password: {env: PASSWORD}}`

describe('settings that may not be read', () => {
  it.each<[string, string, (context: EndpointContext) => Promise<unknown>, string]>([
    ['the database', 'platform: kubernetes', databaseEndpoints, 'SPRING_DATASOURCE_PASSWORD'],
    ['the broker', 'platform: kubernetes', brokerEndpoint, 'SPRING_RABBITMQ_USERNAME'],
    ['the sessions', 'platform: kubernetes', sessionsEndpoint, 'SPRING_DATA_REDIS_PASSWORD'],
    ['the database with a password alone', login('database', ''), databaseEndpoints, 'SPRING_DATASOURCE_PASSWORD'],
  ])('are told by what needs them: %s', async (_, lines, endpoint, name) => {
    expect(await told(endpoint(await forbidden(lines)))).toEqual({
      code: 'FORBIDDEN',
      message: `${name} may not be read`,
      suggestions: ['kubectl auth can-i get secrets'],
    })
  })

  it.each<[string, string, (context: EndpointContext) => Promise<unknown>, object]>([
    [
      'the database',
      login('database'),
      async (it) => (await databaseEndpoints(it))[0],
      { hosts: [{ host: 'db', port: 5432 }], user: 'me' },
    ],
    ['the broker', login('broker'), brokerEndpoint, { host: 'mq', user: 'me' }],
    ['the sessions', login('sessions', ''), sessionsEndpoint, { host: 'redis', user: null }],
  ])('are not missed where the configuration says who signs in: %s', async (_, lines, endpoint, expected) => {
    expect(await endpoint(await forbidden(lines))).toMatchObject({ ...expected, login: { isService: false } })
  })
})
