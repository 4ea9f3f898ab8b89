import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { env } from 'node:process'
import { AdminError, codeOf } from '../core/error.ts'
import { command } from '../core/shell-command.ts'
import { closeSync, openSync } from 'node:fs'

/** How a program is started and ended, whatever happens to its output. */

export interface StartOptions {
  /** given on standard input */
  input?: string
  /** added to this process's own environment; undefined takes a variable away */
  environment?: Readonly<Record<string, string | undefined>>
  /** it gets `environment` and nothing of this process's own */
  isolated?: boolean
  directory?: string
  /** whom it runs as, where that is not this process's own user */
  account?: { uid: number; gid: number } | null
  /**
   * it may ask a person: it keeps this process's terminal, where there is one, and what it starts in turn is not ended
   * with it
   */
  terminal?: boolean
  /**
   * how it is ended, where it has to put things in order: by this signal, and by force after so many milliseconds only
   */
  end?: { signal: NodeJS.Signals; graceMs: number }
}

/** Throws UNAVAILABLE. If the program is missing, the event `error` says so. */
export function start(file: string, parameters: readonly string[], options: StartOptions): ChildProcess {
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

/** Whether the program is a process group that ends as a whole; it can then ask nobody. */
export function hasGroup({ terminal }: StartOptions): boolean {
  return terminal !== true || !isOnTerminal()
}

export function notStarted(file: string, directory: string | undefined, cause: unknown): AdminError {
  const code = codeOf(cause) ?? 'unknown reason'
  const why =
    code === 'ENOENT'
      ? `${file} is not installed on this machine${directory === undefined ? '' : `, or there is no folder ${directory}`}`
      : code === 'EACCES'
        ? `${file} may not be executed`
        : `${file} cannot be started (${code})`
  return new AdminError('UNAVAILABLE', why, [command`command -v ${file}`], { cause })
}

/**
 * less than what a check has beyond its sources' own deadlines, so that the reason is told and not just that it took
 * long
 */
const graceMs = 500

/** Ends a program: first with a request, then by force. */
export class Stopper {
  reason: 'late' | 'interrupted' | 'long' | null = null
  #kill: NodeJS.Timeout | undefined
  // what has to put things in order is left to itself then
  readonly #atExit = (): void => this.#send(this.end?.signal ?? 'SIGKILL')

  constructor(
    private readonly child: ChildProcess,
    private readonly group: boolean,
    private readonly end: StartOptions['end'],
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

/** Whether this process has a terminal, even if its streams are redirected. */
export function isOnTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r+'))
    return true
  } catch {
    return false
  }
}
