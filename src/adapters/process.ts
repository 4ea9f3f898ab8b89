import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { env } from 'node:process'
import { AdminError, codeOf } from '../core/error.ts'
import { beginningWithoutSecrets } from '../core/redaction/index.ts'
import { command } from '../core/shell-command.ts'
import { typed } from '../core/typed.ts'
import { seconds } from './failure.ts'

/** Starts and ends programs, whatever happens to their output. */

interface StartOptions {
  /** Text for standard input */
  input?: string
  /** Variables added to this process's own environment; undefined removes one */
  environment?: Readonly<Record<string, string | undefined>>
  /** True if it gets `environment` and nothing of this process's own */
  isolated?: boolean
  directory?: string
  /** User to run it as, if not this process's own */
  account?: { uid: number; gid: number } | null
  /**
   * True if it may ask the operator. It then keeps this process's terminal, if there is one, and its own children do
   * not end with it
   */
  terminal?: boolean
  /** True if it gets a channel both ways, its descriptor 3: `stdio[3]` */
  channel?: boolean
  /** How to end it if it has to clean up: by this signal, and by force only after `graceMs` milliseconds */
  end?: { signal: NodeJS.Signals; graceMs: number }
}

/** Starts a program. Throws UNAVAILABLE. If the program is missing, the event `error` reports it. */
export function start(file: string, parameters: readonly string[], options: StartOptions): ChildProcess {
  const { input, environment, directory, account } = options
  try {
    return spawn(file, parameters, {
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...(options.channel ? ['pipe' as const] : [])],
      env: { ...(options.isolated ? {} : env), ...environment },
      ...(directory === undefined ? {} : { cwd: directory }),
      ...(account ? { uid: account.uid, gid: account.gid } : {}),
      detached: hasGroup(options),
    })
  } catch (error) {
    throw notStarted(file, directory, error)
  }
}

/** True if the program is a process group, which ends as a whole and cannot ask the operator. */
function hasGroup({ terminal }: StartOptions): boolean {
  return terminal !== true || !isOnTerminal()
}

export function notStarted(file: string, directory: string | undefined, cause: unknown): AdminError {
  const code = codeOf(cause) ?? 'unknown reason'
  const why =
    code === 'ENOENT'
      ? `${file} is not installed on this ` +
        `machine${directory === undefined ? '' : `, or the folder ${directory} is missing`}`
      : code === 'EACCES'
        ? `this user may not execute ${file}`
        : `${file} cannot be started (${code})`
  return new AdminError('UNAVAILABLE', why, [command`command -v ${file}`], { cause })
}

/**
 * milliseconds until force; shorter than a check's margin beyond its sources' deadlines, so that it can still report
 * the reason
 */
const graceMs = 500

/** Ends a program: first with a request, then by force. */
export class Stopper {
  reason: 'late' | 'interrupted' | 'long' | null = null
  #kill: NodeJS.Timeout | undefined
  // a program that has to clean up ends by itself then
  readonly #atExit = (): void => this.#send(this.end?.signal ?? 'SIGKILL')

  constructor(
    private readonly child: ChildProcess,
    private readonly group: boolean,
    private readonly end: StartOptions['end'],
  ) {
    // each program has a listener until it ends: many at once are not the leak that Node would warn of
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
    // children that ignored the request to end may have outlived the program
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
      // it is gone already
    }
  }
}

/** True if this process has a terminal, even if its streams are redirected. */
export function isOnTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r+'))
    return true
  } catch {
    return false
  }
}

export interface ProgramOptions extends StartOptions {
  /** Milliseconds it may take; null for no limit */
  timeoutMs: number | null
  /** Command to show in errors, if its parameters may be secrets */
  shown?: readonly string[]
  /** Most bytes of standard output, and of standard error; 10 MB by default */
  maxBytes?: number
  /** True to keep the newest output, as for logs; else more than `maxBytes` is an error */
  keepNewest?: boolean
  signal?: AbortSignal | undefined
  /** Called with its process id as soon as it runs; an error from it ends the program, and is thrown */
  started?: (pid: number) => Promise<void>
}

export interface ProgramResult {
  /** null if a signal ended the program */
  exitCode: number | null
  signal: string | null
  stdout: string
  stderr: string
  /** True if older output was left out */
  truncated: boolean
}

/**
 * Runs a program without a shell. Returns its output, whatever its exit code. Throws UNAVAILABLE if it cannot be
 * started, TIMED_OUT, INTERRUPTED, UNEXPECTED_ANSWER for more than `maxBytes`. Arguments appear in error messages and
 * in the process list: pass secrets in `input` or `environment`.
 */
export async function runProgram(
  command: readonly [string, ...string[]],
  options: ProgramOptions,
): Promise<ProgramResult> {
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
    // a program need not read its input
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(options.input)
    const noted = child.pid === undefined ? undefined : options.started?.(child.pid)
    noted?.catch(() => stop.because('interrupted'))
    const ended = await endOfProcess(child).catch((error: unknown) => {
      throw notStarted(file, options.directory, error)
    })
    await noted
    if (stop.reason === null)
      return { ...ended, stdout: stdout.text(), stderr: stderr.text(), truncated: stdout.truncated }
    throw {
      late: () => new AdminError('TIMED_OUT', `\`${shown}\` did not finish within ${seconds(timeoutMs ?? 0)}`, [shown]),
      interrupted: () => new AdminError('INTERRUPTED', `\`${shown}\` was interrupted`),
      long: () => new AdminError('UNEXPECTED_ANSWER', `\`${shown}\` wrote more than ${maxBytes} bytes`, [shown]),
    }[stop.reason]()
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', abort)
    stop.done()
  }
}

/**
 * Milliseconds to wait for the rest of the output after a program has ended: its children may keep the output open
 * forever.
 */
const restMs = 200

/** Returns how a program ended, once its output has been read. Throws if it cannot be started. */
export async function endOfProcess(child: ChildProcess): Promise<{ exitCode: number | null; signal: string | null }> {
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

/** Throws FAILED with the last line of output if the program did not exit with 0. */
export function orFail(command: readonly string[], result: ProgramResult): void {
  if (result.exitCode !== 0) throw new AdminError('FAILED', `\`${typed(command)}\` ${endOf(result)}`, [typed(command)])
}

/** Describes how a program ended: 'exited with 1: last line of output' */
export function endOf({ exitCode, signal, stdout, stderr }: ProgramResult): string {
  const end = exitCode === null ? `was ended by ${signal}` : `exited with ${exitCode}`
  const said = [stderr, stdout]
    .map((stream) => stream.trim().split('\n').at(-1)?.trim() ?? '')
    .find((line) => line !== '')
  return said === undefined ? end : `${end}: ${beginningWithoutSecrets(said, 300)}`
}

/** Keeps the last bytes of a long stream. */
export class Newest {
  /** True if anything was left out */
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
