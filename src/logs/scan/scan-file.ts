import { open } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { setImmediate as immediately } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { threadProgram } from '../../core/package-parts.ts'
import { joiner } from './merge.ts'
import type { Joiner } from './merge.ts'
import { takeSpareThread } from './spare-thread.ts'
import { hasParts, partsIn, scanParts } from './part-scan.ts'
import type { PartTally, SharedScan } from './part-scan.ts'
import type { ScanOptions } from './scanner.ts'
import type { Tally } from './tally.ts'

/** Bytes that a thread takes at a time, twice of which bin/thread.cjs calls large, and the maximum number of threads */
const [worthTaking, maxThreads] = [32 << 20, 3]
const blocksAtOnce = 64

/**
 * Scans a plain file to its end, as it is when the scan reaches it; a large one on several processors. If the signal
 * ends the scan, the tally covers as many of the first bytes as it says. Throws what reading throws. `partLength` is in
 * bytes.
 */
export async function scanFile(
  path: string,
  options: ScanOptions,
  signal?: AbortSignal,
  partLength = worthTaking,
): Promise<Tally> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const threads = Math.min(availableParallelism(), maxThreads, Math.floor(size / partLength))
    const program = threads > 1 && hasParts(file.fd, options.timeZone) ? threadProgram('logs/scan/worker.js') : null
    const { timeZone, since, until, engine } = options
    const shared = {
      descriptor: file.fd,
      size,
      partLength: program ? partLength : Infinity,
      next: new Int32Array(new SharedArrayBuffer(4)),
      options: { timeZone, since, until, engine },
    }
    return await scanShared(program, threads - 1, shared, signal)
  } finally {
    await file.close()
  }
}

/**
 * Scans here, and with a program in `threads` more threads. All have ended before it returns or throws, as they read
 * from the file.
 */
async function scanShared(
  program: string | URL | null,
  threads: number,
  shared: SharedScan,
  signal: AbortSignal | undefined,
): Promise<Tally> {
  const found = joiner()
  const workers = Array.from({ length: program ? threads : 0 }, () => {
    const worker = takeSpareThread() ?? new Worker(program!, { resourceLimits: { maxYoungGenerationSizeMb: 8 } })
    worker.ref()
    worker.postMessage(shared)
    return worker
  })
  const over = new AbortController()
  const here = scanHere(shared, found, AbortSignal.any([over.signal, ...(signal ? [signal] : [])]))
  try {
    await Promise.all([here, ...workers.map((worker) => foundBy(worker, found, signal))])
  } catch (error) {
    if (!signal?.aborted) throw error
    await here
  } finally {
    over.abort()
    await Promise.allSettled([here, ...workers.map((worker) => worker.terminate())])
  }
  const { tally, parts } = found.joined()
  if (!signal?.aborted && parts < partsIn(shared.size, shared.partLength))
    throw new Error('part of a file was not scanned')
  return tally
}

/** Scans in this thread. Every few blocks, lets signals and the other threads' findings arrive. */
async function scanHere(shared: SharedScan, found: Joiner, signal: AbortSignal): Promise<void> {
  const scan = scanParts(shared)
  let blocks = 0
  for (let step = scan.next(); !step.done; step = scan.next(signal.aborted)) {
    if (step.value) found.add(step.value)
    if ((blocks += 1) % blocksAtOnce === 0) await immediately()
  }
}

function foundBy(worker: Worker, found: Joiner, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal?.reason as Error)
    signal?.addEventListener('abort', stop, { once: true })
    worker.on('message', (part: PartTally) => found.add(part))
    worker.once('error', reject)
    worker.once('exit', (code) => {
      signal?.removeEventListener('abort', stop)
      if (code === 0) resolve()
      else reject(new Error('a thread ended before it had scanned its part of a file'))
    })
  })
}
