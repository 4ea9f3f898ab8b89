import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { env } from 'node:process'
import { AdminError, codeOf } from '../core/error.ts'
import { command } from '../core/shell-command.ts'
import { closeSync, openSync } from 'node:fs'

/** Starts and ends programs, whatever happens to their output. */

export interface StartOptions {
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
  /** How to end it if it has to clean up: by this signal, and by force only after `graceMs` milliseconds */
  end?: { signal: NodeJS.Signals; graceMs: number }
}

/** Starts a program. Throws UNAVAILABLE. If the program is missing, the event `error` reports it. */
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

/** True if the program is a process group, which ends as a whole and cannot ask the operator. */
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
