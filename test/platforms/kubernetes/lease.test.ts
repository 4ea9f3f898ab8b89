import { spawnSync } from 'node:child_process'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import type { LockOwner, RepairLock } from '../../../src/core/lock.ts'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import { leaseHolder, leaseLock } from '../../../src/platforms/kubernetes/lease.ts'
import { processName } from '../../../src/adapters/process-identity.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import type { ApiServer } from '../../kubernetes/server.ts'
import type { Stored } from '../../kubernetes/resources.ts'
import { clientFor, startCluster, told } from './cluster.ts'

const anna = { who: 'anna@laptop', what: 'unlock-changelog' }
const ben = { who: 'ben@bastion', what: 'reset-queues' }
const times = { leaseMs: 1000, renewMs: 100 }

interface Place {
  server: ApiServer
  cluster: Cluster
  lockOf: (own: LockOwner, options?: { signal?: AbortSignal; times?: typeof times }) => Promise<RepairLock>
  client: () => ReturnType<typeof clientFor>
  lease: () => (Stored & { spec: Record<string, unknown> }) | null
}

async function place(): Promise<Place> {
  const { server, cluster, environment } = await startCluster()
  const held: RepairLock[] = []
  onTestFinished(async () => void (await Promise.all(held.map(async (lock) => lock.release().catch(() => undefined)))))
  return {
    server,
    cluster,
    async lockOf(own, options = {}) {
      const lock = await leaseLock(await clientFor(environment, { timeoutMs: 500 }), 'testops', own, {
        times,
        ...options,
      })
      held.push(lock)
      return lock
    },
    client: async () => clientFor(environment, { timeoutMs: 500 }),
    lease: () => cluster.find('leases', 'testops', 'testops-admin') as ReturnType<Place['lease']>,
  }
}

const writesOf = ({ requests }: ApiServer): string[] =>
  requests.filter((it) => /^(POST|PUT|PATCH|DELETE) .*leases/.test(it))

/** As an operator on another machine left it. */
function leave(
  { cluster }: Place,
  { agoMs, annotations = {}, seconds = 1 }: { agoMs: number; annotations?: Record<string, string>; seconds?: number },
): void {
  const at = new Date(Date.now() - agoMs).toISOString().replace('Z', '000Z')
  cluster.create('leases', {
    metadata: {
      name: 'testops-admin',
      namespace: 'testops',
      annotations: { 'testops-admin/who': 'carl@elsewhere', 'testops-admin/what': 'flush-sessions', ...annotations },
    },
    spec: {
      holderIdentity: 'carl@elsewhere/1',
      leaseDurationSeconds: seconds,
      acquireTime: '2026-11-20T12:00:00.000000Z',
      renewTime: at,
    },
  })
}

const carl = { who: 'carl@elsewhere', what: 'flush-sessions', since: new Date('2026-11-20T12:00:00Z') }

test('one operator holds it, the other is told who, since when and what', async () => {
  const it = await place()
  const first = await it.lockOf(anna)
  const second = await it.lockOf(ben)
  const begin = Date.now()
  expect([first.where, await first.take(), await first.isHeld()]).toEqual([
    'lease testops-admin in namespace testops',
    null,
    true,
  ])
  const holder = await second.take()
  expect(holder).toEqual({ who: 'anna@laptop', what: 'unlock-changelog', since: expect.any(Date) as Date })
  expect(Math.abs(holder!.since!.getTime() - begin)).toBeLessThan(1000)
  expect(await second.isHeld()).toBe(false)
  await first.release()
  expect([await second.take(), await second.isHeld(), await first.isHeld()]).toEqual([null, true, false])
})

test('of two that take it at once, one gets it', async () => {
  const it = await place()
  const locks = await Promise.all([it.lockOf(anna), it.lockOf(ben)])
  const holders = await Promise.all(locks.map(async (lock) => lock.take()))
  expect(holders.filter((holder) => holder === null)).toHaveLength(1)
})

test('it is renewed while it is held, for longer than it is valid, and no more afterwards', async () => {
  const it = await place()
  const lock = await it.lockOf(anna)
  await lock.take()
  const { acquireTime } = it.lease()!.spec
  await new Promise((resolve) => setTimeout(resolve, 1300))
  expect([await lock.isHeld(), it.lease()!.spec['acquireTime']]).toEqual([true, acquireTime])
  await lock.release()
  expect(it.lease()!.spec).toMatchObject({ holderIdentity: '' })
  expect(JSON.stringify(it.lease())).not.toContain('anna')
  const count = writesOf(it.server).length
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(writesOf(it.server)).toHaveLength(count)
})

