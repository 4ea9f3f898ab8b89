import { sessionsClock } from '../../../src/checks/sessions/clock.ts'
import { sessionsMemory } from '../../../src/checks/sessions/memory.ts'
import { sessionsReachable } from '../../../src/checks/sessions/reachable.ts'
import type { SessionTimes } from '../../../src/core/sources.ts'
import { clockAhead, fakeSessions, sample, session, unreachable } from '../../fakes/index.ts'
import type { CheckTable, Parts } from '../table.ts'

const now = Date.now()
const minute = 60_000

export const sessionsReachableTable: CheckTable = {
  check: sessionsReachable,
  cases: [
    { situation: 'Redis answers', status: 'ok', says: ['Redis 7.0.15 at redis.example.org:6379/0 answers as master'] },
    {
      situation: 'Redis is still loading',
      sources: { sessions: fakeSessions({ identity: { version: '7.0.15', role: 'master', loading: true } }) },
      status: 'problem',
      severity: 'error',
      says: [
        'still loading',
        'redis-cli -h redis.example.org -p 6379 --askpass INFO persistence',
        'Wait until Redis has loaded',
      ],
      silentOn: ['Start Redis'],
    },
    {
      situation: 'Redis is a replica',
      sources: { sessions: fakeSessions({ identity: { version: '7.0.15', role: 'slave', loading: false } }) },
      status: 'problem',
      severity: 'error',
      says: [
        'is a replica: it accepts no writes',
        'redis-cli -h redis.example.org -p 6379 --askpass INFO replication',
        'role:slave',
        'Use the address of the master',
      ],
      silentOn: ['Wait until Redis has loaded'],
    },
    {
      situation: 'Redis is down',
      sources: { sessions: unreachable('sessions') },
      status: 'problem',
      severity: 'error',
    },
  ],
}

const store = (sessions: readonly SessionTimes[], of = {}, offsetMs = 0): Parts => ({
  sessions: fakeSessions({ sampleSessions: sample(sessions, of), clock: clockAhead(offsetMs) }),
})
const idle = (minutes: number, maxMinutes: number): SessionTimes =>
  session({
    creationTime: now - 10 * 60 * minute,
    lastAccessedTime: now - minutes * minute,
    maxInactiveSeconds: maxMinutes * 60,
  })

export const sessionsClockTable: CheckTable = {
  check: sessionsClock,
  cases: [
    { situation: 'sessions are current', status: 'ok', says: ["3 sessions valid by the store's clock"] },
    { situation: 'no sessions', sources: store([]), status: 'ok', says: ['has no sessions'] },
    {
      situation: 'an indexed store keeps hashes for 300 s after their session',
      sources: store([idle(34, 30)], { indexed: true }),
      status: 'ok',
    },
    {
      situation: 'a session that never expires',
      sources: store([session({ lastAccessedTime: 0, maxInactiveSeconds: -1, ttlMs: null })]),
      status: 'ok',
    },
    {
      situation: 'a session whose times cannot be read',
      sources: store([session({ creationTime: null, lastAccessedTime: null, maxInactiveSeconds: null })]),
      status: 'ok',
    },
    {
      situation: 'half a minute ahead does no harm',
      sources: store([session({ lastAccessedTime: now + 30_000 })]),
      status: 'ok',
    },
    {
      situation: 'sessions from the future',
      sources: store([session({ creationTime: now + 180 * minute, lastAccessedTime: now + 180 * minute }), session()]),
      status: 'problem',
      severity: 'error',
      says: [
        '1 of 2 sessions is dated up to',
        'redis-cli -h redis.example.org -p 6379 --askpass TIME',
        "--scan --pattern 'spring:session:sessions:*' | wc -l",
      ],
    },
    {
      situation: 'expired sessions, in a sample',
      sources: store([idle(180, 30), idle(1, 30)], { complete: false }),
      status: 'problem',
      severity: 'error',
      says: ['1 of 2 sampled sessions expired 2 h 30 min ago but is still stored'],
    },
    {
      situation: 'an indexed store keeps hashes for longer',
      sources: store([idle(40, 30)], { indexed: true }),
      status: 'problem',
      severity: 'error',
    },
    {
      situation: "sessions fit the store's clock, which is not this machine's",
      sources: store([session({ lastAccessedTime: now + 180 * minute })], {}, 180 * minute),
      status: 'ok',
    },
    {
      situation: 'Redis is down',
      sources: { sessions: unreachable('sessions') },
      status: 'unknown',
      because: 'sessions/reachable',
    },
  ],
}

const memory = (usedBytes: number, policy: string, evictedKeys = 0): Parts => ({
  sessions: fakeSessions({ memory: { usedBytes, maxBytes: 100_000_000, policy, evictedKeys } }),
})

export const sessionsMemoryTable: CheckTable = {
  check: sessionsMemory,
  cases: [
    { situation: 'there is no limit', status: 'ok', says: ['2 MB used, no limit'] },
    { situation: 'half of it is used', sources: memory(50_000_000, 'noeviction'), status: 'ok' },
    {
      situation: 'nearly full',
      sources: memory(90_000_000, 'noeviction'),
      status: 'problem',
      severity: 'warning',
      says: [
        'nearly full',
        'when it is full, new sessions are refused',
        'redis-cli -h redis.example.org -p 6379 --askpass CONFIG SET maxmemory 200000000',
      ],
    },
    {
      situation: 'full, refusing',
      sources: memory(101_000_000, 'noeviction'),
      status: 'problem',
      severity: 'error',
      says: ['is full: 101 MB of 100 MB used (101 %, policy noeviction); new sessions are refused', 'INFO memory'],
    },
    {
      situation: 'full, evicting',
      sources: memory(99_900_000, 'volatile-lru', 1234),
      status: 'problem',
      severity: 'error',
      says: ['1,234 keys so far'],
    },
    {
      situation: 'Redis is down',
      sources: { sessions: unreachable('sessions') },
      status: 'unknown',
      because: 'sessions/reachable',
    },
  ],
}
