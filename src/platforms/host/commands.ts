import { endOf, orFail, runProgram } from '../../adapters/process.ts'
import { AdminError } from '../../core/error.ts'
import type { ServiceStatus } from '../../core/sources.ts'
import { healthOf } from './health.ts'
import type { ServiceManager } from './manager.ts'
import { parseProperties, statusOf } from './properties.ts'
import { runStarter } from './run-starter.ts'
import type { PlatformOptions } from '../platform.ts'
import type { HostSettings } from './settings.ts'
import { typed } from '../../core/typed.ts'

/**
 * The operator's own commands. `status` ends as an init script's does (0 runs, 3 does not, 1 and 2 died and left a file
 * behind: LSB), and may print what `systemctl show` prints, which then stands above the exit code.
 * Its methods throw UNAVAILABLE, TIMED_OUT, FAILED, UNEXPECTED_ANSWER.
 */
export function ownCommands(commands: NonNullable<HostSettings['commands']>, options: PlatformOptions): ServiceManager {
  return {
    async status() {
      const result = await runProgram(commands.status, options)
      const shown = statusOf(parseProperties(result.stdout))
      if (shown && result.exitCode !== null && result.exitCode <= 3) return shown
      const state = stateOf(result.exitCode)
      if (state) return { state, detail: `\`${typed(commands.status)}\` ${endOf(result)}`, instances: [] }
      const suggestions = [typed(commands.status)]
      throw new AdminError(
        'UNEXPECTED_ANSWER',
        `\`${typed(commands.status)}\` ${endOf(result)}; it should end with 0 or 3`,
        suggestions,
      )
    },
    async health() {
      return healthOf(parseProperties((await runProgram(commands.status, options)).stdout))
    },
    async start({ timeoutMs }) {
      orFail(commands.start, await runStarter(commands.start, { ...options, timeoutMs }))
    },
    async stop({ timeoutMs }) {
      orFail(commands.stop, await runProgram(commands.stop, { ...options, timeoutMs }))
    },
    async environment() {
      return { variables: new Map(), files: [] }
    },
    commands: {
      start: typed(commands.start),
      stop: typed(commands.stop),
      restart: `${typed(commands.stop)} && ${typed(commands.start)}`,
      status: typed(commands.status),
      logs: "# read the service's log",
      settings: "the service's settings",
    },
    log: null,
  }
}

function stateOf(exitCode: number | null): ServiceStatus['state'] | null {
  if (exitCode === 0) return 'running'
  if (exitCode === 3) return 'stopped'
  return exitCode === 1 || exitCode === 2 ? 'failed' : null
}
