import { describe } from 'vitest'
import { lastCount, openSessions, openSessionsControl } from '../../src/adapters/redis/index.ts'
import { writeSession } from '../adapters/stored-sessions.ts'
import { fakeSessionStore } from '../fakes/index.ts'
import { freshRedisDatabase } from '../servers/index.ts'
import { sessionRemovalContract } from './session-removal.ts'

describe('in memory', () => {
  sessionRemovalContract(async (situation) => {
    const { source, control, add } = fakeSessionStore(situation)
    return { source, control, add, close: async () => undefined }
  })
})

describe('on a server', () => {
  sessionRemovalContract(async ({ sessions = [], foreign = 0 }) => {
    const redis = await freshRedisDatabase()
    const add = async (it: (typeof sessions)[number]): Promise<void> =>
      void (await writeSession(redis.client, { ...it, times: { ttlMs: null, ...it.times } }))
    for (const it of sessions) await add(it)
    for (let key = 0; key < foreign; key += 1) await redis.client.set(`other:${key}`, 'x')
    const options = { timeoutMs: 5000, last: lastCount() }
    const source = await openSessions(redis.endpoint, options)
    const control = await openSessionsControl(redis.endpoint, options)
    return {
      source: source.source,
      control: control.source,
      add,
      async close() {
        await control.close()
        await source.close()
        await redis.cleanup()
      },
    }
  })
})
