import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { localLock } from '../adapters/local-lock.ts'
import { runFolder } from '../adapters/run-folder.ts'
import { filesControl, filesSource } from '../adapters/settings-file/index.ts'
import type { ControlName, Controls } from '../core/controls.ts'
import type { Deployment, NamedFile } from '../core/deployment.ts'
import { AdminError } from '../core/error.ts'
import type { SourceName, Sources } from '../core/sources.ts'
import { defaultVendor } from '../knowledge/settings.ts'
import { composeFilesOf as filesOfPlatform } from '../platforms/index.ts'
import type { PlatformOptions } from '../platforms/index.ts'
import type { SelectedDeployment } from './configuration/select.ts'
import type { OpenedDeployment } from './open-deployment.ts'
import { stateHome, wellFormed } from './paths.ts'
import type { Environment } from './paths.ts'
import { platformSettingsOf } from './configuration/platform-of.ts'

/** Returns the real absolute path of a named file; for a missing one, the path where it would be. */
export async function placeOfFile(named: string, workingDirectory: string): Promise<string> {
  const path = resolve(workingDirectory, named)
  return realpath(path).catch(() => path)
}

/**
 * Does the same for a name that is a file or a chart in a repository; returns it as written if there is no such file.
 */
export async function placeIfThere(named: string, workingDirectory: string): Promise<string> {
  return realpath(resolve(workingDirectory, named)).catch(() => named)
}

/**
 * Returns the compose files that declare the service of a deployment, as its containers know them; null if there are
 * none on this machine. Throws as its platform does.
 */
export async function composeFilesOf(
  selected: SelectedDeployment,
  options: PlatformOptions,
): Promise<{ paths: readonly string[]; service: string } | null> {
  return filesOfPlatform(platformSettingsOf(selected), options)
}

/**
 * Opens a file of settings as if it were a deployment of its base name: with journals and a lock of its own on this
 * machine, no configuration, and nothing else. `others`: files that are changed along with it, whose locks are taken
 * too.
 */
export function openFile(
  file: NamedFile,
  others: readonly string[],
  environment: Environment,
  options: { timeoutMs?: number } = {},
): OpenedDeployment {
  const deployment: Deployment = {
    name: basename(file.path),
    file,
    platform: file.flag === '--compose' ? 'compose' : 'kubernetes',
    vendor: defaultVendor,
    assumedVendor: ['prefix', 'package'],
    timeZone: null,
  }
  const none = async (): Promise<never> => {
    throw new AdminError('NOT_CONFIGURED', `this command only edits ${file.path} and does not connect to a deployment`)
  }
  const open: { readonly [K in SourceName]: () => Promise<Sources[K]> } = {
    database: none,
    broker: none,
    sessions: none,
    service: none,
    api: none,
    logs: none,
    accessLog: none,
    network: none,
    runs: none,
    release: none,
    files: async () => filesSource({ ...options, environment }),
  }
  const control: { readonly [K in ControlName]: () => Promise<Controls[K]> } = {
    database: none,
    broker: none,
    service: none,
    sessions: none,
    api: none,
    release: none,
    files: async () => filesControl(options),
  }
  const folderOf = (path: string): string => recordsOfFile(environment, path)
  return {
    deployment,
    open,
    control,
    login: none,
    // in one order, so that two operators who name the same files in different orders do not wait for each other
    locks: async (own) =>
      [...new Set([file.path, ...others])].sort().map((path) => localLock(join(folderOf(path), 'repair.lock'), own)),
    journals: {
      here: runFolder(join(folderOf(file.path), 'runs')),
      there: async () => {
        throw new AdminError(
          'NOT_CONFIGURED',
          'a run that changes only a file is recorded only on the machine where it runs, not in a deployment',
        )
      },
    },
    commands: null,
    renew: () => undefined,
    close: async () => undefined,
  }
}

/** Returns a folder beside those of deployments, even of one called `files`: none of its parts has such a name. */
function recordsOfFile(environment: Environment, path: string): string {
  const id = createHash('sha256').update(path).digest('hex').slice(0, 16)
  const name = encodeURIComponent(wellFormed(basename(path))).slice(0, 100)
  return join(stateHome(environment), 'files', `${name}-${id}`)
}
