// Loaded before a program (`node --import`): every 50 ms, appends the bytes that its heap holds after a full collection
// to the file BENCH_HEAP_SAMPLES.
import { appendFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

setInterval(() => {
  collect()
  appendFileSync(process.env.BENCH_HEAP_SAMPLES, `${process.memoryUsage().heapUsed}\n`)
}, 50).unref()
