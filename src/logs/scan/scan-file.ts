import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setImmediate as immediately } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { packageFolder } from '../../core/package-folder.ts'
import { joinTallies } from './merge.ts'
import { scanPart } from './part-scan.ts'
import type { PartToScan } from './part-scan.ts'
import { partsOfFile } from './parts-of-file.ts'
import { openBlockScan } from './scanner.ts'
import type { ScanOptions } from './scanner.ts'
import type { Tally } from './tally.ts'

/** bytes that are worth a thread, which takes a while to start and some memory; and how many there are at most */
const [worthThread, maxThreads] = [32 << 20, 3]
/** bytes that the main thread has scanned before the others have started */
const startUp = 80 << 20
const blocksAtOnce = 16

/**
 * Scans a plain file, to its end at the time when that is reached; a large one on several processors. Where the signal ends it, what is
 * told is of as many of its first bytes as the tally says. Throws what reading it throws. `perThread`: bytes.
 */
export async function scanFile(path: string, options: ScanOptions, signal?: AbortSignal, perThread = worthThread): Promise<Tally> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const threads = Math.min(availableParallelism(), maxThreads, Math.floor(size / perThread))
    const program = join(packageFolder(), 'dist/logs/scan/worker.js')
    const parts = threads > 1 && existsSync(program) ? await partsOfFile(file, size, threads, options.timeZone, Math.min(startUp, size / threads)) : []
    return await (parts.length > 1 ? inThreads(program, parts.map((part) => partToScan(file, part, options)), signal) : scanWhole(file, options, signal))
  } finally {
    await file.close()
  }
}

async function scanWhole(file: FileHandle, options: ScanOptions, signal: AbortSignal | undefined): Promise<Tally> {
  const scan = openBlockScan(options)
  for (;;) {
    if (signal?.aborted) return scan.tally()
    const { bytesRead } = await file.read(scan.space())
    if (bytesRead === 0) return scan.end()
    scan.filled(bytesRead)
  }
}

/** What can be sent to a thread. */
function partToScan({ fd }: FileHandle, part: PartToScan['part'], { timeZone, since, until, engine }: ScanOptions): PartToScan {
  return { descriptor: fd, part, options: { timeZone, since, until, engine } }
}

/** The first part is scanned here, as threads take a while to start. All has ended before it returns or throws: they read from the file. */
async function inThreads(program: string, [own, ...others]: readonly PartToScan[], signal: AbortSignal | undefined): Promise<Tally> {
  const threads = others.map((workerData) => new Worker(program, { workerData, resourceLimits: { maxYoungGenerationSizeMb: 2 } }))
  const over = new AbortController()
  const here = scanHere(own!, AbortSignal.any([over.signal, ...(signal ? [signal] : [])]))
  try {
    return joinTallies(await Promise.all([here, ...threads.map((thread) => answerOf(thread, signal))]))
  } catch (error) {
    if (!signal?.aborted) throw error
    // what the others have found comes after a gap
    return await here
  } finally {
    over.abort()
    await Promise.allSettled([here, ...threads.map((thread) => thread.terminate())])
  }
}

/** Lets signals and the threads' answers come between some blocks and the next. */
async function scanHere(part: PartToScan, signal: AbortSignal): Promise<Tally> {
  const scan = scanPart(part)
  for (let blocks = 1; ; blocks += 1) {
    const { done, value } = scan.next(signal.aborted)
    if (done) return value
    if (blocks % blocksAtOnce === 0) await immediately()
  }
}

function answerOf(thread: Worker, signal: AbortSignal | undefined): Promise<Tally> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal?.reason as Error)
    signal?.addEventListener('abort', stop, { once: true })
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', () => {
      signal?.removeEventListener('abort', stop)
      reject(new Error('a thread that scans a file ended without an answer'))
    })
  })
}
