import { describe, expect, test } from 'vitest'
import type { SessionsControl } from '../../src/core/controls.ts'
import type { SessionSelection, SessionsSource } from '../../src/core/sources.ts'
import type { StoredSession, StoreSituation } from '../fakes/index.ts'
import { expectPlain } from './plain.ts'

export interface OpenedStore {
  source: SessionsSource
  control: SessionsControl
  /** as a user who signs in now */
  add: (session: StoredSession) => Promise<void>
  close: () => Promise<void>
}

const hour = 3_600_000
const all: SessionSelection = { namespace: null, which: 'all', asOf: null }
const calm = { flush: false, onBatch: async () => undefined, onRemoved: async () => undefined }

/** What counting and removing sessions keep, in memory as on a server. */
export function sessionRemovalContract(open: (situation: StoreSituation) => Promise<OpenedStore>): void {
  const work = async <T>(
    situation: StoreSituation,
    use: (store: OpenedStore & { left: () => Promise<number> }) => Promise<T>,
  ): Promise<T> => {
    const store = await open(situation)
    const left = async (): Promise<number> =>
      (await store.source.census({ namespace: null, which: 'all', asOf: Date.now() + hour })).sessions
    try {
      const answer = await use({ ...store, left })
      expectPlain(answer)
      return answer
    } finally {
      await store.close()
    }
  }
  const signal = new AbortController().signal
  const now = Date.now()
  const kinds: readonly StoredSession[] = [
    {},
    { times: { maxInactiveSeconds: -1, lastAccessedTime: now - 1000 * hour } },
    { times: { lastAccessedTime: now - 2 * hour, maxInactiveSeconds: 3600 } },
    { times: { creationTime: now + 2 * hour, lastAccessedTime: now + 2 * hour } },
    { times: { creationTime: null } },
    { times: { lastAccessedTime: now - hour - 200_000, maxInactiveSeconds: 3600 } },
  ]

  test('an empty store', async () => {
    const census = await work({ foreign: 2 }, async ({ source }) => source.census(all))
    expect(census).toMatchObject({
      namespace: null,
      rivals: [],
      indexed: false,
      sessions: 0,
      users: null,
      leftovers: 0,
      foreign: 2,
    })
  })

  test('what was counted is removed, and who signs in meanwhile stays', async () => {
    const answer = await work({ sessions: kinds, foreign: 3 }, async ({ source, control, add, left }) => {
      const { asOf, ...census } = await source.census(all)
      await add({})
      const removal = await control.remove({ namespace: 'spring:session', which: 'all', asOf }, { ...calm, signal })
      return { census, removal, left: await left() }
    })
    expect(answer).toMatchObject({
      census: { namespace: 'spring:session', sessions: 6, foreign: 3, users: null, indexed: false },
      removal: { counted: 6, removed: 6, notFlushed: null },
      left: 1,
    })
  })

  test('another process goes on by the time of the count', async () => {
    const answer = await work({ sessions: kinds }, async ({ source, control, add, left }) => {
      // nothing was counted at that time here
      const asOf = Date.now() - 120_000
      await add({ times: { creationTime: Date.now(), lastAccessedTime: Date.now() } })
      const { sessions } = await source.census({ namespace: null, which: 'all', asOf })
      const removal = await control.remove({ namespace: 'spring:session', which: 'all', asOf }, { ...calm, signal })
      return { sessions, removal, left: await left() }
    })
    expect(answer).toEqual({ sessions: 6, removal: { counted: 6, removed: 6, notFlushed: null }, left: 1 })
  })

  describe('stale', () => {
    test.each([
      { what: 'in a plain repository', indexed: false, stale: 4 },
      { what: 'in an indexed one, which lets a hash outlive its session by 300 s', indexed: true, stale: 3 },
    ])('$what', async ({ indexed, stale }) => {
      const sessions = kinds.map((it) => ({ ...it, ...(indexed && { user: 'alice' }) }))
      const answer = await work({ sessions }, async ({ source, control, left }) => {
        const { asOf, ...census } = await source.census({ namespace: null, which: 'stale', asOf: null })
        const removal = await control.remove({ namespace: 'spring:session', which: 'stale', asOf }, { ...calm, signal })
        return { census, removal, left: await left() }
      })
      expect(answer).toMatchObject({
        census: { sessions: stale, indexed },
        removal: { removed: stale },
        left: 6 - stale,
      })
    })
  })

  test('one user', async () => {
    const sessions = [{ user: 'alice' }, { user: 'alice' }, { user: 'bob' }]
    const answer = await work({ sessions }, async ({ source, control, left }) => {
      const { asOf, ...census } = await source.census({ namespace: null, which: { user: 'alice' }, asOf: null })
      const removal = await control.remove(
        { namespace: 'spring:session', which: { user: 'alice' }, asOf },
        { ...calm, signal },
      )
      const again = await source.census({ namespace: null, which: { user: 'alice' }, asOf: Date.now() + hour })
      return { census, removal, again: [again.sessions, again.leftovers, again.users], left: await left() }
    })
    expect(answer).toMatchObject({
      census: { sessions: 2, users: 2, leftovers: 0, indexed: true },
      removal: { removed: 2 },
      again: [0, 0, 1],
      left: 1,
    })
  })

  test('two key spaces are both named, and neither is chosen', async () => {
    const sessions = [{ namespace: 'a' }, { namespace: 'b' }, { namespace: 'b' }]
    const answer = await work({ sessions }, async ({ source }) => {
      const both = await source.census(all)
      const one = await source.census({ ...all, namespace: 'a' })
      return { rivals: both.rivals, sessions: both.sessions, one: { sessions: one.sessions, foreign: one.foreign } }
    })
    expect(answer).toEqual({
      rivals: [
        { namespace: 'b', sessions: 2 },
        { namespace: 'a', sessions: 1 },
      ],
      sessions: 0,
      one: { sessions: 1, foreign: 2 },
    })
  })

  test('the whole database at once, where it holds nothing else', async () => {
    const answer = await work({ sessions: [{}, {}] }, async ({ source, control, left }) => {
      const { asOf } = await source.census(all)
      const removal = await control.remove(
        { namespace: 'spring:session', which: 'all', asOf },
        { ...calm, flush: true, signal },
      )
      return { removal, left: await left() }
    })
    expect(answer).toEqual({ removal: { counted: 2, removed: null, notFlushed: null }, left: 0 })
  })

  test('not at once where it holds something else', async () => {
    const answer = await work({ sessions: [{}, {}], foreign: 1 }, async ({ source, control, left }) => {
      const { asOf } = await source.census(all)
      const removal = await control.remove(
        { namespace: 'spring:session', which: 'all', asOf },
        { ...calm, flush: true, signal },
      )
      return { removal, left: await left(), foreign: (await source.census(all)).foreign }
    })
    expect(answer).toEqual({
      removal: { counted: 2, removed: 2, notFlushed: '1 key in this database is not a session' },
      left: 0,
      foreign: 1,
    })
  })

  test('is told to stop, and goes on where it was', async () => {
    const answer = await work({ sessions: [{}, {}] }, async ({ source, control, left }) => {
      const { asOf } = await source.census(all)
      const stopped = AbortSignal.abort(new Error('stop'))
      const selection = { namespace: 'spring:session', which: 'all', asOf } as const
      await expect(control.remove(selection, { ...calm, signal: stopped })).rejects.toThrow()
      const again = await control.remove(selection, { ...calm, signal })
      return { gone: again.counted - (again.removed ?? 0), left: await left() }
    })
    expect(answer).toEqual({ gone: 0, left: 0 })
  })
}
