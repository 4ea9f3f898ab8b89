// Loaded before a program (`node --import`): writes what its heap holds after a full collection to BENCH_HEAP_SAMPLES,
// every 50 ms.
import { appendFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

setInterval(() => {
  collect()
  appendFileSync(process.env.BENCH_HEAP_SAMPLES, `${process.memoryUsage().heapUsed}\n`)
}, 50).unref()
