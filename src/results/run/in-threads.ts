import { setImmediate as immediately } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Chunk, Judged } from './chunk.ts'
import type { Judging } from './judge-chunk.ts'
import { chunkJudge } from './judge-chunk.ts'

/** A message to a thread; `Answered` is its answer (worker.ts). */
export interface Asked {
  index: number
  chunk: Chunk
}
export interface Answered {
  index: number
  judged: Judged
}

/**
 * Number of chunks queued at a thread, so that it never waits for the next one; and megabytes for its short-lived
 * objects.
 */
const [inHand, youngMb] = [2, 16]

/** Judges all chunks in `threads` threads, this one included. The others have ended before it returns or throws. */
export async function judgeInThreads(
  program: string | URL,
  threads: number,
  chunks: readonly Chunk[],
  { wish, take, signal }: Judging,
): Promise<void> {
  const inOrder = takenInOrder(take)
  let next = 0
  const ask = (worker: Worker): void => {
    if (next >= chunks.length) return
    worker.postMessage({ index: next, chunk: chunks[next]! } satisfies Asked)
    next += 1
  }
  const workers = Array.from(
    { length: threads - 1 },
    () => new Worker(program, { workerData: wish, resourceLimits: { maxYoungGenerationSizeMb: youngMb } }),
  )
  try {
    await new Promise<void>((resolve, reject) => {
      for (const worker of workers) {
        worker.on('message', ({ index, judged }: Answered) => {
          ask(worker)
          inOrder.put(index, judged)
          if (inOrder.count() === chunks.length) resolve()
        })
        worker.once('error', reject)
        worker.once('exit', () => reject(new Error('a thread that reads results ended unexpectedly')))
        for (let count = 0; count < inHand; count += 1) ask(worker)
      }
      const here = async (): Promise<void> => {
        const judge = chunkJudge(wish)
        while (next < chunks.length) {
          signal?.throwIfAborted()
          const index = next
          next += 1
          inOrder.put(index, await judge(chunks[index]!))
          await immediately()
        }
        if (inOrder.count() === chunks.length) resolve()
      }
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      here().catch(reject)
    })
  } finally {
    next = chunks.length
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

/** Takes answers in the order of the chunks, in whatever order they come. */
function takenInOrder(take: Judging['take']): { put(index: number, judged: Judged): void; count(): number } {
  const waiting = new Map<number, Judged>()
  let taken = 0
  return {
    put(index, judged) {
      waiting.set(index, judged)
      for (let of = waiting.get(taken); of !== undefined; of = waiting.get(taken)) {
        waiting.delete(taken)
        take(taken, of)
        taken += 1
      }
    },
    count: () => taken,
  }
}
