import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Cluster, Redis } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { closedPort, cuttableProxy } from '../../adapters/peers.ts'
import { writeMany, writeSession } from '../../adapters/stored-sessions.ts'
import { redisServer } from '../../servers/index.ts'
import { atStore, endOf, errorOf, writesOf } from './support.ts'

interface OwnRedis {
  port: number
  client: Redis
  folder: string
}

/** A server of the test's own, with these lines in its configuration. */
async function ownRedis(
  lines: readonly string[] = [],
  of: Pick<RedisOptions, 'password' | 'db'> & { sentinel?: boolean; ca?: string } = {},
): Promise<OwnRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-redis-'))
  const port = await closedPort()
  const isTls = of.ca !== undefined
  const own = [
    'bind 127.0.0.1',
    isTls ? `tls-port ${port}` : `port ${port}`,
    ...(isTls ? ['port 0'] : []),
    `dir ${folder}`,
    ...(of.sentinel ? [] : ['save ""']),
    ...lines,
  ]
  const file = join(folder, 'redis.conf')
  await writeFile(file, `${own.join('\n')}\n`)
  const child = spawn(await redisServer(), [file, ...(of.sentinel ? ['--sentinel'] : [])], {
    stdio: 'ignore',
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const { password, db, ca } = of
  const client = new Redis({
    port,
    host: isTls ? 'localhost' : '127.0.0.1',
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
    // one that is loading is there too
    enableReadyCheck: false,
    ...(password !== undefined && { password }),
    ...(db !== undefined && { db }),
    ...(ca !== undefined && { tls: { ca } }),
  })
  client.on('error', () => undefined)
  onTestFinished(async () => {
    client.disconnect()
    child.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  await client.info('server')
  return { port, client, folder }
}

const at = ({ port }: { port: number }, path = ''): { url: string } => ({ url: `redis://127.0.0.1:${port}${path}` })
const flush = ['flush-sessions']

test('a plan alone writes nothing', async () => {
  const { client, port } = await ownRedis()
  await writeSession(client, { user: 'alice' })
  const someone = await atStore(at({ port }))
  await client.config('RESETSTAT')
  for (const more of [[], ['--all'], ['--stale'], ['--user', 'alice']])
    await someone.run([...flush, ...more, '--dry-run'])
  expect({ writes: await writesOf(client), keys: await client.dbsize() }).toEqual({ writes: [], keys: 5 })
})

describe('let in by', () => {
  test('a password, into another database', async () => {
    const { client, port } = await ownRedis(['requirepass "pass word/é"'], { password: 'pass word/é', db: 3 })
    await writeMany(client, 3)
    const someone = await atStore((secret) => ({ ...at({ port }, '/3'), password: secret('pass word/é') }))
    expect(endOf(await someone.repair([...flush, '--all']))).toMatchObject({ code: 0, outcome: 'done' })
    expect(await client.dbsize()).toBe(0)
  })

  test('TLS', async () => {
    const pem = (name: string): string => fileURLToPath(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url))
    const lines = [
      `tls-cert-file ${pem('localhost')}`,
      `tls-key-file ${pem('localhost-key')}`,
      `tls-ca-cert-file ${pem('authority')}`,
      'tls-auth-clients no',
    ]
    const { client, port } = await ownRedis(lines, { ca: await readFile(pem('authority'), 'utf8') })
    await writeMany(client, 5000)
    const someone = await atStore({ url: `rediss://localhost:${port}`, ca: pem('authority') })
    expect(endOf(await someone.repair(flush))).toMatchObject({
      code: 0,
      outcome: 'done',
      impact: { sessionsRemoved: 5000 },
    })
    expect(await client.dbsize()).toBe(0)
  })
})

describe('a user who may', () => {
  const reading = [
    '+scan',
    '+dbsize',
    '+time',
    '+hmget',
    '+pttl',
    '+exists',
    '+select',
    '+info',
    '+smembers',
    '+zrange',
  ]
  test.each([
    { what: 'use DEL alone', rights: ['~*', ...reading, '+del'], indexed: false, code: 0 },
    {
      what: 'do all on the keys of sessions',
      rights: ['~spring:session:*', ...reading, '+unlink', '+srem', '+zrem'],
      indexed: true,
      code: 0,
    },
    { what: 'remove nothing', rights: ['~*', ...reading], indexed: false, code: 69, needs: 'UNLINK (or DEL)' },
    {
      what: 'not look whether they are gone',
      rights: ['~*', ...reading, '-exists', '+unlink'],
      indexed: false,
      code: 69,
      needs: 'EXISTS',
    },
    { what: 'not change the index', rights: ['~*', ...reading, '+unlink'], indexed: true, code: 69, needs: 'SREM' },
    {
      what: 'not look who else is in the index',
      rights: ['~*', ...reading, '-smembers', '+unlink', '+srem', '+zrem'],
      indexed: true,
      code: 69,
      needs: 'SMEMBERS',
    },
    {
      what: 'write other keys',
      rights: ['%R~*', '%RW~other:*', ...reading, '+unlink'],
      indexed: false,
      code: 69,
      needs: 'UNLINK (or DEL)',
    },
  ])('$what', async ({ rights, indexed, code, needs }) => {
    const { client, port } = await ownRedis()
    await client.call('ACL', 'SETUSER', 'few', 'on', '>few-password', ...rights)
    await writeSession(client, indexed ? { user: 'alice' } : {})
    const keys = await client.dbsize()
    const someone = await atStore((secret) => ({
      url: `redis://few@127.0.0.1:${port}`,
      password: secret('few-password'),
    }))
    const ended = await someone.repair(flush)
    if (needs === undefined) {
      expect(endOf(ended)).toMatchObject({ code, outcome: 'done' })
      expect(await client.dbsize()).toBe(0)
      return
    }
    expect(errorOf(ended)).toEqual({
      exit: code,
      code: 'FORBIDDEN',
      message:
        `Redis at 127.0.0.1:${port}/0 does not let this user remove sessions: the user needs permission for ` +
        `${needs} on keys spring:session:*`,
      suggestions: [
        `redis-cli -h 127.0.0.1 -p ${port} --user few --askpass ACL SETUSER USER '~spring:session:*' +unlink ` +
          '+exists +smembers +srem +zrange +zrem   # as an administrator. Replace USER with the configured user',
      ],
    })
    expect(await client.dbsize()).toBe(keys)
    // nothing was begun that would have to be gone on with
    expect((await someone.run(['resume'])).code).toBe(0)
  })
})

test.each([
  { how: 'disabled', lines: ['rename-command FLUSHDB ""'] },
  { how: 'renamed', lines: ['rename-command FLUSHDB flush-it'] },
  { how: 'forbidden', lines: ['user default on nopass ~* &* +@all -flushdb'] },
  { how: 'out of reach for scripts', lines: ['rename-command EVAL ""'] },
])('FLUSHDB is $how: --all removes session by session', async ({ lines }) => {
  const { client, port } = await ownRedis(lines)
  await writeMany(client, 10)
  const ended = await (await atStore(at({ port }))).repair([...flush, '--all'])
  expect(endOf(ended)).toMatchObject({ code: 0, outcome: 'done' })
  expect(ended.stderr).toContain(
    'removed the sessions one by one, because Redis does not let this user empty the database in one command',
  )
  expect(await client.dbsize()).toBe(0)
})

describe('refuses, and changes nothing:', () => {
  test('UNLINK and DEL are renamed', async () => {
    const { client, port } = await ownRedis(['rename-command UNLINK ""', 'rename-command DEL ""'])
    await writeMany(client, 1)
    expect(errorOf(await (await atStore(at({ port }))).repair(flush))).toMatchObject({ exit: 69, code: 'FORBIDDEN' })
    expect(await client.dbsize()).toBe(1)
  })

  test('a replica', async () => {
    const master = await ownRedis(['repl-diskless-sync-delay 0'])
    await writeMany(master.client, 2)
    const replica = await ownRedis([`replicaof 127.0.0.1 ${master.port}`])
    await expect.poll(async () => replica.client.dbsize(), { timeout: 20_000 }).toBe(2)
    expect(errorOf(await (await atStore(at(replica))).repair(flush))).toEqual({
      exit: 4,
      code: 'REFUSED',
      message:
        `Redis at 127.0.0.1:${replica.port}/0 has role slave and accepts no writes. ` +
        'Set the address of its master in the configuration',
      suggestions: [
        `redis-cli -h 127.0.0.1 -p ${replica.port} INFO replication   # shows the master as master_host`,
        'in the configuration, set `sessions.url` to the address of the master, or set `sessions.sentinel`',
      ],
    })
  })

  test('a server that is loading its data', async () => {
    const first = await ownRedis()
    await writeMany(first.client, 2000)
    await first.client.save()
    const slow = await ownRedisLoading(first)
    const { exit, code, message } = errorOf(await (await atStore(at(slow))).repair(flush)) as {
      exit: number
      code: string
      message: string
    }
    expect({ exit, code, message }).toEqual({
      exit: 69,
      code: 'UNREACHABLE',
      message: `Redis at 127.0.0.1:${slow.port}/0 is still loading its data`,
    })
  })

  test('a server that cannot save', async () => {
    const { client, port, folder } = await ownRedis(['save 3600 1000000'])
    await writeMany(client, 2)
    await rm(folder, { recursive: true })
    await client.bgsave()
    await expect
      .poll(async () => client.info('persistence'), { timeout: 10_000 })
      .toContain('rdb_last_bgsave_status:err')
    expect(errorOf(await (await atStore(at({ port }))).repair(flush))).toMatchObject({
      exit: 69,
      code: 'UNAVAILABLE',
      message: `Redis at 127.0.0.1:${port}/0 accepts no writes while it cannot save its data to its disk`,
    })
    expect(await client.dbsize()).toBe(2)
  })

  test('nothing listens', async () => {
    const port = await closedPort()
    expect(errorOf(await (await atStore(at({ port }))).repair(flush))).toMatchObject({
      exit: 69,
      code: 'UNREACHABLE',
      message: `Redis at 127.0.0.1:${port}/0 refused the connection: nothing listens on 127.0.0.1:${port}`,
    })
  })
})

/** A server that takes a while over the data of another. */
async function ownRedisLoading({ folder }: OwnRedis): Promise<OwnRedis> {
  const own = await mkdtemp(join(tmpdir(), 'testops-admin-redis-data-'))
  onTestFinished(async () => rm(own, { recursive: true, force: true }))
  await writeFile(join(own, 'dump.rdb'), await readFile(join(folder, 'dump.rdb')))
  return ownRedis([`dir ${own}`, 'key-load-delay 5000', 'loading-process-events-interval-bytes 1024'])
}

test('the connection is cut in the middle: half done, and gone on with', async () => {
  const { client, port } = await ownRedis()
  await writeMany(client, 20_000)
  const proxy = await cuttableProxy(() => connect({ host: '127.0.0.1', port }))
  const someone = await atStore(at(proxy))
  const begun = someone.begin([...flush, '--confirm', 'prod', '--json'], { failpoint: 'remove-sessions:removing=stop' })
  await expect.poll(async () => client.dbsize(), { timeout: 15_000 }).toBeLessThan(20_000)
  await new Promise((resolve) => setTimeout(resolve, 300))
  proxy.cut()
  begun.goOn()
  const ended = await begun.ended
  expect(endOf(ended)).toMatchObject({
    code: 6,
    outcome: 'interrupted',
    error: `UNREACHABLE Redis at 127.0.0.1:${proxy.port}/0 closed the connection`,
  })
  expect(await client.dbsize()).toBeGreaterThan(0)
})

describe('Sentinel', () => {
  test('the master is found, and the sessions removed there', async () => {
    const master = await ownRedis()
    await writeMany(master.client, 3000)
    const lines = [
      `sentinel monitor mymaster 127.0.0.1 ${master.port} 1`,
      'sentinel down-after-milliseconds mymaster 5000',
    ]
    const sentinel = await ownRedis(lines, { sentinel: true })
    const someone = await atStore({ sentinel: { master: 'mymaster', nodes: [`127.0.0.1:${sentinel.port}`] } })
    expect(endOf(await someone.repair(flush))).toMatchObject({
      code: 0,
      outcome: 'done',
      impact: { sessionsRemoved: 3000 },
    })
    expect(await master.client.dbsize()).toBe(0)
  })

  test.each([
    { how: 'batch by batch', more: [], failpoint: 'remove-sessions:removing#2=stop', code: 0, left: 0 },
    { how: 'at once', more: ['--all'], failpoint: 'remove-sessions:counted=stop', code: 6, left: 20_000 },
  ])('a fail-over in the middle, $how: none is left at the new master', async ({ more, failpoint, code, left }) => {
    const former = await ownRedis(['repl-diskless-sync-delay 0'])
    await writeMany(former.client, 20_000)
    const next = await ownRedis([`replicaof 127.0.0.1 ${former.port}`])
    await expect.poll(async () => next.client.dbsize(), { timeout: 20_000 }).toBe(20_000)
    const sentinel = await ownRedis([`sentinel monitor mymaster 127.0.0.1 ${former.port} 1`], { sentinel: true })
    const someone = await atStore({ sentinel: { master: 'mymaster', nodes: [`127.0.0.1:${sentinel.port}`] } })
    const begun = someone.begin([...flush, ...more, '--confirm', 'prod', '--json'], { failpoint })
    await begun.untilStopped()
    // the former one goes on taking writes until it is told
    await next.client.call('REPLICAOF', 'NO', 'ONE')
    await sentinel.client.call('SENTINEL', 'REMOVE', 'mymaster')
    await sentinel.client.call('SENTINEL', 'MONITOR', 'mymaster', '127.0.0.1', next.port, 1)
    begun.goOn()
    const ended = await begun.ended
    expect([ended.code, await next.client.dbsize()], ended.stdout).toEqual([code, left])
    if (code === 0) return
    expect(errorOf(ended)).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(
        /no longer has the same masters as at the start, so sessions that this run removed may still exist$/,
      ) as string,
    })
    expect(endOf(await someone.run(['resume', '--json']))).toMatchObject({ code: 0, outcome: 'done' })
    expect(await next.client.dbsize()).toBe(0)
  })

  test('a master that has become a replica in the middle is gone on with at the next one', async () => {
    const master = await ownRedis()
    await writeMany(master.client, 20_000)
    const sentinel = await ownRedis([`sentinel monitor mymaster 127.0.0.1 ${master.port} 1`], { sentinel: true })
    const someone = await atStore({ sentinel: { master: 'mymaster', nodes: [`127.0.0.1:${sentinel.port}`] } })
    const begun = someone.begin([...flush, '--confirm', 'prod', '--json'], {
      failpoint: 'remove-sessions:counted=stop',
    })
    await begun.untilStopped()
    await master.client.call('REPLICAOF', '127.0.0.1', await closedPort())
    begun.goOn()
    const ended = await begun.ended
    expect(errorOf(ended)).toMatchObject({
      exit: 6,
      code: 'UNAVAILABLE',
      message: expect.stringMatching(
        /is now a replica and accepts no writes: the sentinels have chosen another master, or will soon$/,
      ) as string,
    })
    await master.client.call('REPLICAOF', 'NO', 'ONE')
    expect(endOf(await someone.run(['resume', '--json']))).toMatchObject({ code: 0, outcome: 'done' })
    expect(await master.client.dbsize()).toBe(0)
  })
})

