import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { packageFolder } from '../../core/package-folder.ts'
import type { Chunk } from './chunk.ts'
import { judgeInTurn } from './in-turn.ts'
import type { Judging } from './in-turn.ts'
import type { JudgeParts } from './judge-chunk.ts'

/**
 * files that are worth a thread, which takes a while to start and some memory; and how many threads there are at most
 */
const [worthThread, maxThreads] = [1000, 4]

/** Judges all chunks; many on several processors. Throws the signal's reason. */
export async function judgeAll(
  chunks: readonly Chunk[],
  judging: Judging,
  { threads, ...parts }: JudgeParts & { threads?: number },
): Promise<void> {
  const count = Math.min(threads ?? threadsFor(chunks), chunks.length)
  const program =
    count > 1 && parts.hash === undefined && parts.fileRules === undefined
      ? join(packageFolder(), 'dist/results/run/worker.js')
      : null
  if (program === null || !existsSync(program)) return judgeInTurn(chunks, judging, parts)
  const { judgeInThreads } = await import('./in-threads.ts')
  return judgeInThreads(program, count, chunks, judging)
}

function threadsFor(chunks: readonly Chunk[]): number {
  const files = chunks.reduce((sum, { names }) => sum + names.count, 0)
  return Math.min(availableParallelism(), maxThreads, Math.floor(files / worthThread))
}
