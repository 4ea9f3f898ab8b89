import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { writeMany, writeSession } from '../../adapters/stored-sessions.ts'
import { textIn } from '../support/text-in.ts'
import { contents, documentOf, endOf, errorOf, ownStore } from './support.ts'

const hour = 3_600_000

describe('all sessions', () => {
  test('the plan says what was seen, what it costs, and that there is no undo; nothing is changed', async () => {
    const { redis, client, someone } = await ownStore()
    await writeMany(client, 1284)
    await client.set('cache:one', 'x')
    const before = await contents(client)
    const { code, stdout } = await someone.run(['flush-sessions', '--dry-run'])
    const place = `${redis.endpoint.host}:${redis.endpoint.port}/${redis.database}`
    const text = stdout
      .replaceAll(place, 'STORE')
      .replaceAll(/redis-cli .*? (?=--scan|DBSIZE)/g, 'redis-cli … ')
      .replaceAll(/Redis \d[\d.]*/g, 'Redis N')
      .replaceAll(/\s+/g, ' ')
    expect({ code, text }).toEqual({
      code: 0,
      text:
        'Plan: flush-sessions on deployment prod sessions STORE, Redis N, key prefix spring:session ' +
        "Evidence: redis-cli … --scan --pattern 'spring:session:sessions:*' --type hash | wc -l 1,284 " +
        'redis-cli … DBSIZE # counts all keys. Keys that do not belong to the sessions: 1 ' +
        '- users who sign in during this repair stay signed in: the repair removes only the sessions that it counted ' +
        '- the service keeps running ' +
        '- 1 key in this database does not belong to the sessions with key prefix spring:session. The repair keeps ' +
        "it - `resume` works only on this machine, because the deployment cannot keep a copy of the run's record: " +
        'no message broker is configured for `prod`: set `broker.url` ' +
        "(the service's settings are unknown: set `host.environmentFile`) " +
        'Steps: 1. remove all sessions with key prefix spring:session at STORE (users notice this) ' +
        'loses: these sessions and any unsaved work in them. ' +
        'Their users must sign in again. This cannot be undone ' +
        'This repair: - removes 1,284 sessions ' +
        '- signs out up to 1,284 users (a session may have no user, and a user may have several sessions) ' +
        '- duration unknown: no earlier run of these steps on record ' +
        'Nothing changed: this is only the plan. ',
    })
    expect(await contents(client)).toEqual(before)
  })

  test.each([1, 20_000])('%i of them, and nothing else', async (count) => {
    const { client, someone } = await ownStore()
    await writeMany(client, count)
    await client.rpush('queue', 'a', 'b')
    await client.hset('spring:session:settings', 'creationTime', 'x')
    await client.hset('spring:session:sessions:of:another:kind', 'creationTime', '1')
    await client.hset('spring:session:sessions:no-session', 'user', 'x')
    await client.set('spring:session:sessions:a-string', 'x')
    await client.hset('app:sessions:00000000-0000-4000-8000-000000000000', 'user', 'x')
    const foreign = Object.fromEntries(
      Object.entries(await contents(client)).filter(([key]) => !/^spring:session:sessions:[0-9a-f-]{36}$/.test(key)),
    )
    const ended = await someone.repair(['flush-sessions'])
    expect(endOf(ended)).toEqual({
      code: 0,
      outcome: 'done',
      impact: { sessionsRemoved: count, usersAtMost: count },
      verification: { 'sessions/clock': 'ok' },
    })
    expect(ended.stderr).toContain(
      `removed ${count === 1 ? '1 session' : '20,000 sessions'}; all sessions found before the removal are gone`,
    )
    expect(documentOf(ended).plan.notes).toContain(
      '6 keys in this database do not belong to the sessions with key prefix spring:session. The repair keeps them',
    )
    expect(await contents(client)).toEqual(foreign)
  })

  test('with their index', async () => {
    const { client, someone } = await ownStore()
    for (const user of ['alice', 'bob', 'bob']) await writeSession(client, { user })
    await client.sadd('other:index:x', 'y')
    const ended = await someone.repair(['flush-sessions'])
    expect(endOf(ended)).toEqual({
      code: 0,
      outcome: 'done',
      impact: { sessionsRemoved: 3, usersSignedOut: 2 },
      verification: { 'sessions/clock': 'ok' },
    })
    expect(await client.keys('*')).toEqual(['other:index:x'])
  })

  test('ids of another kind, in a key space with special characters, as JSON', async () => {
    const { client, someone } = await ownStore()
    const namespace = 'a*b[c]?\\d'
    await writeSession(client, { namespace, id: 'node1-é', json: true })
    await writeSession(client, { namespace, json: true, user: 'bob' })
    await client.set('aXb:sessions:other', 'x')
    const ended = await someone.repair(['flush-sessions'])
    expect(endOf(ended)).toMatchObject({ code: 0, impact: { sessionsRemoved: 2, usersSignedOut: 1 } })
    expect(await client.keys('*')).toEqual(['aXb:sessions:other'])
  })

  test('none: there is nothing to do', async () => {
    const { client, someone } = await ownStore()
    await client.set('cache', 'x')
    const ended = await someone.repair(['flush-sessions'])
    expect(endOf(ended)).toEqual({
      code: 0,
      outcome: 'nothing-to-do',
      impact: { sessionsRemoved: 0, usersAtMost: 0 },
      verification: {},
    })
    expect(documentOf(ended).plan.notes[1]).toBe('1 key in this database is not a session. The repair keeps it')
  })

  test("two key spaces: the service's has to be named", async () => {
    const { client, someone } = await ownStore()
    await writeSession(client, { namespace: 'one' })
    await writeMany(client, 2, 'two')
    const { stdout, code } = await someone.repair(['flush-sessions'])
    expect(errorOf({ code, stdout: stdout.replaceAll(/[\w.]+:\d+\/\d+/g, 'STORE') })).toEqual({
      exit: 64,
      code: 'CONFIGURATION',
      message:
        "STORE has sessions under several key prefixes: two (2 sessions), one (1 session). Set the service's " +
        'key prefix in the configuration',
      suggestions: [
        'in the configuration: sessions: {namespace: two}',
        'in the configuration: sessions: {namespace: one}',
      ],
    })
    expect(await client.dbsize()).toBe(3)
  })

  test('of the key space that is named', async () => {
    const { client, someone } = await ownStore({}, { namespace: 'two' })
    await writeSession(client, { namespace: 'one' })
    await writeMany(client, 2, 'two')
    expect(endOf(await someone.repair(['flush-sessions']))).toMatchObject({ code: 0, impact: { sessionsRemoved: 2 } })
    expect((await client.keys('*')).map((key) => key.split(':')[0])).toEqual(['one'])
  })

  test('what a request under way writes back is removed too', async () => {
    const { client, someone } = await ownStore()
    const id = await writeSession(client, {})
    const begun = someone.begin(['flush-sessions', '--confirm', 'prod', '--json'], {
      failpoint: 'remove-sessions:removed=stop',
    })
    await expect.poll(async () => client.dbsize(), { timeout: 10_000 }).toBe(0)
    await client.hset(`spring:session:sessions:${id}`, 'lastAccessedTime', '1')
    await writeSession(client, {})
    begun.goOn()
    expect(endOf(await begun.ended)).toMatchObject({ code: 0, outcome: 'done' })
    expect((await client.keys('*')).map((key) => key.endsWith(id))).toEqual([false])
  })
})

