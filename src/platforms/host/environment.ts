import { dirname } from 'node:path'
import { plainFile } from '../../adapters/open-file.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { Secret } from '../../core/secret.ts'
import { isSecretSetting } from '../../knowledge/settings.ts'
import { parseEnvironmentFile } from './environment-file.ts'
import type { EnvironmentFile, ServiceManager } from './manager.ts'
import type { HostSettings } from './settings.ts'
import { asPath, command, sentence } from '../../core/shell-command.ts'

/**
 * Reads the settings that the service is started with: what the unit sets, then the environment files in order. The
 * file that the configuration names replaces the unit's own. Throws FORBIDDEN, UNAVAILABLE, NOT_CONFIGURED.
 */
export async function readEnvironment(
  manager: ServiceManager | null,
  configured: HostSettings['environmentFile'],
): Promise<ReadonlyMap<string, string | Secret>> {
  const declared = (await manager?.environment()) ?? { variables: new Map<string, string>(), files: [] }
  const files: readonly SettingsFile[] = configured === null ? declared.files : [{ ...configured, optional: false }]
  if (files.length === 0 && declared.variables.size === 0) {
    throw new AdminError('NOT_CONFIGURED', "the service's settings are unknown: set `host.environmentFile`")
  }
  const contents = await Promise.all(files.map(async (it) => parseEnvironmentFile(await textOf(it))))
  const all = new Map([declared.variables, ...contents].flatMap((variables) => [...variables]))
  return new Map([...all].map(([name, value]) => [name, isSecretSetting(name, value) ? new Secret(value) : value]))
}

/** A file that the unit reads, or that the configuration names; `at`: where the configuration names it. */
export type SettingsFile = EnvironmentFile & { at?: string }

async function textOf(file: SettingsFile): Promise<string> {
  return (await bytesOf(file))?.toString('utf8') ?? ''
}

/** Maximum bytes of a settings file; people write smaller ones */
const mostBytes = 1_000_000

/** Returns the file's bytes; null if it is optional and missing. Throws FORBIDDEN, UNAVAILABLE. */
export async function bytesOf({ path, optional, at }: SettingsFile): Promise<Buffer | null> {
  try {
    return await plainFile(path, mostBytes)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' && optional) return null
    const options = { cause: error }
    const what = `the service's settings in ${path}${at === undefined ? '' : ` (\`host.environmentFile\` at ${at})`}`
    if (code === 'EACCES')
      throw new AdminError(
        'FORBIDDEN',
        `this user cannot read ${what}`,
        [command`ls -l ${asPath(path)}`, 'run this with sudo'],
        options,
      )
    const isMissing = code === 'ENOENT'
    const reason = isMissing ? 'there is no such file' : messageOf(error)
    const next = [
      command`ls -l ${isMissing ? dirname(path) : path}`,
      ...(at === undefined ? [] : [sentence`correct \`host.environmentFile\` at ${at}`]),
    ]
    throw new AdminError('UNAVAILABLE', `${what} cannot be read: ${reason}`, next, options)
  }
}
