import type { Page } from './page.ts'

/** pages under way at a time, so that the server always has one to work on */
const inFlight = 4

/**
 * Runs work on every page, several at a time. Awaits `tell` after each; if it throws, this ends once running work is
 * done.
 */
export async function onEach(
  pages: readonly Page[],
  work: (page: Page) => Promise<void>,
  tell: (count: number) => Promise<void>,
): Promise<void> {
  const underWay: { done: Promise<void>; count: number }[] = []
  const settleOne = async (): Promise<void> => {
    const { done, count } = underWay.shift()!
    await done
    await tell(count)
  }
  try {
    for (const page of pages) {
      const done = work(page)
      done.catch(() => undefined)
      underWay.push({ done, count: page.count })
      if (underWay.length >= inFlight) await settleOne()
    }
    while (underWay.length > 0) await settleOne()
  } catch (error) {
    await Promise.allSettled(underWay.map(({ done }) => done))
    throw error
  }
}
