import { linesOf } from './lines.ts'
import { programBlocks } from './program-blocks.ts'
import type { BlocksOptions } from './program-blocks.ts'

interface LinesOptions extends Omit<BlocksOptions, 'signal'> {
  /** of a line, in characters; what is longer of it is left out */
  maxLength: number
  signal: AbortSignal
}

/** The same as `programBlocks`, line by line. */
export async function* programLines(
  command: readonly [string, ...string[]],
  { maxLength, ...options }: LinesOptions,
): AsyncGenerator<string> {
  yield* linesOf(programBlocks(command, options), maxLength)
}
