import type { LogPart } from '../../core/sources.ts'
import { lineHeadReader } from '../../logs/scan/line-head.ts'

/** of the beginning of a file */
const headBytes = 65_536

/** Parts by the time of the first record of each; what shows none stays behind, in the order in which it was given. */
export async function inTimeOrder(parts: readonly LogPart[], timeZone: string | null): Promise<LogPart[]> {
  const timed: { part: LogPart; at: number }[] = []
  for (const part of parts) timed.push({ part, at: (await beginningOf(part, timeZone)) ?? Infinity })
  return timed.sort((one, other) => (one.at === other.at ? 0 : one.at - other.at)).map(({ part }) => part)
}

/** Null where it shows none; why it cannot be read is told when it is. */
async function beginningOf(part: LogPart, timeZone: string | null): Promise<number | null> {
  const headOf = lineHeadReader(timeZone)
  try {
    for await (const block of part.blocks()) {
      const lines = Buffer.from(block.subarray(0, headBytes)).toString('latin1').split('\n')
      return lines.map((line) => headOf(line).at).find((at) => at !== null) ?? null
    }
  } catch {
    return null
  }
  return null
}
