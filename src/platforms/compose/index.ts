import { AdminError } from '../../core/error.ts'
import type { ServiceCommands } from '../../core/sources.ts'
import type { Platform, PlatformOptions } from '../platform.ts'
import { composeLog } from './log.ts'
import { reachFrom, targetsOf } from './reach.ts'
import { composeService } from './service.ts'
import type { ComposeSettings } from './find.ts'
import { pendingSettings, runs, statusOf } from './status.ts'
import { commandsOf, viewOf } from './view.ts'
import type { View } from './view.ts'
import type { ServiceControl } from '../../core/controls.ts'
import { startService, stopService } from '../host/control.ts'
import type { ServiceManager } from '../host/manager.ts'
import { fetchImage } from './images.ts'
import { wordsOf } from './project.ts'
import type { Declared } from './project.ts'
import type { Engine } from './engine.ts'
import { askSetting, trySetting, writeSetting } from './setting.ts'

export { engineAt } from './engine.ts'
export type { ComposeSettings } from './find.ts'

interface Known {
  view: View
  commands: ServiceCommands
  /** Names of its containers when it was found */
  names: readonly string[]
}

/**
 * Returns the project's files that declare the service, in order; a later one overrides an earlier one. Null if they
 * are not on this machine. Throws as `viewOf`.
 */
export async function composeFiles(
  settings: ComposeSettings,
  options: PlatformOptions,
): Promise<{ paths: readonly string[]; service: string } | null> {
  const { files, service } = (await viewOf(settings, options)).found
  return files && { paths: files.files, service }
}

/**
 * Opens the platform `compose`: the service runs in containers of a compose project, under Docker or Podman. Looks for
 * it at once.
 */
export async function openCompose(settings: ComposeSettings, options: PlatformOptions): Promise<Platform> {
  const look = async (): Promise<Known> => {
    const view = await viewOf(settings, options)
    const names = (await view.containers()).own.map(({ name }) => name)
    const compose = view.found.files === null ? [] : await view.engine.compose()
    return { view, commands: commandsOf(view, compose, names), names }
  }
  // a service that is missing now may appear later, and does not block the other parts
  let known: Known | AdminError = await look().catch(asAdminError)
  const found = async (): Promise<Known> => {
    if (known instanceof AdminError) known = await look()
    return known
  }
  const service = async (): Promise<ReturnType<typeof composeService>> => {
    const { view, commands } = await found()
    return composeService(view, settings, commands, options)
  }
  return {
    get commands() {
      return known instanceof AdminError ? null : known.commands
    },
    service,
    environment: async () => (await service()).environment(),
    async control() {
      const { view, commands } = await found()
      return composeControl(view, commands, options)
    },
    async log() {
      const { view, names } = await found()
      return composeLog(view.engine, names[0] ?? view.found.service, async () => (await view.containers()).own)
    },
    async reach(address) {
      const { view } = await found()
      return reachFrom(address, { ...view, timeoutMs: options.timeoutMs })
    },
    async brokerProgram({ host }) {
      const { view } = await found()
      const broker = targetsOf(host, await view.containers()).find(runs)
      if (!broker) return null
      return { command: [view.engine.program, 'exec', broker.name, 'rabbitmqctl'], environment: options.environment }
    },
    // operators of this machine share a lock file instead
    lock: async () => null,
    close: async () => undefined,
  }
}

function asAdminError(error: unknown): AdminError {
  if (error instanceof AdminError) return error
  throw error
}

/** Returns the control that starts and stops a compose project's service, fetches its image and writes its settings. */
function composeControl(view: View, commands: ServiceManager['commands'], options: PlatformOptions): ServiceControl {
  const manager = managerOf(view, commands)
  const environment = options.environment ?? {}
  return {
    start: async (wait) => startService(manager, wait),
    stop: async (wait) => stopService(manager, wait),
    writeSetting: async (change) => writeSetting(view, change, environment),
    fetchImage: async (wanted, how) => fetchImage(view, wanted, how),
    trySetting: async (change) => trySetting(view, change, environment),
    async askRights(change) {
      if (change) await askSetting(view, change, environment)
    },
  }
}

/** Share of the time limit that a program gets to stop before it is killed; the rest is for waiting */
const graceShare = 0.8

function managerOf(
  view: View,
  commands: ServiceManager['commands'],
): Pick<ServiceManager, 'status' | 'start' | 'stop' | 'commands'> {
  const { engine, found } = view
  return {
    async status() {
      const [{ own }, here] = await Promise.all([view.containers(), engine.isHere()])
      return statusOf(own, here)
    },
    async stop({ timeoutMs }) {
      // a container between two attempts of its restart policy must be told to stop, too
      const ids = (await view.containers()).own
        .filter((it) => runs(it) || it.state.status === 'restarting')
        .map(({ id }) => id)
      const seconds = Math.max(1, Math.floor((timeoutMs * graceShare) / 1000))
      if (ids.length > 0) await engine.run(['stop', '-t', String(seconds), ...ids], { timeoutMs })
    },
    async start({ timeoutMs }) {
      const { own } = await view.containers()
      if (own.some(runs)) return
      const [first] = own
      const declared = await view.declared().catch(nullWhereUnknown)
      const isCurrent =
        first !== undefined && (declared === null || (await pendingSettings(engine, first, declared)).length === 0)
      if (isCurrent || found.files === null) await engine.run(['start', ...own.map(({ id }) => id)], { timeoutMs })
      // a container keeps the settings that it was created with: to change them, recreate it alone
      else
        await engine.runCompose(
          [
            ...wordsOf(found.files),
            'up',
            '--detach',
            '--no-deps',
            '--no-build',
            ...(await limitPulls(engine, declared)),
            found.service,
          ],
          { timeoutMs, directory: found.files.folder },
        )
    },
    commands,
  }
}

/** Policies under which compose uses an image that is present (compose-spec, 05-services.md, "pull_policy"). */
const ofWhatIsThere: readonly (string | null)[] = [null, 'missing', 'if_not_present', 'never']

/**
 * Returns flags that keep compose from pulling an image that is present. A pull could bring a newer image under the
 * same name. If the registry is down, it would keep the stopped service from coming back.
 */
async function limitPulls(engine: Engine, declared: Declared | null): Promise<string[]> {
  if (declared === null || ofWhatIsThere.includes(declared.pullPolicy)) return []
  return (await engine.canLimitPulls()) ? ['--pull', 'missing'] : []
}

/**
 * Returns null for UNAVAILABLE, and rethrows other errors. Where no compose program reads the files, none of their
 * settings can have been changed either: the container is current.
 */
function nullWhereUnknown(error: unknown): null {
  if (error instanceof AdminError && error.code === 'UNAVAILABLE') return null
  throw error
}
