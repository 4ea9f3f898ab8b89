import { judgementOf } from '../../adapters/read-file.ts'
import { distrusted, isTrusted, trustedByName } from '../../adapters/trust/assert.ts'
import { stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { codeOf } from '../../core/error.ts'
import { configHome } from '../paths.ts'
import type { Environment } from '../paths.ts'

/** The default name of a configuration file. */
export const fileName = 'testops-admin.yaml'

export interface ConfigurationRequest {
  /** `--config` */
  file?: string | undefined
  environment: Environment
  workingDirectory: string
}

/** Returns the absolute path of the configuration to read; null if there is none. A named file may be missing. */
export async function configurationFile({
  file,
  environment,
  workingDirectory,
}: ConfigurationRequest): Promise<string | null> {
  if (file !== undefined) return resolve(workingDirectory, file)
  for (const candidate of [...upwards(workingDirectory), ownFile(environment)])
    if (await exists(candidate)) return candidate
  return null
}

/** Returns the path of the operator's own configuration, used if there is none here or above. */
export function ownFile(environment: Environment): string {
  return join(configHome(environment), 'config.yaml')
}

function upwards(folder: string): string[] {
  const parent = dirname(folder)
  return [join(folder, fileName), ...(parent === folder ? [] : upwards(parent))]
}

/** True unless a file is certainly missing. A file that may not be read is an error to report, not one to skip. */
export async function exists(file: string): Promise<boolean> {
  try {
    await stat(file)
    return true
  } catch (error) {
    const code = codeOf(error)
    return code !== null && code !== 'ENOENT' && code !== 'ENOTDIR'
  }
}

/** Returns a file's path as errors name it: relative to the working directory if the file lies below that. */
export function shownAs(file: string, workingDirectory: string): string {
  // the directory itself, where a file is meant
  const path = relative(workingDirectory, file) || '.'
  return path.startsWith('..') || isAbsolute(path) ? file : path
}

/**
 * Returns the notice that a command without need of a configuration ignores one that others could have written; null if
 * there is nothing to report. Reads nothing in it.
 */
export async function ignoredConfiguration(request: ConfigurationRequest): Promise<string | null> {
  const { environment, workingDirectory } = request
  const file = await configurationFile(request)
  const judgement = file === null ? null : await judgementOf(file)
  if (file === null || judgement === null || isTrusted(judgement, await trustedByName(environment))) return null
  return (
    'Ignored: ' +
    `${distrusted('the configuration', shownAs(file, workingDirectory), file, judgement, environment).message}`
  )
}
