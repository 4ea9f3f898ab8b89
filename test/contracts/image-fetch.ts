import { describe, expect, test } from 'vitest'
import type { Moving } from '../../src/core/controls.ts'
import { fetchImage, hasImage } from '../../src/platforms/compose/images.ts'
import type { View } from '../../src/platforms/compose/view.ts'
import { failureOf } from '../adapters/failure-of.ts'

/**
 * What a registry has by these tags: `there` and `again` for the engine's platform, `foreign` for another alone,
 * `listed` in a list of others, `none` not at all.
 */
export type Tag = 'there' | 'again' | 'foreign' | 'listed' | 'none'

export interface OpenedEngine {
  view: View
  /** of the registry, by its whole name; `isPrivate`: it wants a login, which the engine has not */
  image: (tag: Tag, of?: { isPrivate?: boolean }) => string
  /** where nothing listens, and which nobody knows */
  refusing: string
  unknown: string
  /** takes away what was fetched */
  close: () => Promise<void>
}

/** What every engine keeps when it is told to fetch an image. */
export function imageFetchContract(open: () => Promise<OpenedEngine>): void {
  async function on<T>(work: (opened: OpenedEngine) => Promise<T>): Promise<T> {
    const opened = await open()
    try {
      return await work(opened)
    } finally {
      await opened.close()
    }
  }
  const how = { timeoutMs: 60_000, moving: () => undefined }
  const failing = async (
    opened: OpenedEngine,
    image: string,
    platform: string | null = null,
  ): Promise<string | undefined> => {
    const failed = await failureOf(fetchImage(opened.view, { image, platform }, how))
    expect(await hasImage(opened.view, { image, platform })).toBe(false)
    return failed?.replaceAll(image, 'IMAGE')
  }

  describe('an image', () => {
    test('is there once it was fetched, twice without harm, and its layers are counted', async () =>
      on(async ({ view, image }) => {
        const wanted = { image: image('there'), platform: null }
        expect(await hasImage(view, wanted)).toBe(false)
        const moved: Moving[] = []
        await fetchImage(view, wanted, { ...how, moving: (it) => void moved.push(it) })
        expect([await hasImage(view, wanted), moved.at(-1)]).toEqual([true, { done: 1, total: 1, unit: 'layers' }])
        await fetchImage(view, wanted, how)
        expect(await hasImage(view, wanted)).toBe(true)
      }))
    test('is there for its own platform alone', async () =>
      on(async ({ view, image }) => {
        await fetchImage(view, { image: image('again'), platform: 'linux/amd64' }, how)
        expect([
          await hasImage(view, { image: image('again'), platform: 'linux/amd64' }),
          await hasImage(view, { image: image('again'), platform: 'linux/arm64' }),
        ]).toEqual([true, false])
      }))
    test('that its registry has not is refused', async () =>
      on(async (opened) =>
        expect(await failing(opened, opened.image('none'))).toMatch(
          /^REFUSED cannot fetch image `IMAGE`: \S+ does not have this image or tag\. Nothing was changed$/,
        ),
      ))
    test('of another platform is refused', async () =>
      on(async (opened) =>
        expect(await failing(opened, opened.image('foreign'))).toMatch(
          /^REFUSED image `IMAGE` is for linux\/arm64, but docker on this machine runs linux\/amd64/,
        ),
      ))
    test('that is asked for of another platform than there is, is refused', async () =>
      on(async (opened) =>
        expect(await failing(opened, opened.image('foreign'), 'linux/amd64')).toMatch(
          /^REFUSED cannot fetch image `IMAGE`: \S+ does not have this image for linux\/amd64/,
        ),
      ))
    test('that a list has for others alone is refused', async () =>
      on(async (opened) =>
        expect(await failing(opened, opened.image('listed'))).toMatch(
          /^REFUSED cannot fetch image `IMAGE`: \S+ does not have this image for this engine's platform/,
        ),
      ))
    test('that requires a login is not fetched', async () =>
      on(async (opened) =>
        expect(await failing(opened, opened.image('there', { isPrivate: true }))).toMatch(
          /^UNAUTHENTICATED cannot fetch image `IMAGE`: \S+ requires a login/,
        ),
      ))
    test('of a registry that refuses connections is not fetched', async () =>
      on(async (opened) =>
        expect(await failing(opened, `${opened.refusing}/tools/testops-legacy:1`)).toMatch(
          /^UNREACHABLE cannot fetch image `IMAGE`: docker cannot connect to/,
        ),
      ))
    test('of a registry that nobody knows is not fetched', async () =>
      on(async (opened) =>
        expect(await failing(opened, `${opened.unknown}/tools/testops-legacy:1`)).toMatch(
          /^(?:UNREACHABLE cannot fetch image `IMAGE`: docker cannot resolve the host name \S+\. |TIMED_OUT )/,
        ),
      ))
    test('is not waited for once that is interrupted', async () =>
      on(async ({ view, image }) =>
        expect(
          await failureOf(
            fetchImage(view, { image: image('there'), platform: null }, { ...how, signal: AbortSignal.abort() }),
          ),
        ).toMatch(/^INTERRUPTED /),
      ))
  })
}
