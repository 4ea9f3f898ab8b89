import { AdminError } from '../core/error.ts'
import { seconds } from './failure.ts'

export interface ProgramOptions {
  timeoutMs: number
  /** given on standard input */
  input?: string
  /** added to this process's own environment; undefined takes a variable away */
  environment?: Readonly<Record<string, string | undefined>>
  directory?: string
  /** of standard output and standard error each; 10 MB unless told otherwise */
  maxBytes?: number
  /** keeps the newest of the output, as for logs; else what is over `maxBytes` is an error */
  keepNewest?: boolean
  signal?: AbortSignal
}

export interface ProgramResult {
  /** null where a signal ended the program */
  exitCode: number | null
  signal: string | null
  stdout: string
  stderr: string
  /** where only the newest was kept: whether anything was left out */
  truncated: boolean
}

/**
 * Runs a program without a shell and gives what it said, whatever its exit code.
 * Throws UNAVAILABLE where it cannot be started, TIMED_OUT, INTERRUPTED, UNEXPECTED_ANSWER for more than `maxBytes`.
 * Arguments appear in error messages and in the process list: a secret goes into `input` or `environment`.
 */
export async function runProgram(command: readonly [string, ...string[]], options: ProgramOptions): Promise<ProgramResult> {
  const { execa } = await import('execa')
  const [file, ...parameters] = command
  const maxBytes = options.maxBytes ?? 10_000_000
  const keep = options.keepNewest === true
  const stdout = new Newest(maxBytes)
  const stderr = new Newest(Math.max(maxBytes, 10_000))
  const running = execa(file, parameters, {
    reject: false,
    buffer: false,
    timeout: options.timeoutMs,
    forceKillAfterDelay: 1000,
    ...(options.environment === undefined ? {} : { env: options.environment }),
    ...(options.directory === undefined ? {} : { cwd: options.directory }),
    ...(options.signal === undefined ? {} : { cancelSignal: options.signal }),
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
  })
  for (const [stream, kept] of [
    [running.stdout, stdout],
    [running.stderr, stderr],
  ] as const) {
    stream.on('data', (bytes: Buffer) => {
      kept.add(bytes)
      if (kept.truncated && !keep) running.kill()
    })
  }
  const result = await running
  const shown = command.join(' ')
  if (result.timedOut) {
    throw new AdminError('TIMED_OUT', `\`${shown}\` did not finish within ${seconds(options.timeoutMs)}`, [shown])
  }
  if (result.isCanceled) throw new AdminError('INTERRUPTED', `\`${shown}\` was interrupted`)
  if (!keep && (stdout.truncated || stderr.truncated))
    throw new AdminError('UNEXPECTED_ANSWER', `\`${shown}\` wrote more than ${maxBytes} bytes`, [shown])
  if (result.exitCode === undefined && result.signal === undefined)
    throw notStarted(file, options.directory, result.code, result.cause)
  return {
    exitCode: result.exitCode ?? null,
    signal: result.signal ?? null,
    stdout: stdout.text(),
    stderr: stderr.text(),
    truncated: stdout.truncated,
  }
}

/** As `runProgram`; throws FAILED with what the program said last where it does not end with 0. */
export async function runProgramOrFail(command: readonly [string, ...string[]], options: ProgramOptions): Promise<ProgramResult> {
  const result = await runProgram(command, options)
  if (result.exitCode === 0) return result
  throw new AdminError('FAILED', `\`${command.join(' ')}\` ${endOf(result)}`, [command.join(' ')])
}

/** 'ended with 1: last line of what it said' */
export function endOf({ exitCode, signal, stdout, stderr }: ProgramResult): string {
  const end = exitCode === null ? `was ended by ${signal}` : `ended with ${exitCode}`
  const said = [stderr, stdout].map((stream) => stream.trim().split('\n').at(-1)?.trim() ?? '').find((line) => line !== '')
  return said === undefined ? end : `${end}: ${said.slice(0, 300)}`
}

function notStarted(file: string, directory: string | undefined, code: string | undefined, cause: unknown): AdminError {
  const why =
    code === 'ENOENT'
      ? `${file} is not installed on this machine${directory === undefined ? '' : `, or there is no folder ${directory}`}`
      : code === 'EACCES'
        ? `${file} may not be executed`
        : `${file} cannot be started (${code ?? 'unknown reason'})`
  return new AdminError('UNAVAILABLE', why, [`command -v ${file}`], { cause })
}

/** The last bytes of a stream that may be much longer. */
class Newest {
  /** anything was left out */
  truncated = false
  #chunks: Buffer[] = []
  #length = 0

  constructor(private readonly maxBytes: number) {}

  add(bytes: Buffer): void {
    this.#chunks.push(bytes)
    this.#length += bytes.length
    if (this.#length > this.maxBytes) this.truncated = true
    while (this.#chunks.length > 1 && this.#length - (this.#chunks[0]?.length ?? 0) >= this.maxBytes) {
      this.#length -= this.#chunks.shift()?.length ?? 0
    }
  }

  text(): string {
    const all = Buffer.concat(this.#chunks)
    return new TextDecoder().decode(all.subarray(Math.max(0, all.length - this.maxBytes)))
  }
}
