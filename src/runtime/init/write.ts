import { dirname } from 'node:path'
import { rm } from 'node:fs/promises'
import { syncFolder, writeSynced } from '../../adapters/replace-file.ts'
import { judgePath } from '../../adapters/trust/judge.ts'
import { mendsOf, whyDistrusted } from '../../adapters/trust/refusal.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { exists } from '../configuration/find.ts'
import { readConfiguration } from '../configuration/load.ts'
import { configurationOf } from '../configuration/template.ts'
import { trustedByName } from '../../adapters/trust/by-name.ts'
import type { Environment } from '../paths.ts'
import type { Draft } from './draft.ts'
import { asPath } from '../../core/shell-command.ts'

/**
 * Throws REFUSED if the file exists, so that an operator's work is never lost; CONFIGURATION if it would not be trusted
 * afterwards, because others could change it in its folder.
 */
export async function assertNew(file: string, environment: Environment): Promise<void> {
  if (await exists(file)) throw alreadyThere(file)
  if (!(await exists(dirname(file)))) return
  const { flaws } = judgePath(dirname(file))
  if (flaws.length === 0 || (await trustedByName(environment)).includes(file)) return
  throw new AdminError(
    'CONFIGURATION',
    `a configuration in ${dirname(file)} would not be trusted: ${whyDistrusted(flaws)}`,
    ['--output FILE   # in a folder of your own', ...mendsOf(flaws)],
  )
}

/**
 * Writes a configuration that nobody else may read, and reads it back. Throws REFUSED if the file exists, FORBIDDEN,
 * UNAVAILABLE, CONFIGURATION if the written file is invalid, after removing it.
 */
export async function writeNew(file: string, name: string, draft: Draft, environment: Environment): Promise<void> {
  try {
    await writeSynced(file, configurationOf(name, draft))
    await syncFolder(dirname(file))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST') throw alreadyThere(file)
    const isForbidden = code === 'EACCES' || code === 'EPERM' || code === 'EROFS'
    const why = isForbidden
      ? 'this user may not write there'
      : code === 'ENOENT'
        ? 'there is no such folder'
        : messageOf(error)
    throw new AdminError(
      isForbidden ? 'FORBIDDEN' : 'UNAVAILABLE',
      `${file} cannot be written: ${why}`,
      [typed(['ls', '-ld', asPath(dirname(file))]), '--output FILE   # elsewhere'],
      {
        cause: error,
      },
    )
  }
  try {
    await readConfiguration(file, { environment, workingDirectory: dirname(file) })
  } catch (error) {
    await rm(file)
    throw error
  }
}

function alreadyThere(file: string): AdminError {
  return new AdminError('REFUSED', `${file} already exists, and is not overwritten`, [
    '--output FILE   # another one',
    typed(['mv', file, `${file}.old`]),
  ])
}
