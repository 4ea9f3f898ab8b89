import { endOf, orFail, runProgram } from '../../adapters/process.ts'
import type { ProgramResult } from '../../adapters/process.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import { inFlight } from '../../core/answers.ts'
import type { ServiceStatus } from '../../core/sources.ts'
import { healthOf, parseProperties, statusOf } from './properties.ts'
import type { Command, HostSettings, ServiceManager } from './manager.ts'
import type { PlatformOptions } from '../platform.ts'
import { javaProcesses } from '../../core/host.ts'
import { typed } from '../../core/typed.ts'
import { command, nested } from '../../core/shell-command.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

const keptCharacters = 10_000

/**
 * Runs a command that leaves a service behind. Waits for the command's end, not its output's: the service may inherit
 * the output. Discards standard output, so that the service does not write into a pipe that nobody reads. Throws
 * UNAVAILABLE, TIMED_OUT, INTERRUPTED.
 */
async function runStarter(words: Command, { timeoutMs, environment, signal }: PlatformOptions): Promise<ProgramResult> {
  const [file, ...parameters] = words
  const deadline = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)))
  const child = spawn(file, parameters, { stdio: ['ignore', 'ignore', 'pipe'], env: environment })
  let stderr = ''
  child.stderr.on('data', (bytes: Buffer) => (stderr = `${stderr}${bytes.toString()}`.slice(-keptCharacters)))
  try {
    const ended: unknown[] = await once(child, 'exit', {
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    })
    const [exitCode, endedBy] = ended as [number | null, string | null]
    // its last output may still be on its way
    await sleep(50)
    return { exitCode, signal: endedBy, stdout: '', stderr, truncated: false }
  } catch (error) {
    child.kill()
    if (signal?.aborted)
      throw new AdminError('INTERRUPTED', `\`${typed(words)}\` was interrupted`, [], { cause: error })
    if (deadline.aborted) {
      throw new AdminError('TIMED_OUT', `\`${typed(words)}\` did not finish within ${timeoutMs / 1000} s`, [
        typed(words),
      ])
    }
    throw new AdminError(
      'UNAVAILABLE',
      `\`${file}\` cannot be started: ${messageOf(error)}`,
      [command`command -v ${file}`],
      {
        cause: error,
      },
    )
  } finally {
    child.stderr.destroy()
    child.unref()
  }
}

const momentMs = 1000

/**
 * Manages the service by the operator's own commands. `status` exits as an init script does (0 runs, 3 does not, 1 and
 * 2 died and left a file behind: LSB). It may print what `systemctl show` prints, which then overrides the exit code.
 * Its methods throw UNAVAILABLE, TIMED_OUT, FAILED, UNEXPECTED_ANSWER.
 */
export function ownCommands(commands: NonNullable<HostSettings['commands']>, options: PlatformOptions): ServiceManager {
  // each question starts a program, so that health reuses a status of a moment ago
  let last: { at: number; result: ProgramResult } | null = null
  const ask = inFlight(async () => {
    const result = await runProgram(commands.status, options)
    last = { at: performance.now(), result }
    return result
  })
  return {
    async status() {
      const result = await ask()
      const shown = statusOf(parseProperties(result.stdout))
      if (shown && result.exitCode !== null && result.exitCode <= 3) return shown
      const state = stateOf(result.exitCode)
      if (state) return { state, detail: `\`${typed(commands.status)}\` ${endOf(result)}`, instances: [] }
      const suggestions = [typed(commands.status)]
      throw new AdminError(
        'UNEXPECTED_ANSWER',
        `\`${typed(commands.status)}\` ${endOf(result)}. Expected exit code: 0 or 3`,
        suggestions,
      )
    },
    async health() {
      const { stdout } = last && performance.now() - last.at <= momentMs ? last.result : await ask()
      return healthOf(parseProperties(stdout))
    },
    async start({ timeoutMs }) {
      last = null
      orFail(commands.start, await runStarter(commands.start, { ...options, timeoutMs }))
    },
    async stop({ timeoutMs }) {
      last = null
      orFail(commands.stop, await runProgram(commands.stop, { ...options, timeoutMs }))
    },
    async environment() {
      return { variables: new Map(), files: [] }
    },
    commands: {
      start: typed(commands.start),
      stop: typed(commands.stop),
      restart: command`${nested(typed(commands.stop))} && ${nested(typed(commands.start))}`,
      status: typed(commands.status),
      logs: "# read the service's log",
      processes: javaProcesses,
      settings: "the service's settings",
      edit: "# change the service's settings",
    },
    log: null,
  }
}

function stateOf(exitCode: number | null): ServiceStatus['state'] | null {
  if (exitCode === 0) return 'running'
  if (exitCode === 3) return 'stopped'
  return exitCode === 1 || exitCode === 2 ? 'failed' : null
}