test('it is renewed after an interruption, and given back in the end', async () => {
  const { cluster, environment } = await startCluster()
  const over = new AbortController()
  const platform = await openKubernetes(
    { context: null, namespace: null, release: null },
    { timeoutMs: 5000, environment, signal: over.signal },
  )
  onTestFinished(async () => platform.close())
  const lock = (await platform.lock(anna))!
  await lock.take()
  over.abort(new AdminError('INTERRUPTED', 'interrupted by SIGINT'))
  expect(await lock.isHeld()).toBe(true)
  await lock.release()
  expect(cluster.find('leases', 'testops', 'testops-admin')).toMatchObject({ spec: { holderIdentity: '' } })
})

describe('what another has left', () => {
  test('is not taken while it is valid', async () => {
    const it = await place()
    leave(it, { agoMs: 1000, seconds: 600 })
    expect(await (await it.lockOf(anna)).take()).toEqual(carl)
    expect(writesOf(it.server)).toEqual([])
  })

  test.each([
    { clock: 'right', agoMs: 5000 },
    { clock: 'ahead', agoMs: -3_600_000 },
    { clock: 'far behind', agoMs: 3_600_000 },
  ])(
    'by a clock that is $clock is taken over once it was seen not to change for as long as it is valid',
    async ({ agoMs }) => {
      const it = await place()
      leave(it, { agoMs, seconds: 2 })
      const said: string[] = []
      const lock = await it.lockOf({ ...anna, tell: (message) => void said.push(message) })
      const begin = performance.now()
      const taking = lock.take()
      await expect
        .poll(() => it.server.requests.filter((asked) => /^GET .*leases/.test(asked)).length)
        .toBeGreaterThan(3)
      expect(writesOf(it.server)).toEqual([])
      const holder = await taking
      expect(performance.now() - begin).toBeGreaterThanOrEqual(2000)
      expect([holder, await lock.isHeld()]).toEqual([null, true])
      expect(it.lease()!.metadata.annotations).toMatchObject({ 'testops-admin/who': 'anna@laptop' })
      expect(said).toEqual([
        'carl@elsewhere holds the lock of this deployment, but does not renew it. This command takes over the ' +
          'lock after 2 s without renewal',
      ])
    },
  )

  test('is not, by a clock that is ahead, while it is renewed', async () => {
    const it = await place()
    leave(it, { agoMs: 5000 })
    const renewing = setInterval(() => it.cluster.update('leases', it.lease()!, () => undefined), 50)
    onTestFinished(() => clearInterval(renewing))
    expect(await (await it.lockOf(anna)).take()).toEqual(carl)
  })

  test('is not waited for any longer once that was interrupted', async () => {
    const it = await place()
    leave(it, { agoMs: 3_600_000, seconds: 600 })
    const over = new AbortController()
    const taking = told((await it.lockOf(anna, { signal: over.signal })).take())
    await expect.poll(() => it.server.requests.filter((asked) => /^GET .*leases/.test(asked)).length).toBeGreaterThan(1)
    over.abort()
    expect(await taking).toMatchObject({
      code: 'INTERRUPTED',
      message: 'interrupted while waiting for the lock that carl@elsewhere holds',
    })
    expect(writesOf(it.server)).toEqual([])
  })

  test('is taken at once from a process of this machine that is gone', async () => {
    const it = await place()
    const first = await it.lockOf(anna)
    await first.take()
    const mark = it.lease()!.metadata.annotations!['testops-admin/process']!
    const { pid } = spawnSync('true')
    const [world] = mark.split(' ')
    expect(mark).toMatch(/^[0-9a-f-]{36}\/pid:\[\d+\] \d+ \d+$/)
    it.cluster.remove('leases', it.lease()!)
    leave(it, { agoMs: 0, annotations: { 'testops-admin/process': `${world} ${pid} 1` } })
    expect(await (await it.lockOf(ben)).take()).toBe(null)
  })

  test('is not taken from a process of that number on another machine', async () => {
    const it = await place()
    leave(it, { agoMs: 0, seconds: 600, annotations: { 'testops-admin/process': 'other/pid:[1] 999999 1' } })
    expect(await (await it.lockOf(ben)).take()).toEqual(carl)
  })

  test('without any word of whose it is, is told as that', async () => {
    const it = await place()
    it.cluster.create('leases', {
      metadata: { name: 'testops-admin', namespace: 'testops' },
      spec: { holderIdentity: 'x', leaseDurationSeconds: 600, renewTime: new Date().toISOString() },
    })
    expect(await (await it.lockOf(anna)).take()).toEqual({ who: 'x', since: null, what: null })
  })
})