describe('--stale', () => {
  test('removes what is not valid by the clock of the store', async () => {
    const { client, someone } = await ownStore()
    const now = Date.now()
    const times = { ttlMs: null }
    const kept = [
      await writeSession(client, { times }),
      await writeSession(client, {
        json: true,
        times: { ...times, maxInactiveSeconds: -1, lastAccessedTime: now - 1000 * hour },
      }),
      await writeSession(client, { times: { ...times, creationTime: now + 30_000, lastAccessedTime: now + 30_000 } }),
      await writeSession(client, {
        times: { ...times, lastAccessedTime: now - hour - 30_000, maxInactiveSeconds: 3600 },
      }),
    ]
    await client.hset('spring:session:sessions:no-session', 'user', 'x')
    for (const json of [true, false]) {
      await writeSession(client, {
        json,
        times: { ...times, lastAccessedTime: now - 2 * hour, maxInactiveSeconds: 3600 },
      })
      await writeSession(client, { json, times: { ...times, creationTime: now + hour, lastAccessedTime: now + hour } })
      await writeSession(client, { json, times: { ...times, creationTime: null } })
    }
    const ended = await someone.repair(['flush-sessions', '--stale'])
    expect(endOf(ended)).toEqual({
      code: 0,
      outcome: 'done',
      impact: { sessionsRemoved: 6 },
      verification: { 'sessions/clock': 'ok' },
    })
    expect((await client.keys('*')).sort()).toEqual(
      [...kept, 'no-session'].map((id) => `spring:session:sessions:${id}`).sort(),
    )
  })

  test('is refused while clocks disagree', async () => {
    const server = createServer((_, response) => {
      response.setHeader('date', new Date(Date.now() + 600_000).toUTCString())
      response.setHeader('content-type', 'application/json')
      response.end('{"status":"UP"}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    const { client, someone } = await ownStore({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    await writeSession(client, { times: { creationTime: null, ttlMs: null } })
    const { stdout, code } = await someone.repair(['flush-sessions', '--stale'])
    expect(errorOf({ code, stdout: stdout.replaceAll(/http:[^ "]+|127[\d.]*:\d+\/\d+/g, 'PLACE') })).toEqual({
      exit: 4,
      code: 'REFUSED',
      message:
        'cannot tell which sessions are stale while clocks disagree: the clock of the service at PLACE is 10 ' +
        'min ahead of this machine, the session store at PLACE',
      suggestions: [
        'testops-admin doctor -d prod --only service/clocks',
        'sudo timedatectl set-ntp true',
        'timedatectl',
      ],
    })
    expect(await client.dbsize()).toBe(1)
  })
})

describe('--user', () => {
  test('removes the sessions of that user', async () => {
    const { client, someone } = await ownStore()
    for (const user of ['alice', 'alice', 'bob: the builder', 'bob']) await writeSession(client, { user })
    const ended = await someone.repair(['flush-sessions', '--user', 'alice'])
    expect(endOf(ended)).toEqual({
      code: 0,
      outcome: 'done',
      impact: { sessionsRemoved: 2, usersSignedOut: 1 },
      verification: { 'sessions/reachable': 'ok' },
    })
    const second = await someone.repair(['flush-sessions', '--user', 'bob: the builder'])
    expect(endOf(second)).toMatchObject({ code: 0, impact: { sessionsRemoved: 1 } })
    expect(endOf(await someone.repair(['flush-sessions', '--user', 'carol']))).toMatchObject({
      code: 0,
      outcome: 'nothing-to-do',
    })
    expect((await client.keys('*')).map((key) => key.replaceAll(/[0-9a-f-]{36}|\d+/g, 'N')).sort()).toEqual([
      'spring:session:expirations:N',
      'spring:session:index:org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME:bob',
      'spring:session:sessions:N',
      'spring:session:sessions:expirations',
      'spring:session:sessions:expires:N',
    ])
  })

  test('wants an index', async () => {
    const { client, someone } = await ownStore()
    await writeSession(client, {})
    expect(errorOf(await someone.repair(['flush-sessions', '--user', 'alice']))).toEqual({
      exit: 69,
      code: 'UNAVAILABLE',
      message: 'cannot find the sessions of alice: the sessions with key prefix spring:session have no index by user',
      suggestions: [
        'testops-admin flush-sessions -d prod   # removes all sessions',
        'testops-admin flush-sessions --stale -d prod',
      ],
    })
  })
})

describe('--all', () => {
  test('empties the database at once where it holds nothing but sessions', async () => {
    const { client, someone } = await ownStore()
    await writeMany(client, 500)
    await writeSession(client, { user: 'alice' })
    const ended = await someone.repair(['flush-sessions', '--all'])
    expect(endOf(ended)).toMatchObject({
      code: 0,
      outcome: 'done',
      impact: { sessionsRemoved: 501, usersSignedOut: 1 },
    })
    expect(ended.stderr).toContain('emptied the database: 501 sessions')
    expect(await client.dbsize()).toBe(0)
  })

  test('removes session by session where it holds something else', async () => {
    const { client, someone } = await ownStore()
    await writeMany(client, 5)
    await client.set('cache', 'x')
    const ended = await someone.repair(['flush-sessions', '--all'])
    expect(endOf(ended)).toMatchObject({ code: 0, outcome: 'done' })
    expect(ended.stderr).toContain('removed the sessions one by one, because 1 key in this database is not a session')
    expect(await client.keys('*')).toEqual(['cache'])
  })
})

test('no id of a session is shown or kept', async () => {
  const { client, someone } = await ownStore()
  const ids = [
    await writeSession(client, { user: 'alice' }),
    await writeSession(client, { times: { creationTime: null }, user: 'bob' }),
  ]
  const words = [
    ['--dry-run', '--verbose'],
    ['--stale', '--dry-run'],
    ['--user', 'alice', '--dry-run', '--json'],
    ['--confirm', 'prod', '--verbose'],
  ]
  const said: string[] = []
  for (const more of words) {
    const { stdout, stderr } = await someone.run(['flush-sessions', ...more])
    said.push(stdout, stderr)
  }
  const all = `${said.join('\n')}\n${textIn(someone.state)}`
  expect(await client.dbsize()).toBe(0)
  expect(ids.filter((id) => all.includes(id))).toEqual([])
  expect(all).toContain('spring:session')
})

test('flags exclude each other', async () => {
  const { someone } = await ownStore()
  const { code, stdout } = await someone.run(['flush-sessions', '--all', '--stale', '--json'])
  expect([code, (JSON.parse(stdout) as { error: { code: string } }).error.code]).toEqual([64, 'USAGE'])
})
