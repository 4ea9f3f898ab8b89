import type { SessionCensus, SessionSample, SessionTimes, SessionsSource } from '../../src/core/sources.ts'
import { clockAhead, fake } from './fake.ts'
import type { Answers } from './fake.ts'

/** A healthy session store with three current sessions, unless told otherwise. */
export function fakeSessions(answers: Answers<SessionsSource> = {}): SessionsSource {
  return fake<SessionsSource>(
    {
      target: 'redis.example.org:6379/0',
      client: 'redis-cli -h redis.example.org -p 6379 --askpass',
      identity: { version: '7.0.15', role: 'master', loading: false },
      clock: clockAhead(0),
      memory: { usedBytes: 2_000_000, maxBytes: 0, policy: 'noeviction', evictedKeys: 0 },
      census: () => census(),
      sampleSessions: (limit: number) => sample([session(), session(), session()].slice(0, limit)),
    },
    ['identity', 'clock', 'memory', 'census', 'sampleSessions'],
    answers,
  )
}

/** Three sessions of a plain repository and nothing else, unless told otherwise. */
function census(of: Partial<SessionCensus> = {}): SessionCensus {
  const counted = {
    namespace: 'spring:session',
    rivals: [],
    indexed: false,
    sessions: 3,
    present: 3,
    users: null,
    leftovers: 0,
    foreign: 0,
  }
  return { ...counted, asOf: Date.now(), ...of }
}

/** Those sessions as a complete sample of a plain (not indexed) repository, unless told otherwise. */
export function sample(sessions: readonly SessionTimes[], of: Partial<SessionSample> = {}): SessionSample {
  return { namespace: sessions.length > 0 ? 'spring:session' : null, indexed: false, complete: true, sessions, ...of }
}

/** A session created an hour ago and used a minute ago, which lives for ten days, unless told otherwise. */
export function session(of: Partial<SessionTimes> = {}): SessionTimes {
  const now = Date.now()
  return {
    creationTime: now - 3_600_000,
    lastAccessedTime: now - 60_000,
    maxInactiveSeconds: 864_000,
    ttlMs: 864_000_000 - 60_000,
    ...of,
  }
}
