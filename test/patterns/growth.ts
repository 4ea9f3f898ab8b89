import { Script } from 'node:vm'
import { growing } from '../support/campaign.ts'

/** How a task came out at two sizes, of which the second is ten times the first. */
export interface Growth {
  isLinear: boolean
  /** milliseconds by size */
  shown: string
}

/** what takes less at the smaller size is taken to take this long: caches and memory, not the text, decide about it */
const noiseMs = 10
const atMost = 20
/** at sizes before the last, at which small things still weigh */
const early = 60
/** never a measure, but the end of what would not end by itself */
const longestMs = 60_000
/** what takes so many times its limit is not measured again: no pause of the machine makes that of it */
const hopeless = 10

/**
 * Whether a text of the last size takes at most 20 times as long as one of a tenth of it. Smaller texts come first, so
 * that what grows much faster is known before it takes hours. What is too slow is measured again, up to three times:
 * memory that is cleared at that moment makes one measure too long, but never all.
 */
export function growthOf(
  run: (length: number) => () => unknown,
  options: { sizes?: readonly number[]; hangMs?: number } = {},
): Growth {
  let found = measured(run, options)
  for (let again = 0; again < 2 && !found.isLinear && !found.isHopeless; again += 1) found = measured(run, options)
  return found
}

function measured(
  run: (length: number) => () => unknown,
  { sizes = growing(30), hangMs = longestMs }: { sizes?: readonly number[]; hangMs?: number },
): Growth & { isHopeless: boolean } {
  const took: string[] = []
  const tasks = sizes.map((size) => run(size))
  let before = 0
  for (const [index, size] of sizes.entries()) {
    const isJudged = index === sizes.length - 1
    // the square of ten is a hundred: what grows so is known before it takes minutes
    const limit = index === 0 ? hangMs : (isJudged ? atMost : early) * Math.max(noiseMs, before)
    const now = isJudged ? fastest(tasks[index]!, limit, hangMs, ownMs) : calmMs(tasks[index]!, hangMs, limit)
    took.push(`${size}: ${now === null ? 'no end' : `${now.toFixed(2)} ms`}`)
    if (now === null || now > limit)
      return { isLinear: false, shown: took.join(', '), isHopeless: now === null || now > hopeless * limit }
    before = now
  }
  return { isLinear: true, shown: took.join(', '), isHopeless: false }
}

/**
 * The best of up to five times, in milliseconds; the first that is within the limit is enough. Null: no end was seen.
 */
function fastest(run: () => unknown, limit: number, hangMs?: number, takes = onceMs): number | null {
  let best = Number.POSITIVE_INFINITY
  for (let time = 0; time < 5 && best > limit && !(time > 0 && best > hopeless * limit); time += 1) {
    const took = takes(run, hangMs)
    if (took === null) return null
    best = Math.min(best, took)
  }
  return best
}

/**
 * What others are compared with: the least of three times, in milliseconds. What the machine did at that moment would
 * else make the next size look quick, or the wrong one of several look slowest. Null: no end was seen.
 */
export function calmMs(run: () => unknown, hangMs?: number, limit = Number.POSITIVE_INFINITY): number | null {
  const first = fastest(run, limit, hangMs)
  if (first === null || first > limit) return first
  return Math.min(first, onceMs(run, hangMs) ?? first, onceMs(run, hangMs) ?? first)
}

const holder = globalThis as { runOnce?: () => unknown }
const script = new Script('runOnce()')

/**
 * How much processor time it takes once, in milliseconds, whatever else the machine does; null where it has to be
 * ended.
 */
export function onceMs(run: () => unknown, hangMs?: number): number | null {
  const took = timeOf(run, hangMs)
  return took && (took.user + took.system) / 1000
}

/**
 * The same without the kernel's share: on some machines it takes a quarter of the time to hand out the memory of a
 * large text, and nothing for that of a small one. Its share is known by ticks, so a small text's is no measure.
 */
function ownMs(run: () => unknown, hangMs?: number): number | null {
  const took = timeOf(run, hangMs)
  return took && took.user / 1000
}

function timeOf(run: () => unknown, hangMs = longestMs): NodeJS.CpuUsage | null {
  holder.runOnce = run
  const from = process.cpuUsage()
  try {
    script.runInThisContext({ timeout: hangMs })
    return process.cpuUsage(from)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null
    throw error
  } finally {
    delete holder.runOnce
  }
}
