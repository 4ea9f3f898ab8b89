// Gives one reader its inputs, in a process of its own: a thread beside it ends it where it hangs or takes too much
// memory.
import { Worker } from 'node:worker_threads'
import { readers } from './readers/index.ts'
import { fuzz } from './run.ts'

const [name, seed, count, failed, from = '0'] = process.argv.slice(2)
const reader = readers.find((it) => it.name === name)
if (!reader || seed === undefined || failed === undefined) throw new Error(`no reader ${name}`)

/** number of the input, and whether that is over */
const state = new SharedArrayBuffer(8)
const now = new Int32Array(state)
const watcher = new Worker(
  `const { workerData, parentPort } = require('node:worker_threads')
  const now = new Int32Array(workerData.state)
  const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000 }
  let [number, since, usedMs, most] = [-1, 0, 0, 0]
  const end = (why, figure) => {
    const ended = { ended: why, number: Atomics.load(now, 0), figure }
    require('node:fs').writeSync(1, JSON.stringify(ended) + '\\n')
    process.kill(process.pid, 'SIGKILL')
  }
  setInterval(() => {
    const is = Atomics.load(now, 0)
    if (is !== number) [number, since, usedMs] = [is, performance.now(), used()]
    const rss = process.memoryUsage.rss()
    if (rss > most) Atomics.store(now, 1, (most = rss) / 1000)
    if (rss > 500e6) end('memory', Math.round(rss / 1e6))
    // on a machine with other work the clock runs on while nothing is done here
    if (used() - usedMs > 10_000 || performance.now() - since > 60_000) {
      end('hang', Math.round((performance.now() - since) / 1000))
    }
  }, 200)`,
  { eval: true, workerData: { state } },
)
const begun = performance.now()
// what many inputs before have left behind is no use of memory by this one
const collect = globalThis.gc ?? (() => undefined)
const begin = (number: number): void => {
  Atomics.store(now, 0, number)
  if (number % 25 === 0) collect()
}
const fuzzed = await fuzz(reader, { seed, count: Number(count), from: Number(from), failed, begin })
const seconds = Math.round((performance.now() - begun) / 1000)
const megabytes = Math.round(now[1]! / 1000)
process.stdout.write(`${JSON.stringify({ fuzzed: { ...fuzzed, seconds, megabytes } })}\n`)
await watcher.terminate()
