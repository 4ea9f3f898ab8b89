import { once } from 'node:events'
import { AdminError } from '../core/error.ts'
import { typed } from '../core/typed.ts'
import { endOf, Newest } from './process.ts'
import type { ProgramResult } from './process.ts'
import { notStarted, start, Stopper } from './program.ts'

export interface BlocksOptions {
  /** Variables added to this process's own */
  environment?: Readonly<Record<string, string | undefined>>
  /** Command to show in errors */
  shown?: readonly string[]
  /** Aborting it ends the program, and its output */
  signal?: AbortSignal | undefined
  /** Returns the error for an exit code other than 0, given the last output */
  failure?: (result: ProgramResult) => AdminError
}

/** bytes of output kept for the error */
const lastBytes = 10_000

/**
 * Yields the output of a program, as fast as it is consumed. The program has ended when the iteration ends. Throws
 * UNAVAILABLE if it cannot be started, UNEXPECTED_ANSWER if it does not exit with 0.
 */
export async function* programBlocks(
  command: readonly [string, ...string[]],
  options: BlocksOptions = {},
): AsyncGenerator<Uint8Array> {
  const { environment, shown = command, signal } = options
  if (signal?.aborted) return
  const [file, ...parameters] = command
  const child = start(file, parameters, { environment: environment ?? {} })
  const { stdout, stderr } = child
  if (!stdout || !stderr) throw new TypeError('a program was started without its outputs')
  const said = new Newest(lastBytes)
  stderr.on('data', (bytes: Buffer) => said.add(bytes))
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  // it is awaited below
  ended.catch(() => undefined)
  const stop = new Stopper(child, true, undefined)
  const abort = (): void => stop.because('interrupted')
  signal?.addEventListener('abort', abort)
  try {
    let last: Uint8Array = new Uint8Array()
    for await (const block of stdout as AsyncIterable<Uint8Array>) {
      last = block
      yield block
    }
    const [exitCode, by] = await ended.catch((error: unknown) => {
      throw notStarted(file, undefined, error)
    })
    if (exitCode === 0 || signal?.aborted) return
    const result = {
      exitCode,
      signal: by,
      stdout: Buffer.from(last.subarray(-lastBytes)).toString(),
      stderr: said.text(),
      truncated: false,
    }
    throw (
      options.failure?.(result) ??
      new AdminError('UNEXPECTED_ANSWER', `\`${typed(shown)}\` ${endOf({ ...result, stdout: '' })}`, [typed(shown)])
    )
  } finally {
    signal?.removeEventListener('abort', abort)
    stop.because('interrupted')
    await ended.catch(() => undefined)
    stop.done()
    stderr.destroy()
  }
}