describe('Cluster', () => {
  test('the sessions of all masters, their index too; other keys stay', async () => {
    const lines = ['cluster-enabled yes', 'cluster-node-timeout 2000', 'cluster-config-file nodes.conf']
    const masters = await Promise.all([ownRedis(lines), ownRedis(lines), ownRedis(lines)])
    await formCluster(masters)
    const cluster = new Cluster([{ host: '127.0.0.1', port: masters[0].port }])
    onTestFinished(() => cluster.disconnect())
    for (let index = 0; index < 60; index += 1) await writeSession(cluster, { user: index % 2 ? 'alice' : 'bob' })
    await cluster.set('cache:one', 'x')
    await cluster.set('cache:two', 'x')
    const someone = await atStore({ cluster: masters.map(({ port }) => `127.0.0.1:${port}`) })
    expect(endOf(await someone.repair([...flush, '--user', 'alice']))).toMatchObject({
      code: 0,
      outcome: 'done',
      impact: { sessionsRemoved: 30 },
    })
    const ended = await someone.repair([...flush, '--all'])
    expect(endOf(ended)).toMatchObject({ code: 0, outcome: 'done', impact: { sessionsRemoved: 30, usersSignedOut: 1 } })
    expect(ended.stderr).toContain(
      'removed the sessions one by one, because a Redis cluster has only one database, which other programs may use ' +
        'too',
    )
    const left = await Promise.all(masters.map(async ({ client }) => client.keys('*')))
    expect(
      left
        .flat()
        .filter((key) => !/:(sessions:)?expirations/.test(key))
        .sort(),
    ).toEqual(['cache:one', 'cache:two'])

    // a slot that moves to another master in the middle
    for (let index = 0; index < 60; index += 1) await writeSession(cluster, {})
    const begun = someone.begin([...flush, '--confirm', 'prod', '--json'], {
      failpoint: 'remove-sessions:counted=stop',
    })
    await begun.untilStopped()
    await moveSlotOf((await masters[0].client.keys('spring:session:sessions:*-*'))[0]!, masters[0], masters[1])
    begun.goOn()
    expect(errorOf(await begun.ended)).toMatchObject({
      exit: 6,
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/is moving its slots to other nodes$/) as string,
    })
    expect(endOf(await someone.run(['resume', '--json']))).toMatchObject({ code: 0, outcome: 'done' })
    const still = await Promise.all(masters.map(async ({ client }) => client.keys('spring:session:sessions:*-*')))
    expect(still.flat()).toEqual([])
  })
})

