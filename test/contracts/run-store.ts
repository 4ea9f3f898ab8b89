import { describe, expect, test } from 'vitest'
import type { RunStore } from '../../src/core/run.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { eventOf, recordOf, run } from '../engine/repairing.ts'

export interface OpenedStore {
  store: RunStore
  /** the same place, as another process sees it */
  again: () => Promise<RunStore>
  close: () => Promise<void>
}

const events = [
  eventOf({ event: 'copied' }),
  eventOf({ event: 'intent', step: 0 }, 1),
  eventOf({ event: 'done', step: 0, durationMs: 12 }, 2),
]
const later = eventOf({ event: 'intent', step: 1 }, 3)
const other = '20261121T031244Z-unlock-changelog-0000'

/** What every place for journals keeps. */
export function runStoreContract(open: () => Promise<OpenedStore>): void {
  const inStore = async (look: (opened: OpenedStore) => Promise<void>): Promise<void> => {
    const opened = await open()
    try {
      await look(opened)
    } finally {
      await opened.close()
    }
  }

  test('says where it is', async () => inStore(async ({ store }) => expect(store.where).not.toBe('')))

  test('holds nothing at first, and knows no run', async () => {
    await inStore(async ({ store }) => {
      expect(await store.list()).toEqual([])
      expect(await failureOf(store.read(run))).toMatch(
        /^USAGE no run `20261121T021244Z-unlock-changelog-1f3a` on record in /,
      )
      expect(await failureOf(store.reopen(run))).toMatch(/^USAGE /)
    })
  })

  test('a journal is read by another process as it was written, in its order', async () => {
    await inStore(async ({ store, again }) => {
      const log = await store.begin(recordOf())
      for (const event of events) await log.append(event)
      await log.close()
      expect(await (await again()).read(run)).toEqual({ record: recordOf(), events })
    })
  })

  test('what has happened before is there from the beginning, and is gone on with', async () => {
    await inStore(async ({ store, again }) => {
      await (await store.begin(recordOf(), events)).close()
      const log = await (await again()).reopen(run)
      await log.append(later)
      await log.close()
      expect((await store.read(run)).events).toEqual([...events, later])
    })
  })

  test('reading takes nothing away, however often and by how many at once', async () => {
    await inStore(async ({ store, again }) => {
      const log = await store.begin(recordOf(), events)
      const second = await again()
      const all = await Promise.all([store.read(run), second.read(run), store.read(run), second.read(run)])
      for (const history of all) expect(history).toEqual({ record: recordOf(), events })
      await log.append(later)
      expect((await second.read(run)).events).toEqual([...events, later])
      await log.close()
    })
  })

  test('an end is noted while others read', async () => {
    await inStore(async ({ store, again }) => {
      const log = await store.begin(recordOf())
      const second = await again()
      const reading = (async () => {
        const lengths: number[] = []
        for (let time = 0; time < 10; time += 1) lengths.push((await second.read(run)).events.length)
        return lengths
      })()
      for (const event of [...events, later]) await log.append(event)
      const lengths = await reading
      expect(lengths).toEqual(lengths.toSorted((a, b) => a - b))
      expect((await store.read(run)).events).toEqual([...events, later])
      await log.close()
    })
  })

  test('all runs are listed, oldest first', async () => {
    await inStore(async ({ store }) => {
      await (await store.begin(recordOf({ run: other }))).close()
      await (await store.begin(recordOf(), events)).close()
      await expect
        .poll(async () => (await store.list()).map((it) => ('record' in it ? it.record.run : it)), { timeout: 10_000 })
        .toEqual([run, other])
    })
  })

  test('what is removed is gone, and can be begun again', async () => {
    await inStore(async ({ store }) => {
      await (await store.begin(recordOf(), events)).close()
      await store.remove(run)
      expect(await failureOf(store.read(run))).toMatch(/^USAGE /)
      await (await store.begin(recordOf())).close()
      expect((await store.read(run)).events).toEqual([])
    })
  })

  describe('long journals', () => {
    test('of a thousand events are read whole, time and again', async () => {
      await inStore(async ({ store }) => {
        const many = Array.from({ length: 1000 }, (_, index) => eventOf({ event: 'intent', step: index % 3 }, index))
        await (await store.begin(recordOf(), many)).close()
        for (let time = 0; time < 50; time += 1) expect((await store.read(run)).events.length).toBe(many.length)
        expect((await store.read(run)).events).toEqual(many)
      })
    })
  })
}
