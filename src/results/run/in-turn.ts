import { setImmediate as immediately } from 'node:timers/promises'
import type { Chunk, Judged, Wish } from './chunk.ts'
import { chunkJudge } from './judge-chunk.ts'
import type { JudgeParts } from './judge-chunk.ts'

/** Settings and callbacks for judging chunks. */
export interface Judging {
  wish: Wish
  /** receives the findings of each chunk, in the order of the chunks */
  take: (index: number, judged: Judged) => void
  signal: AbortSignal | undefined
}

/** Judges all chunks in this thread. */
export async function judgeInTurn(
  chunks: readonly Chunk[],
  { wish, take, signal }: Judging,
  parts: JudgeParts = {},
): Promise<void> {
  const judge = chunkJudge(wish, parts)
  for (const [index, chunk] of chunks.entries()) {
    signal?.throwIfAborted()
    take(index, await judge(chunk))
    await immediately()
  }
}
