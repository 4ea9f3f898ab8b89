import { networkSource } from '../../adapters/network.ts'
import { AdminError, codeOf } from '../../core/error.ts'
import type { ServiceSource, ServiceStatus, ServiceImage, ServiceInstance, SettingsDrift } from '../../core/sources.ts'
import { readEnvironment } from './environment.ts'
import { readMachine } from './machine.ts'
import type { ServiceManager } from './manager.ts'
import { originsOf } from './origins.ts'
import type { PlatformOptions } from '../platform.ts'
import type { HostSettings } from './settings.ts'
import { javaProcesses } from '../../core/host.ts'
import { typed } from '../../core/typed.ts'
import { asPath, command, editing } from '../../core/shell-command.ts'
import { readFile } from 'node:fs/promises'
import type { Secret } from '../../core/secret.ts'
import { isOfService } from '../../knowledge/settings.ts'
import { differing } from '../drift.ts'

/** Milliseconds for which the answer that opening the platform took is reused: each question may start a program */
const firstStatusLifeMs = 1000

interface Answer {
  at: number
  status: Promise<ServiceStatus>
}

/**
 * Returns the service on this machine as checks see it. What the configuration leaves out throws NOT_CONFIGURED.
 * `forget`: discards earlier answers, before the service is changed.
 */
export function hostService(
  settings: HostSettings,
  manager: ServiceManager | null,
  options: PlatformOptions,
): ServiceSource & { forget(): void } {
  const network = networkSource({ timeoutMs: options.timeoutMs })
  let first: Answer | null = null
  let isOpened = false
  let atOpening: Answer | null = null
  const opened = (): Promise<ServiceStatus> | null =>
    atOpening && performance.now() - atOpening.at <= firstStatusLifeMs ? atOpening.status : null
  return {
    async status() {
      if (!manager) throw withoutManager()
      if (!isOpened) {
        isOpened = true
        first = { at: performance.now(), status: manager.status() }
        atOpening = first
        return first.status
      }
      const answer = first && performance.now() - first.at <= firstStatusLifeMs ? first.status : manager.status()
      // a second question wants to know what has changed
      first = null
      return answer
    },
    async health() {
      if (!manager) throw withoutManager()
      return manager.health()
    },
    async origins() {
      if (!manager) throw withoutManager()
      return originsOf((await manager.status()).instances)
    },
    // a machine does not end with the service
    hasEnded: async () => false,
    // it stops and starts as one, and its manager says how that ended
    startObstacles: async () => [],
    // a proxy on this machine shows itself only in its log
    proxies: async () => [],
    // one log holds all its runs
    lastWords: async () => null,
    forget() {
      first = null
      atOpening = null
    },
    environment: () => readEnvironment(manager, settings.environmentFile),
    async image() {
      return declaredImage(settings)
    },
    async machines() {
      return [await readMachine(settings.cpuinfo)]
    },
    async drift() {
      if (!manager) throw withoutManager()
      const [{ instances }, declared] = await Promise.all([
        opened() ?? manager.status(),
        readEnvironment(manager, settings.environmentFile),
      ])
      return driftOf(instances[0], declared, settings.environmentFile?.path ?? manager.commands.settings)
    },
    resolve: (host) => network.resolve(host),
    // systemd does not restart what was stopped through it (systemd.service(5), "Restart=")
    controllers: async () => [],
    commands: {
      ...(manager?.commands ?? unknownCommands),
      ...(settings.logs && {
        logs:
          'file' in settings.logs ? command`tail -n 200 ${asPath(settings.logs.file)}` : typed(settings.logs.command),
      }),
      ...(settings.environmentFile !== null && {
        settings: typed([settings.environmentFile.path]),
        edit: editing(settings.environmentFile.path),
      }),
    },
    settingsFiles: settings.environmentFile === null ? null : [settings.environmentFile.path],
  }
}

/** Returns the error for a configuration that names nothing to start, stop or show the service with. */
export function withoutManager(): AdminError {
  return new AdminError(
    'NOT_CONFIGURED',
    'no way to start and stop the service is configured: set `host.unit` or `host.commands`',
  )
}

const unknownCommands = {
  start: '# start the service',
  stop: '# stop the service',
  restart: '# restart the service',
  status: "# ask for the service's state",
  logs: "# read the service's log",
  processes: javaProcesses,
  settings: "the service's settings",
  edit: "# change the service's settings",
} as const

/** Splits the image that the configuration declares, `registry:5000/repository/name:tag@digest`, into its parts. */
function declaredImage({ image, build, declaredIn }: HostSettings): ServiceImage {
  const whole = image?.split('@')[0] ?? ''
  const last = whole.split('/').at(-1) ?? ''
  const [name, tag] = last.split(':')
  return {
    ...(name && { registry: whole.slice(0, whole.length - last.length) }),
    name: name || null,
    tag: tag || null,
    build,
    declaredIn,
  }
}

/**
 * Finds where the service's files differ from the environment that its process began with (proc(5),
 * `/proc/PID/environ`): they were changed since. Throws NOT_CONFIGURED if no process runs, FORBIDDEN if it is another
 * user's.
 */
async function driftOf(
  instance: ServiceInstance | undefined,
  declared: ReadonlyMap<string, string | Secret>,
  declaredIn: string,
): Promise<SettingsDrift> {
  if (!instance?.pid)
    throw new AdminError('NOT_CONFIGURED', 'it is not running, so it has only the settings in its files')
  const runs = await environmentOfProcess(instance.pid)
  // a variable from elsewhere need not have been in the service's files
  const gone = [...runs.keys()].filter((name) => !declared.has(name) && isOfService(name, declared.keys()))
  return {
    declaredIn,
    shown: command`sudo tr '\\0' '\\n' < ${`/proc/${instance.pid}/environ`}`,
    settings: differing([...declared.keys(), ...gone], declared, runs),
  }
}

async function environmentOfProcess(pid: number): Promise<Map<string, string>> {
  const file = `/proc/${pid}/environ`
  try {
    const assignments = (await readFile(file, 'utf8')).split('\0').filter((it) => it.includes('='))
    return new Map(assignments.map((it) => [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1)]))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EACCES' || code === 'EPERM')
      throw new AdminError(
        'FORBIDDEN',
        `this user cannot read the environment of its process (${file})`,
        ['run this with sudo'],
        { cause: error },
      )
    throw new AdminError('NOT_CONFIGURED', `its process shows no environment (${file})`, [], { cause: error })
  }
}
