import { expect, test } from 'vitest'
import type { HostPort, Reach } from '../../../src/core/endpoint.ts'
import { AdminError } from '../../../src/core/error.ts'
import { apiEndpoint } from '../../../src/runtime/parts/api.ts'
import { brokerEndpoint } from '../../../src/runtime/endpoints/broker.ts'
import type { EndpointContext } from '../../../src/runtime/endpoints/context.ts'
import { databaseEndpoints } from '../../../src/runtime/endpoints/database.ts'
import { sessionsEndpoint } from '../../../src/runtime/endpoints/sessions.ts'
import { situation } from './situation.ts'

const vendor = { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' }
const reach: Reach = async ({ port }) => ({ host: 'through-the-platform', port, command: null })

const parts: readonly [
  string,
  (context: EndpointContext) => Promise<{ reach?: Reach }>,
  (host: string) => string,
  (host: string) => Record<string, string>,
][] = [
  [
    'database',
    async (context) => (await databaseEndpoints(context))[0],
    (host) => `database: {url: "postgresql://${host}:5432/d"}`,
    (host) => ({ SPRING_DATASOURCE_URL: `jdbc:postgresql://${host}:5432/d` }),
  ],
  [
    'broker',
    brokerEndpoint,
    (host) => `broker: {url: "amqp://${host}:5672"}`,
    (host) => ({ SPRING_RABBITMQ_ADDRESSES: `amqp://${host}:5672` }),
  ],
  [
    'session store',
    sessionsEndpoint,
    (host) => `sessions: {url: "redis://${host}:6379"}`,
    (host) => ({ SPRING_DATA_REDIS_HOST: host }),
  ],
  [
    'API',
    async (context) => apiEndpoint(context, vendor),
    (host) => `url: "http://${host}:8080"`,
    (host) => ({ VENDOR_ENDPOINT: `http://${host}:8080` }),
  ],
]

/** Whether an address is reached through the platform. */
async function isThrough(endpoint: { reach?: Reach }, address: HostPort): Promise<boolean> {
  return ((await endpoint.reach?.(address)) ?? null) !== null
}

test.each(parts)(
  'what the configuration calls this machine is this machine, and not the container of the service: %s',
  async (_, endpointOf, configured, settings) => {
    const ofOperator = async (host: string): Promise<boolean> =>
      isThrough(await endpointOf({ ...(await situation(configured(host))), reach }), { host, port: 1 })
    const ofService = async (host: string): Promise<boolean> =>
      isThrough(await endpointOf({ ...(await situation('timeZone: UTC', settings(host))), reach }), { host, port: 1 })
    expect([await ofOperator('127.0.0.1'), await ofOperator('localhost'), await ofOperator('db')]).toEqual([
      false,
      false,
      true,
    ])
    expect([await ofService('127.0.0.1'), await ofService('localhost'), await ofService('db')]).toEqual([
      true,
      true,
      true,
    ])
  },
)

test.each(parts)(
  'a name that the platform does not have is used as it is where the configuration has it, and where the ' +
    'service has it, is not: %s',
  async (_, endpointOf, configured, settings) => {
    const without: Reach = async ({ host, port }) => {
      throw new AdminError('UNAVAILABLE', `no Service ${host}`, [], { obstacle: { kind: 'unresolved', host, port } })
    }
    const ofOperator = await endpointOf({ ...(await situation(configured('db'))), reach: without })
    const ofService = await endpointOf({ ...(await situation('timeZone: UTC', settings('db'))), reach: without })
    expect(await isThrough(ofOperator, { host: 'db', port: 1 })).toBe(false)
    await expect(isThrough(ofService, { host: 'db', port: 1 })).rejects.toThrow('no Service db')
    const unready: Reach = async () => {
      throw new AdminError('UNAVAILABLE', 'no pod')
    }
    await expect(
      isThrough(await endpointOf({ ...(await situation(configured('db'))), reach: unready }), { host: 'db', port: 1 }),
    ).rejects.toThrow('no pod')
  },
)
