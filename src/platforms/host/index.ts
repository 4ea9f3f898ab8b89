import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLog } from '../../adapters/log-file.ts'
import type { LogOrigin, LogText } from '../../adapters/log-file.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import type { ServiceCommands, ServiceStatus } from '../../core/sources.ts'
import { springSettings } from '../../knowledge/settings.ts'
import type { Platform, PlatformOptions } from '../platform.ts'
import type { Command, HostSettings, ServiceManager } from './manager.ts'
import { startService, stopService } from './control.ts'
import { hostService, withoutManager } from './service.ts'
import { trySetting, writeSetting } from './setting.ts'
import { systemdUnit } from './systemd.ts'
import { endOf, orFail, runProgram } from '../../adapters/process.ts'
import type { ProgramResult } from '../../adapters/process.ts'
import { inFlight } from '../../core/answers.ts'
import { healthOf, parseProperties, statusOf } from './properties.ts'
import { javaProcesses } from '../../core/host.ts'
import { typed } from '../../core/typed.ts'
import { command, nested } from '../../core/shell-command.ts'

export { restartService, startService, stopService } from './control.ts'
export { parseEnvironmentFile } from './environment.ts'
export { parseProperties, statusOf } from './properties.ts'
export type { Command, HostSettings, ServiceManager } from './manager.ts'

/** Returns what starts and stops the service, as configured; null if nothing does. */
export function serviceManager(settings: HostSettings, options: PlatformOptions): ServiceManager | null {
  if (settings.unit !== null) return systemdUnit(settings.unit, { ...options, superuser: process.getuid?.() === 0 })
  return settings.commands === null ? null : ownCommands(settings.commands, options)
}

/** Opens the platform `host`: the service is a systemd unit of this machine, or runs by the operator's own commands. */
export function openHost(
  settings: HostSettings,
  options: PlatformOptions,
): Platform & { readonly commands: ServiceCommands } {
  const manager = serviceManager(settings, options)
  const service = hostService(settings, manager, options)
  return {
    commands: service.commands,
    async service() {
      // fail here once: a platform that cannot be asked is one finding, not one of each check
      if (manager) await service.status()
      return service
    },
    environment: () => service.environment(),
    async control() {
      if (!manager) throw withoutManager()
      return {
        async start(wait) {
          service.forget()
          return startService(manager, wait)
        },
        async stop(wait) {
          service.forget()
          return stopService(manager, wait)
        },
        writeSetting: async (change, traces) => writeSetting(change, manager, settings.environmentFile, traces),
        trySetting: async (change) => trySetting(change, manager, settings.environmentFile),
        async askRights(change) {
          if (change) await trySetting(change, manager, settings.environmentFile)
        },
      }
    },
    async log() {
      if (settings.logs) return openLog(settings.logs, options)
      if (manager?.log) return readable(openLog(manager.log, options), manager)
      const written = await writtenFile(service.environment())
      if (written) return openLog(written, options)
      throw new AdminError('NOT_CONFIGURED', "the service's log is unknown: set `host.logs`")
    },
    // what the service reaches from this machine, this program reaches too
    reach: async () => null,
    // operators of this machine share a lock file instead
    lock: async () => null,
    close: async () => undefined,
  }
}

/** Returns a log that throws if empty: a journal shows a user who may not read it nothing, without any message. */
function readable(log: LogText, { commands }: ServiceManager): LogText {
  const newest: LogText['newest'] = async (options) => {
    const shown = await log.newest(options)
    if (shown.text.trim() !== '') return shown
    throw new AdminError('UNAVAILABLE', 'the systemd journal shows this user no lines from the service', [
      commands.logs,
      'or set `host.logs`',
    ])
  }
  return {
    target: log.target,
    prints: log.prints,
    newest,
    async *follow(options) {
      await newest({ maxBytes: 1000 })
      yield* log.follow({ since: new Date(), ...options })
    },
    async parts(options) {
      await newest({ maxBytes: 1000 })
      return log.parts(options)
    },
  }
}

/** Returns the log file that the service's own settings name, if they can be read. */
async function writtenFile(settings: Promise<ReadonlyMap<string, unknown>>): Promise<LogOrigin | null> {
  const file = await settings.then((it) => it.get(springSettings.logFile)).catch(() => null)
  return typeof file === 'string' && file.startsWith('/') ? { file } : null
}

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
function ownCommands(commands: NonNullable<HostSettings['commands']>, options: PlatformOptions): ServiceManager {
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
