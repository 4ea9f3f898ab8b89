import { setImmediate as immediately } from 'node:timers/promises'
import type { Chunk, Judged, Wish } from './chunk.ts'
import { chunkJudge } from './judge-chunk.ts'
import type { JudgeParts } from './judge-chunk.ts'

/** What chunks are judged with. */
export interface Judging {
  wish: Wish
  /** what was found of a chunk, one after the other in their order */
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
