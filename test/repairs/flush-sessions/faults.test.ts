import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { writeMany, writeSession } from '../../adapters/stored-sessions.ts'
import { freshRedisDatabase } from '../../servers/index.ts'
import { deploy } from '../support/deploy.ts'
import { spread } from '../../support/campaign.ts'
import { operator } from '../support/operator.ts'
import type { Operator } from '../support/operator.ts'
import { recordRedis } from '../support/recorders.ts'
import type { BreakAt } from '../support/recorders.ts'
import { contents, documentOf, endOf, errorOf } from './support.ts'

interface Store {
  client: Redis
  someone: Operator
  /** what was asked of the store so far */
  asked: readonly string[]
  /** keys that are no sessions, as they were */
  foreign: Record<string, string>
  sessions: () => Promise<number>
}

const words = ['flush-sessions', '--timeout', '1']

/** A store with sessions, their index and a key of somebody else's, behind a proxy; `user`: of an ACL. */
async function withStore<T>(
  breakAt: BreakAt,
  work: (store: Store) => Promise<T>,
  { denied }: { denied?: string } = {},
): Promise<T> {
  const redis = await freshRedisDatabase()
  const { client, endpoint, database } = redis
  const user = `few-${randomBytes(4).toString('hex')}`
  if (denied !== undefined) await client.call('ACL', 'SETUSER', user, 'on', '>few', '~*', '&*', '+@all', `-${denied}`)
  await writeMany(client, 4500)
  await writeSession(client, { user: 'alice' })
  await client.set('cache', 'x')
  const foreign = { cache: (await contents(client))['cache']! }
  const proxy = await recordRedis(endpoint, breakAt)
  const password = denied === undefined ? endpoint.password?.reveal() : 'few'
  const deployed = await deploy((secret) => ({
    platform: 'host',
    host: { commands: { start: ['true'], stop: ['true'], status: ['true'] } },
    sessions: {
      url: `redis://${denied === undefined ? '' : `${user}@`}127.0.0.1:${proxy.port}/${database}`,
      ...(password !== undefined && { password: secret(password) }),
    },
  }))
  const someone = await operator(deployed)
  try {
    return await work({
      client,
      someone,
      foreign,
      asked: proxy.asked,
      sessions: async () => (await client.keys('*:sessions:????????-*')).length,
    })
  } finally {
    await someone.leave()
    await proxy.close()
    await deployed.remove()
    if (denied !== undefined) await client.call('ACL', 'DELUSER', user)
    await redis.cleanup()
  }
}

const phases = ['counting', 'removing', 'verifying'] as const
type Phase = (typeof phases)[number]

/**
 * Tells where a repair is, command by command: the first EXISTS is its last trial before it begins, the second looks
 * whether all are gone.
 */
function phaseTeller(): (asked: string) => Phase {
  let seen = 0
  return (asked) => {
    const phase = phases[Math.min(seen, 2)]!
    if (asked === 'EXISTS') seen += 1
    return phase
  }
}

/** Each command of a repair, in each phase in which it is asked. */
const all = await withStore(
  () => null,
  async ({ someone, asked }) => {
    await someone.repair(words)
    const phaseOf = phaseTeller()
    const points = asked.map((name) => `${phaseOf(name)} ${name}`)
    return [...new Set(points)].map((point) => ({
      phase: point.split(' ')[0] as Phase,
      name: point.replace(/^\w+ /, ''),
    }))
  },
)

test('what a repair asks', () => {
  expect([...new Set(all.map(({ name }) => name))].sort()).toEqual(
    expect.arrayContaining([
      'DBSIZE',
      'EXISTS',
      'HMGET',
      'INFO',
      'SCAN',
      'SELECT',
      'SMEMBERS',
      'SREM',
      'TIME',
      'UNLINK',
      'ZRANGE',
      'ZREM',
    ]),
  )
})

describe.concurrent.each(['cut', 'silence'] as const)('the store falls to %s', (how) => {
  test.each(spread(all, 4, how === 'cut' ? 1 : 3))('$phase: $name', async ({ phase, name }) => {
    const phaseOf = phaseTeller()
    let fate: ReturnType<BreakAt> = null
    let isMended = false
    const breakAt: BreakAt = (asked) => {
      if (phaseOf(asked) === phase && asked === name) fate = how
      return isMended ? null : fate
    }
    await withStore(breakAt, async ({ client, someone, foreign, sessions }) => {
      const ended = await someone.repair(words)
      isMended = true
      const { code } = ended
      expect([3, 6, 69], ended.stdout).toContain(code)
      if (code === 69) {
        expect([await sessions(), errorOf(ended)]).toMatchObject([
          4501,
          {
            code: how === 'cut' ? 'UNREACHABLE' : 'TIMED_OUT',
            message: expect.stringMatching(/^Redis at 127\.0\.0\.1:\d+\/\d+ /) as string,
          },
        ])
        expect(endOf(await someone.repair(words))).toMatchObject({ code: 0, outcome: 'done' })
      } else {
        // what is done and could not be verified is over; what is half done is gone on with
        const { run, outcome, error } = documentOf(ended)
        expect([outcome, error?.suggestions]).toEqual(
          code === 3
            ? ['done', undefined]
            : ['interrupted', expect.arrayContaining([`testops-admin resume ${run} -d prod`])],
        )
        const resumed = await someone.run(['resume', '--json'])
        expect([resumed.code, resumed.json<{ outcome: string }>().outcome]).toEqual([
          0,
          code === 3 ? 'nothing-to-do' : 'done',
        ])
      }
      expect([await sessions(), (await contents(client))['cache']]).toEqual([0, foreign['cache']])
    })
  })
})

describe.concurrent('a user who may do all but', () => {
  const names = [...new Set(all.map(({ name }) => name.split(' ')[0]!))].filter((name) => name !== 'AUTH')
  test.each(spread(names, 2, 0))('%s', async (name) => {
    await withStore(
      () => null,
      async ({ client, someone, sessions, foreign }) => {
        const ended = await someone.repair(words)
        // nothing is begun that this user cannot bring to its end
        expect([0, 3, 69], ended.stdout).toContain(ended.code)
        if (ended.code === 69)
          expect([await sessions(), errorOf(ended)]).toMatchObject([
            4501,
            { code: 'FORBIDDEN', message: expect.stringMatching(new RegExp(`\\b${name}\\b`, 'i')) as string },
          ])
        else expect([await sessions(), documentOf(ended).outcome]).toEqual([0, 'done'])
        expect((await contents(client))['cache']).toBe(foreign['cache'])
      },
      { denied: name.toLowerCase() },
    )
  })
})
