import { once } from 'node:events'
import { AdminError } from '../core/error.ts'
import { typed } from '../core/typed.ts'
import { linesOf } from './lines.ts'
import { endOf, Newest } from './process.ts'
import { notStarted, start, Stopper } from './program.ts'

interface LinesOptions {
  /** of a line, in characters; what is longer of it is left out */
  maxLength: number
  /** added to this process's own */
  environment?: Readonly<Record<string, string | undefined>>
  /** as errors name it */
  shown?: readonly string[]
  /** ends the program, and with it the lines */
  signal: AbortSignal
}

/**
 * What a program prints, a line at a time, as fast as it is taken; when this ends, so has the program.
 * Throws UNAVAILABLE where it cannot be started, UNEXPECTED_ANSWER where it does not end with 0.
 */
export async function* programLines(command: readonly [string, ...string[]], { maxLength, environment, shown = command, signal }: LinesOptions): AsyncGenerator<string> {
  if (signal.aborted) return
  const [file, ...parameters] = command
  const child = start(file, parameters, { environment: environment ?? {} })
  const { stdout, stderr } = child
  if (!stdout || !stderr) throw new TypeError('a program was started without its outputs')
  const said = new Newest(10_000)
  stderr.on('data', (bytes: Buffer) => said.add(bytes))
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  // it is waited for below
  ended.catch(() => undefined)
  const stop = new Stopper(child, true, undefined)
  const abort = (): void => stop.because('interrupted')
  signal.addEventListener('abort', abort)
  try {
    yield* linesOf(stdout, maxLength)
    const [exitCode, by] = await ended.catch((error: unknown) => {
      throw notStarted(file, undefined, error)
    })
    if (exitCode === 0 || signal.aborted) return
    const end = endOf({ exitCode, signal: by, stdout: '', stderr: said.text(), truncated: false })
    throw new AdminError('UNEXPECTED_ANSWER', `\`${typed(shown)}\` ${end}`, [typed(shown)])
  } finally {
    signal.removeEventListener('abort', abort)
    stop.because('interrupted')
    await ended.catch(() => undefined)
    stop.done()
    stderr.destroy()
  }
}
