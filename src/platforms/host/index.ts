import { openLog } from '../../adapters/log-file.ts'
import type { LogOrigin, LogText } from '../../adapters/log-file.ts'
import { AdminError } from '../../core/error.ts'
import type { ServiceCommands } from '../../core/sources.ts'
import { springSettings } from '../../knowledge/settings.ts'
import type { Platform, PlatformOptions } from '../platform.ts'
import { ownCommands } from './commands.ts'
import type { HostSettings, ServiceManager } from './manager.ts'
import { startService, stopService } from './control.ts'
import { hostService, withoutManager } from './service.ts'
import { trySetting, writeSetting } from './setting.ts'
import { systemdUnit } from './systemd.ts'

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
