import { linesOf } from './lines.ts'
import { programBlocks } from './program-blocks.ts'
import type { BlocksOptions } from './program-blocks.ts'

interface LinesOptions extends Omit<BlocksOptions, 'signal'> {
  /** Characters kept of a line; the rest is left out */
  maxLength: number
  signal: AbortSignal
}

/** Yields the output of a program as `programBlocks` does, line by line. */
export async function* programLines(
  command: readonly [string, ...string[]],
  { maxLength, ...options }: LinesOptions,
): AsyncGenerator<string> {
  yield* linesOf(programBlocks(command, options), maxLength)
}
