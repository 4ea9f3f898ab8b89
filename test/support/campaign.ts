import { test } from 'vitest'
import { randomFrom } from './random.ts'

/** True under `npm run campaign`, which runs every row. */
export const isCampaign = process.env['TESTOPS_ADMIN_CAMPAIGN'] === '1'

/**
 * Returns lengths of texts, in characters, at which the growth of a time is measured. What takes the square shows at a
 * third of what the campaign measures, in a third of the time.
 */
export function growing(first: number, last = 1_000_000): number[] {
  const most = isCampaign ? last : 0.3 * last
  return Array.from({ length: Math.round(Math.log10(last / first)) + 1 }, (_, index) =>
    Math.round(most / 10 ** index),
  ).reverse()
}

/**
 * Returns how many runs by chance a property has: each test run tries others, so a quarter of a campaign's is enough.
 */
export const runsOf = (inCampaign: number): number => (isCampaign ? inCampaign : Math.ceil(inCampaign / 4))

/** Returns all items in a campaign, else every n-th from `place` on, so that all places together cover each item. */
export function spread<T>(all: readonly T[], n: number, place: number): T[] {
  return isCampaign ? [...all] : all.filter((_, index) => index % n === place)
}

/**
 * Returns a `test` that takes every n-th of the tests that it is given, from `place` on, and in a campaign all: for a
 * suite that is run in n ways.
 */
export function takingTurns(n: number, place: number): (name: string, run: () => Promise<void>) => void {
  let met = 0
  return (name, run) => {
    if (isCampaign || met++ % n === place) test(name, run)
  }
}

/**
 * Returns all items in a campaign, else at most that many at even distances, without the first and the last: of the
 * instants of a run these are the ones at which nothing is done yet, or everything.
 */
export function inner<T>(all: readonly T[], most: number): T[] {
  if (isCampaign || all.length <= most) return [...all]
  return Array.from({ length: most }, (_, index) => all[Math.round(((index + 1) * (all.length - 1)) / (most + 1))]!)
}

/** Returns all items in a campaign, else at most that many: the first, the last, and others at even distances. */
export function decisive<T>(all: readonly T[], most: number): T[] {
  if (isCampaign || all.length <= most) return [...all]
  if (most === 1) return all.slice(0, 1)
  return Array.from({ length: most }, (_, index) => all[Math.round((index * (all.length - 1)) / (most - 1))]!)
}

/**
 * Yields what one test does again and again: all of it, in a campaign in an order by chance and only as long as its
 * file's share of the hour lasts (`test/campaign/runner.ts`), but at least the first.
 */
export function* withinShare<T>(all: readonly T[]): Generator<T> {
  if (!isCampaign) return yield* all
  const random = randomFrom(`${process.env['CAMPAIGN_SEED']} ${JSON.stringify(all)}`)
  const order = all.map((item) => ({ item, at: random() })).sort((one, other) => one.at - other.at)
  for (const [index, { item }] of order.entries()) {
    if (index > 0 && Date.now() > Number(process.env['CAMPAIGN_SHARE_END'])) return
    yield item
  }
}
