// Judges chunks of files in a thread of its own: dist/results/run/worker.js, which in-threads.ts starts.
import { parentPort, workerData } from 'node:worker_threads'
import type { Wish } from './chunk.ts'
import type { Answered, Asked } from './in-threads.ts'
import { chunkJudge } from './judge-chunk.ts'

const judge = chunkJudge(workerData as Wish)
let last = Promise.resolve()
parentPort!.on('message', ({ index, chunk }: Asked) => {
  // one at a time, even if one has to wait
  last = last.then(async () => {
    parentPort!.postMessage({ index, judged: await judge(chunk) } satisfies Answered)
  })
})
