import { endOf, orFail, runProgram } from '../../adapters/process.ts'
import type { ProgramResult } from '../../adapters/process.ts'
import { AdminError } from '../../core/error.ts'
import { inFlight } from '../../core/in-flight.ts'
import type { ServiceStatus } from '../../core/sources.ts'
import { healthOf } from './health.ts'
import type { ServiceManager } from './manager.ts'
import { parseProperties, statusOf } from './properties.ts'
import { runStarter } from './run-starter.ts'
import type { PlatformOptions } from '../platform.ts'
import type { HostSettings } from './settings.ts'
import { typed } from '../../core/typed.ts'
import { command, nested } from '../../core/shell-command.ts'

const momentMs = 1000

/**
 * The operator's own commands. `status` ends as an init script's does (0 runs, 3 does not, 1 and 2 died and left a file
 * behind: LSB), and may print what `systemctl show` prints, which then stands above the exit code.
 * Its methods throw UNAVAILABLE, TIMED_OUT, FAILED, UNEXPECTED_ANSWER.
 */
export function ownCommands(commands: NonNullable<HostSettings['commands']>, options: PlatformOptions): ServiceManager {
  // each question starts a program: who looks at its health takes what the state was told from a moment ago
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
        `\`${typed(commands.status)}\` ${endOf(result)}; it should end with 0 or 3`,
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