describe('it is lost', () => {
  test('where another has taken it', async () => {
    const it = await place()
    const lock = await it.lockOf(anna)
    await lock.take()
    it.cluster.remove('leases', it.lease()!)
    leave(it, { agoMs: 0 })
    await expect.poll(async () => lock.isHeld()).toBe(false)
    // it is not given back, being another's
    await lock.release()
    expect(it.lease()!.spec).toMatchObject({ holderIdentity: 'carl@elsewhere/1' })
  })

  test('where it was deleted', async () => {
    const it = await place()
    const lock = await it.lockOf(anna)
    await lock.take()
    it.cluster.remove('leases', it.lease()!)
    await expect.poll(async () => lock.isHeld()).toBe(false)
  })

  test('where the cluster cannot be reached until it has expired, and not before', async () => {
    const it = await place()
    const lock = await it.lockOf(anna)
    await lock.take()
    let isDown = true
    it.server.instead = (request) => {
      if (isDown) request.socket.destroy()
      return isDown
    }
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await lock.isHeld()).toBe(true)
    await expect.poll(async () => lock.isHeld(), { timeout: 3000 }).toBe(false)
    isDown = false
  })

  test('where this machine has slept for longer than it is valid, which its steady clock does not tell', async () => {
    const it = await place()
    const lock = await it.lockOf(anna, { times: { leaseMs: 600_000, renewMs: 300_000 } })
    await lock.take()
    expect(await lock.isHeld()).toBe(true)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 700_000 })
    onTestFinished(() => void vi.useRealTimers())
    expect(await lock.isHeld()).toBe(false)
  })

  test('not where the answer to a renewal was', async () => {
    const it = await place()
    const lock = await it.lockOf(anna)
    await lock.take()
    let left = 1
    it.server.instead = (request) => {
      if (request.method !== 'PUT' || left-- <= 0) return false
      // done, and never told
      it.cluster.update('leases', it.lease()!, () => undefined)
      request.socket.destroy()
      return true
    }
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect([await lock.isHeld(), left < 0]).toEqual([true, true])
  })
})

test.each([
  { verb: 'create', canI: 'create' },
  { verb: 'update', canI: 'update' },
])('without the right to $verb it is none', async ({ verb, canI }) => {
  const it = await place()
  it.cluster.forbidden.push({ verb, resource: 'leases' })
  expect(await told(it.lockOf(anna))).toEqual({
    code: 'FORBIDDEN',
    message:
      `this user has no permission to ${verb} leases ` + 'in namespace `testops` of the cluster of context `test`',
    suggestions: [`kubectl --context test auth can-i ${canI} leases.coordination.k8s.io -n testops`],
  })
})

test.each([
  { what: 'nobody has held it', lease: null, holder: null },
  { what: 'it was renewed a moment ago', lease: { agoMs: 1000, seconds: 30 }, holder: carl },
  { what: 'it was not renewed for as long as it is valid', lease: { agoMs: 40_000, seconds: 30 }, holder: null },
  { what: 'it was renewed by a clock that is far ahead', lease: { agoMs: -3_600_000, seconds: 30 }, holder: null },
  {
    what: 'its holder was a process of this machine that is gone',
    lease: { agoMs: 1000, seconds: 30, isGone: true },
    holder: null,
  },
  { what: 'it may not be read', lease: { agoMs: 1000, seconds: 30, isForbidden: true }, holder: null },
])('who only looks is told who holds it, and takes nothing: $what', async ({ lease, holder }) => {
  const it = await place()
  if (lease)
    leave(it, {
      ...lease,
      ...('isGone' in lease && {
        annotations: {
          'testops-admin/process': (await processName())!.replace(/ \d+ \d+$/, ` ${spawnSync('true').pid} 1`),
        },
      }),
    })
  if (lease && 'isForbidden' in lease) it.cluster.forbidden.push({ resource: 'leases' })
  expect(await leaseHolder(await it.client(), 'testops')).toEqual(holder)
  expect(writesOf(it.server)).toEqual([])
})
