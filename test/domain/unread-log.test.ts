import { expect, test } from 'vitest'
import { surroundings } from '../../src/domain/lock/situation.ts'
import { recentRecords } from '../../src/domain/service.ts'
import { AdminError } from '../../src/core/error.ts'
import { fakeApi, fakeLogs, fakeService, record } from '../fakes/index.ts'

const deployment = {
  name: 'prod',
  platform: 'kubernetes',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: 'UTC',
} as const
const waits = { complete: true, records: [record('liquibase.lockservice : Waiting for changelog lock....')] }
const partly = fakeLogs({
  recent: { ...waits, unread: [{ name: 'testops-2', error: new AdminError('UNREACHABLE', 'no way') }] },
})

test(
  'that one pod waits for the lock proves nothing where the log of another, ' + 'which may hold it, cannot be read',
  async () => {
    const recordsOf = async (logs: typeof partly): Promise<number> =>
      (await surroundings({ service: fakeService(), logs, api: fakeApi() }, deployment)).records.length
    expect([await recordsOf(fakeLogs({ recent: waits })), await recordsOf(partly)]).toEqual([1, 0])
  },
)

test('who looks for one line takes it from whatever was read', async () => {
  expect((await recentRecords(partly)).length).toBe(1)
})
