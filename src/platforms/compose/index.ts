import { AdminError } from '../../core/error.ts'
import type { ServiceCommands } from '../../core/sources.ts'
import type { Platform, PlatformOptions } from '../platform.ts'
import { composeControl } from './control.ts'
import { composeLog } from './log.ts'
import { reachFrom, targetsOf } from './reach.ts'
import { composeService } from './service.ts'
import type { ComposeSettings } from './find.ts'
import { runs } from './status.ts'
import { commandsOf, viewOf } from './view.ts'
import type { View } from './view.ts'

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
    return composeService(view, settings, commands)
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