/** As redis-cli moves it. */
async function moveSlotOf(key: string, from: OwnRedis, to: OwnRedis): Promise<void> {
  const slot = Number(await from.client.call('CLUSTER', 'KEYSLOT', key))
  const [source, destination] = (await Promise.all(
    [from, to].map(async ({ client }) => client.call('CLUSTER', 'MYID')),
  )) as [string, string]
  await to.client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source)
  await from.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', destination)
  for (const name of (await from.client.call('CLUSTER', 'GETKEYSINSLOT', slot, 1000)) as string[])
    await from.client.call('MIGRATE', '127.0.0.1', to.port, name, 0, 5000)
  for (const { client } of [to, from]) await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', destination)
}

/** All slots dealt out, and every node sees it. */
async function formCluster(nodes: readonly OwnRedis[]): Promise<void> {
  const slots = 16_384
  for (const [index, { client }] of nodes.entries()) {
    const [from, to] = [
      Math.floor((index * slots) / nodes.length),
      Math.floor(((index + 1) * slots) / nodes.length) - 1,
    ]
    await client.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
  }
  for (const { port } of nodes.slice(1)) await nodes[0]!.client.call('CLUSTER', 'MEET', '127.0.0.1', port)
  for (const { client } of nodes) {
    await expect
      .poll(async () => client.call('CLUSTER', 'INFO'), { timeout: 20_000 })
      .toMatch(/cluster_state:ok[^]*cluster_known_nodes:3/)
    await expect
      .poll(async () => ((await client.call('CLUSTER', 'SLOTS')) as unknown[]).length, { timeout: 20_000 })
      .toBe(3)
  }
}
