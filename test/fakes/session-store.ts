import type { SessionsControl } from '../../src/core/controls.ts'
import type { SessionCensus, SessionSelection, SessionsSource, SessionTimes } from '../../src/core/sources.ts'
import { isStale, wasThere } from '../../src/knowledge/sessions.ts'
import { fakeSessions, session } from './sessions.ts'

/** One session of a store in memory. */
export interface StoredSession {
  namespace?: string
  times?: Partial<SessionTimes>
  /** Name in the index; makes the repository an indexed one */
  user?: string
}

export interface StoreSituation {
  sessions?: readonly StoredSession[]
  /** Number of keys of other programs */
  foreign?: number
}

interface Kept {
  namespace: string
  times: SessionTimes
  user: string | null
}

/** A session store in memory that behaves like `SessionsSource.census` and `SessionsControl`, without a server. */
export function fakeSessionStore({ sessions = [], foreign = 0 }: StoreSituation = {}): {
  source: SessionsSource
  control: SessionsControl
  add: (session: StoredSession) => Promise<void>
  /** Key space of each session that is left */
  left: () => string[]
} {
  const keep = ({ namespace = 'spring:session', times = {}, user }: StoredSession): Kept => ({
    namespace,
    times: session(times),
    user: user ?? null,
  })
  let kept: readonly Kept[] = sessions.map(keep)
  let last: { asOf: number; meant: readonly Kept[] } | null = null

  const meantBy = ({ namespace, which, asOf }: SessionSelection): { census: SessionCensus; meant: Kept[] } => {
    const now = Date.now()
    const names = [...new Set(kept.map((it) => it.namespace))].filter(
      (name) => namespace === null || name === namespace,
    )
    const own = kept.filter((it) => it.namespace === names[0])
    const indexed = own.some(({ user }) => user !== null)
    const isMeant = ({ times, user }: Kept): boolean => {
      if (which === 'stale' && !isStale(times, { now, indexed })) return false
      if (typeof which !== 'string' && user !== which.user) return false
      return asOf === null || wasThere(times, { asOf, now })
    }
    const isClear = names.length === 1
    const meant = isClear ? own.filter(isMeant) : []
    const count = (name: string): number => kept.filter((it) => it.namespace === name).length
    const rivals = names
      .map((name) => ({ namespace: name, sessions: count(name) }))
      .sort((a, b) => b.sessions - a.sessions)
    const census: SessionCensus = {
      namespace: names[0] ?? namespace,
      rivals: isClear ? [] : rivals,
      indexed: isClear && indexed,
      sessions: meant.length,
      present: isClear ? own.length : 0,
      users: isClear && indexed ? new Set(own.flatMap(({ user }) => user ?? [])).size : null,
      leftovers: 0,
      foreign: isClear ? foreign + kept.length - own.length : foreign + kept.length,
      asOf: now,
    }
    return { census, meant }
  }
  const target = 'redis.example.org:6379/0'
  const control: SessionsControl = {
    target,
    assertRemovable: async () => undefined,
    async remove(selection, { flush, onBatch, onRemoved, signal }) {
      const meant =
        last !== null && last.asOf === selection.asOf && !flush
          ? last.meant
          : meantBy(flush ? { ...selection, asOf: null } : selection).meant
      last = null
      if (signal.aborted) throw signal.reason as Error
      const present = meant.filter((it) => kept.includes(it))
      const isFlushed = flush && foreign === 0 && present.length === kept.length
      kept = kept.filter((it) => !meant.includes(it))
      if (!isFlushed) await onBatch(meant.length, meant.length)
      await onRemoved()
      const others =
        foreign === 1 ? '1 key in this database is not a session' : `${foreign} keys in this database are not sessions`
      return {
        counted: meant.length,
        removed: isFlushed ? null : present.length,
        notFlushed: flush && !isFlushed ? others : null,
      }
    },
  }
  return {
    source: fakeSessions({
      target,
      census: (selection) => {
        const { census, meant } = meantBy(selection)
        last = { asOf: census.asOf, meant }
        return census
      },
    }),
    control,
    left: () => kept.map(({ namespace }) => namespace),
    async add(it) {
      kept = [...kept, keep(it)]
    },
  }
}
