import type { ServiceControl } from '../../core/controls.ts'
import { AdminError } from '../../core/error.ts'
import { startService, stopService } from '../host/control.ts'
import type { ServiceManager } from '../host/manager.ts'
import type { PlatformOptions } from '../platform.ts'
import { fetchImage } from './images.ts'
import { pendingSettings } from './pending.ts'
import { wordsOf } from './project.ts'
import type { Declared } from './project.ts'
import type { Engine } from './engine.ts'
import { trySetting, writeSetting } from './setting.ts'
import { runs, statusOf } from './status.ts'
import type { View } from './view.ts'

/** How the service of a compose project is stopped and started, and its settings are written. */
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

/** how long a program is asked before it is killed, at most: some of what is left is for the waiting */
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
      // one between two attempts of its restart policy is told to stay stopped, too
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
      // a container has the settings that it was made with: with others it is made anew, it alone
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

/** Policies by which an image that is there is taken as it is (compose-spec, 05-services.md, "pull_policy"). */
const ofWhatIsThere: readonly (string | null)[] = [null, 'missing', 'if_not_present', 'never']

/**
 * A newer image under the same name would come with the setting unasked; and while the service is stopped, a registry
 * that is down would keep it from coming back.
 */
async function limitPulls(engine: Engine, declared: Declared | null): Promise<string[]> {
  if (declared === null || ofWhatIsThere.includes(declared.pullPolicy)) return []
  return (await engine.canLimitPulls()) ? ['--pull', 'missing'] : []
}

/**
 * Where no compose program tells what the files declare, nothing of them can have been changed either: a container is
 * what it was.
 */
function nullWhereUnknown(error: unknown): null {
  if (error instanceof AdminError && error.code === 'UNAVAILABLE') return null
  throw error
}
