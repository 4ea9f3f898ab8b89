import type { ServiceControl } from '../../core/controls.ts'
import { AdminError } from '../../core/error.ts'
import { startService, stopService } from '../host/control.ts'
import type { ServiceManager } from '../host/manager.ts'
import type { PlatformOptions } from '../platform.ts'
import { fetchImage } from './images.ts'
import { pendingSettings, runs, statusOf } from './status.ts'
import { wordsOf } from './project.ts'
import type { Declared } from './project.ts'
import type { Engine } from './engine.ts'
import { trySetting, writeSetting } from './setting.ts'
import type { View } from './view.ts'

/** Returns the control that starts and stops a compose project's service, fetches its image and writes its settings. */
export function composeControl(
  view: View,
  commands: ServiceManager['commands'],
  options: PlatformOptions,
): ServiceControl {
  const manager = managerOf(view, commands)
  const environment = options.environment ?? {}
  return {
    start: async (wait) => startService(manager, wait),
    stop: async (wait) => stopService(manager, wait),
    writeSetting: async (change) => writeSetting(view, change, environment),
    fetchImage: async (wanted, how) => fetchImage(view, wanted, how),
    trySetting: async (change) => trySetting(view, change, environment),
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
