import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { env } from 'node:process'
import { AdminError, codeOf } from '../core/error.ts'
import { typed } from '../core/typed.ts'
import { seconds } from './failure.ts'
import { isOnTerminal } from './terminal.ts'

export interface ProgramOptions {
  /** null: as long as it takes */
  timeoutMs: number | null
  /** given on standard input */
  input?: string
  /** added to this process's own environment; undefined takes a variable away */
  environment?: Readonly<Record<string, string | undefined>>
  /** it gets `environment` and nothing of this process's own */
  isolated?: boolean
  directory?: string
  /** as errors name it, where its parameters may be secrets */
  shown?: readonly string[]
  /** whom it runs as, where that is not this process's own user */
  account?: { uid: number; gid: number } | null
  /** of standard output and standard error each; 10 MB unless told otherwise */
  maxBytes?: number
  /** keeps the newest of the output, as for logs; else what is over `maxBytes` is an error */
  keepNewest?: boolean
  signal?: AbortSignal | undefined
  /** how it is ended, where it has to put things in order: by this signal, and by force after so many milliseconds only */
  end?: { signal: NodeJS.Signals; graceMs: number }
  /** is told its number as soon as it runs; where this throws, it is ended, and that is thrown */
  started?: (pid: number) => Promise<void>
  /** it may ask a person: it keeps this process's terminal, where there is one, and what it starts in turn is not ended with it */
  terminal?: boolean
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
  const [file, ...parameters] = command
  const shown = typed(options.shown ?? command)
  const maxBytes = options.maxBytes ?? 10_000_000
  const keep = options.keepNewest === true
  const stdout = new Newest(maxBytes)
  const stderr = new Newest(Math.max(maxBytes, 10_000))
  const child = start(file, parameters, options)
  const stop = new Stopper(child, hasGroup(options), options.end)
  const { timeoutMs } = options
  const timer = timeoutMs === null ? undefined : setTimeout(() => stop.because('late'), timeoutMs)
  const abort = (): void => stop.because('interrupted')
  if (options.signal?.aborted) abort()
  options.signal?.addEventListener('abort', abort)
  try {
    for (const [stream, kept] of [
      [child.stdout, stdout],
      [child.stderr, stderr],
    ] as const) {
      stream?.on('data', (bytes: Buffer) => {
        kept.add(bytes)
        if (kept.truncated && !keep) stop.because('long')
      })
    }
    // a program need not read what it is given
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(options.input)
    const noted = child.pid === undefined ? undefined : options.started?.(child.pid)
    noted?.catch(() => stop.because('interrupted'))
    const ended = await endOfProcess(child).catch((error: unknown) => {
      throw notStarted(file, options.directory, error)
    })
    await noted
    if (stop.reason === null) return { ...ended, stdout: stdout.text(), stderr: stderr.text(), truncated: stdout.truncated }
    throw {
      late: new AdminError('TIMED_OUT', `\`${shown}\` did not finish within ${seconds(timeoutMs ?? 0)}`, [shown]),
      interrupted: new AdminError('INTERRUPTED', `\`${shown}\` was interrupted`),
      long: new AdminError('UNEXPECTED_ANSWER', `\`${shown}\` wrote more than ${maxBytes} bytes`, [shown]),
    }[stop.reason]
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', abort)
    stop.done()
  }
}

function start(file: string, parameters: readonly string[], options: ProgramOptions): ChildProcess {
  const { input, environment, directory, account } = options
  try {
    return spawn(file, parameters, {
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      env: { ...(options.isolated ? {} : env), ...environment },
      ...(directory === undefined ? {} : { cwd: directory }),
      ...(account ? { uid: account.uid, gid: account.gid } : {}),
      detached: hasGroup(options),
    })
  } catch (error) {
    throw notStarted(file, directory, error)
  }
}

/** Whether it is a group of its own, which ends as a whole; it cannot ask anybody then. */
function hasGroup({ terminal }: ProgramOptions): boolean {
  return terminal !== true || !isOnTerminal()
}

/** How long the rest of the output is waited for once a program has ended: what it left running may hold its output for ever. */
const restMs = 200
/** less than what a check has beyond its sources' own deadlines, so that the reason is told and not just that it took long */
const graceMs = 500

async function endOfProcess(child: ChildProcess): Promise<{ exitCode: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (exitCode, signal) => {
      const result = { exitCode, signal }
      const rest = setTimeout(() => {
        child.stdout?.destroy()
        child.stderr?.destroy()
        resolve(result)
      }, restMs)
      child.once('close', () => {
        clearTimeout(rest)
        resolve(result)
      })
    })
  })
}

/** Ends a program: first it is asked to, then it must. */
class Stopper {
  reason: 'late' | 'interrupted' | 'long' | null = null
  #kill: NodeJS.Timeout | undefined
  // what has to put things in order is left to itself then
  readonly #atExit = (): void => this.#send(this.end?.signal ?? 'SIGKILL')

  constructor(
    private readonly child: ChildProcess,
    private readonly group: boolean,
    private readonly end: ProgramOptions['end'],
  ) {
    // each program has its own until it ends: many at once are no leak, of which Node would warn
    process.setMaxListeners(Math.max(process.getMaxListeners(), process.listenerCount('exit') + 2))
    process.once('exit', this.#atExit)
  }

  because(reason: NonNullable<Stopper['reason']>): void {
    if (this.reason !== null) return
    this.reason = reason
    this.#send(this.end?.signal ?? 'SIGTERM')
    this.#kill = setTimeout(() => this.#send('SIGKILL'), this.end?.graceMs ?? graceMs)
  }

  done(): void {
    // what ignored the request to end may have outlived its parent
    if (this.reason !== null && this.group) this.#send('SIGKILL')
    clearTimeout(this.#kill)
    process.removeListener('exit', this.#atExit)
  }

  #send(signal: NodeJS.Signals): void {
    const { pid } = this.child
    if (pid === undefined) return
    try {
      if (this.group) process.kill(-pid, signal)
      else this.child.kill(signal)
    } catch {
      // nothing of it is left
    }
  }
}

/** Throws FAILED with what the program said last where it did not end with 0. */
export function orFail(command: readonly string[], result: ProgramResult): void {
  if (result.exitCode !== 0) throw new AdminError('FAILED', `\`${typed(command)}\` ${endOf(result)}`, [typed(command)])
}

/** 'ended with 1: last line of what it said' */
export function endOf({ exitCode, signal, stdout, stderr }: ProgramResult): string {
  const end = exitCode === null ? `was ended by ${signal}` : `ended with ${exitCode}`
  const said = [stderr, stdout].map((stream) => stream.trim().split('\n').at(-1)?.trim() ?? '').find((line) => line !== '')
  return said === undefined ? end : `${end}: ${said.slice(0, 300)}`
}

function notStarted(file: string, directory: string | undefined, cause: unknown): AdminError {
  const code = codeOf(cause) ?? 'unknown reason'
  const why =
    code === 'ENOENT'
      ? `${file} is not installed on this machine${directory === undefined ? '' : `, or there is no folder ${directory}`}`
      : code === 'EACCES'
        ? `${file} may not be executed`
        : `${file} cannot be started (${code})`
  return new AdminError('UNAVAILABLE', why, [`command -v ${typed([file])}`], { cause })
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
