import { expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import { resetQueues } from '../../../src/repairs/reset-queues.ts'
import { brokerWorld, consumer, fakeApi, fakeLogs, fakeService } from '../../fakes/index.ts'

test.each([
  {
    what: 'a prefix that nothing shows is refused',
    environment: { TZ: 'UTC' },
    said:
      "REFUSED the prefix of the vendor's settings is unknown: no name in the service's settings ends in " +
      '_RABBIT_DURABLE or _JWT_ACCESS_TOKEN_VALIDITY_SECONDS. Nothing was changed',
  },
  {
    what: 'one that a setting shows is written',
    environment: { ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS: '3600' },
    said: 'ALLURE_RABBIT_DURABLE',
  },
])('$what', async ({ environment, said }) => {
  const deployment = {
    name: 'prod',
    platform: 'host',
    vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
    assumedVendor: ['prefix', 'package'],
    timeZone: null,
  } as const
  const { source } = brokerWorld({
    queues: [{ name: 'upload', durable: false }],
    answers: { consumers: [consumer({ queue: 'upload' })] },
  })
  const service = fakeService({ environment: new Map(Object.entries(environment)) })
  const planned = resetQueues.plan({ broker: source, service, logs: fakeLogs(), api: fakeApi() }, deployment, {
    drainSeconds: 0,
    discard: false,
    queues: [],
  })
  const outcome = await planned.then(
    ({ steps }) => steps.flatMap(({ action }) => (action.kind === 'set-setting' ? [action.name] : [])).join(),
    (error: unknown) => (error instanceof AdminError ? `${error.code} ${error.message}` : error),
  )
  expect(outcome).toBe(said)
})
