import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** seconds by file, from the project's root, of those that take long */
export type Times = Readonly<Record<string, number>>

/** The project's. */
export const root = fileURLToPath(new URL('../../', import.meta.url))

const timesFile = fileURLToPath(new URL('times.json', import.meta.url))

/** seconds; shorter files are not worth a line */
const long = 10

/** Empty if the list is missing or damaged: it only says what to begin with. */
export function readTimes(file = timesFile): Times {
  try {
    const known = JSON.parse(readFileSync(file, 'utf8')) as unknown
    const entries = typeof known === 'object' && known !== null ? Object.entries(known) : []
    return Object.fromEntries(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'))
  } catch {
    return {}
  }
}

/**
 * What is known of each file, the slowest first. A time is replaced where it was off by half, so that the list stays
 * as it is on a machine that is a little busier.
 */
export function corrected(known: Times, measured: Times): Times {
  const off = (before: number, now: number): boolean => now > before * 1.5 || now < before / 1.5
  const all = new Map(Object.entries(known))
  for (const [file, seconds] of Object.entries(measured)) {
    const before = all.get(file)
    if (before !== undefined && !off(before, Math.max(seconds, 1))) continue
    if (seconds < long) all.delete(file)
    else all.set(file, Math.round(seconds))
  }
  return Object.fromEntries([...all].sort(([one, a], [other, b]) => b - a || one.localeCompare(other)))
}

/** Writes all or nothing; a checkout that cannot be written keeps its list. */
export function writeTimes(times: Times, file = timesFile): void {
  const part = `${file}.${process.pid}`
  try {
    writeFileSync(part, `${JSON.stringify(times, null, 2)}\n`)
    renameSync(part, file)
  } catch (error) {
    process.stderr.write(`the times of tests are not kept: ${String(error)}\n`)
  }
}
