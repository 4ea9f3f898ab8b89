import { expect, test } from 'vitest'
import type { Opened } from '../../src/core/endpoint.ts'
import type { SessionTimes, SessionsSource } from '../../src/core/sources.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { session } from '../fakes/index.ts'
import { lookThrough } from './look.ts'

export interface SessionsSituation {
  namespace?: string
  indexed?: boolean
  sessions?: readonly SessionTimes[]
}

/** What every session store source keeps. */
export function sessionsContract(open: (situation: SessionsSituation) => Promise<Opened<SessionsSource>>): void {
  const look = lookThrough(open)

  test('says where and what it is', async () => {
    await look({}, async (source) => {
      expect(source.target).toMatch(/^[\w.-]+:\d+\/\d+$/)
      const identity = await source.identity()
      expect(identity.version).toMatch(/^\d+\.\d+\.\d+/)
      expect(identity).toMatchObject({ role: 'master', loading: false })
      return identity
    })
  })

  test('reads the clock', async () => {
    const { offsetMs, uncertaintyMs } = await look({}, async (source) => source.clock())
    expect(Math.abs(offsetMs)).toBeLessThan(200)
    expect(uncertaintyMs).toBeGreaterThan(0)
    expect(uncertaintyMs).toBeLessThan(200)
  })

  test('knows its memory', async () => {
    const memory = await look({}, async (source) => source.memory())
    expect(memory.usedBytes).toBeGreaterThan(100_000)
    expect(memory).toMatchObject({ maxBytes: 0, policy: 'noeviction', evictedKeys: 0 })
  })

  test('finds no sessions where there are none', async () => {
    expect(await look({}, async (source) => source.sampleSessions(100))).toEqual({
      namespace: null,
      indexed: false,
      complete: true,
      sessions: [],
    })
  })

  const kinds = [
    { what: 'plain sessions', namespace: 'spring:session', indexed: false },
    { what: 'indexed sessions', namespace: 'spring:session', indexed: true },
    { what: 'sessions in a key space of their own', namespace: 'testops', indexed: false },
    { what: 'a key space with special characters', namespace: 'a*b[c]?\\d', indexed: true },
  ]
  test.each(kinds)('reads the times of $what', async ({ namespace, indexed }) => {
    const now = Date.now()
    const sessions = [
      session({ ttlMs: null }),
      session({ creationTime: now + 7_200_000, lastAccessedTime: now + 7_200_000, ttlMs: null }),
      session({ creationTime: null, maxInactiveSeconds: 1800, ttlMs: null }),
      session({ maxInactiveSeconds: -1, ttlMs: null }),
    ]
    const sample = await look({ namespace, indexed, sessions }, async (source) => source.sampleSessions(100))
    expect(sample).toMatchObject({ namespace, indexed, complete: true })
    expect([...sample.sessions].sort(byTimes)).toEqual([...sessions].sort(byTimes))
  })

  test('sees when sessions end', async () => {
    const sample = await look({ sessions: [session({ ttlMs: 60_000 })] }, async (source) => source.sampleSessions(100))
    expect(sample.sessions[0]?.ttlMs).toBeGreaterThan(50_000)
    expect(sample.sessions[0]?.ttlMs).toBeLessThanOrEqual(60_000)
  })

  test('looks at no more sessions than it was told', async () => {
    const sessions = Array.from({ length: 30 }, () => session({ ttlMs: null }))
    const sample = await look({ sessions }, async (source) => source.sampleSessions(20))
    expect(sample.sessions.length).toBe(20)
    expect(sample.complete).toBe(false)
  })

  test('fails with a reason once it is closed', async () => {
    const { source, close } = await open({})
    await close()
    await close()
    expect(await failureOf(source.clock())).toMatch(/^UNREACHABLE Redis at /)
    expect(await failureOf(source.sampleSessions(1))).toMatch(/^UNREACHABLE Redis at /)
  })
}

function byTimes(a: SessionTimes, b: SessionTimes): number {
  return JSON.stringify(a).localeCompare(JSON.stringify(b))
}
