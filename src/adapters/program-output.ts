import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { env } from 'node:process'
import { Duplex } from 'node:stream'
import { AdminError } from '../core/error.ts'
import { typed } from '../core/typed.ts'
import { linesOf } from './lines.ts'
import type { ProgramResult } from './process.ts'
import { endOf, Newest, notStarted, start, Stopper } from './process.ts'

interface BlocksOptions {
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
  if (!stdout || !stderr) throw new TypeError('a program was started without stdout and stderr')
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

interface LinesOptions extends Omit<BlocksOptions, 'signal'> {
  /** Characters kept of a line; the rest is left out */
  maxLength: number
  signal: AbortSignal
}

/** Yields the output of a program as `programBlocks` does, line by line. */
export async function* programLines(
  command: readonly [string, ...string[]],
  { maxLength, ...options }: LinesOptions,
): AsyncGenerator<string> {
  yield* linesOf(programBlocks(command, options), maxLength)
}

/**
 * Starts a program as a connection: writing goes to its standard input, reading comes from its standard output. It ends
 * normally if the program exits with 0. Otherwise, or if the program cannot be started, it fails. Destroying it ends
 * the program.
 */
export function programStream(
  [file, ...parameters]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string | undefined>>,
): Duplex {
  // detached from this terminal: an undo after Ctrl-C still needs its connections
  const child = spawn(file, parameters, {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...env, ...environment },
    detached: true,
  })
  const stream = new Duplex({
    read: () => void child.stdout.resume(),
    write: (bytes: Buffer, _, done) => void child.stdin.write(bytes, done),
    final: (done) => void child.stdin.end(done),
    destroy(error, done) {
      child.kill()
      done(error)
    },
  })
  child.stdout.on('data', (bytes: Buffer) => {
    if (!stream.push(bytes)) child.stdout.pause()
  })
  // a program that has ended accepts no input; its exit reports the failure
  child.stdin.on('error', () => undefined)
  child.once('error', (error) => stream.destroy(error))
  child.once('close', (exitCode) =>
    exitCode === 0 ? stream.push(null) : stream.destroy(new Error(`${file} exited with ${exitCode}`)),
  )
  return stream
}
