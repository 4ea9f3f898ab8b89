import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { asPath } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/** Both as they really are. */
export interface Places {
  from: string
  output: string
}

/** Where is copied from and to. Throws USAGE where a copy there would overwrite something, or contain itself. */
export async function placesOf(from: string, output: string): Promise<Places> {
  const parent = dirname(resolve(output))
  const places = {
    from: await folderAt(from, []),
    output: join(await folderAt(parent, [typed(['mkdir', '-p', asPath(parent)])]), basename(resolve(output))),
  }
  const isInside = (inner: string, outer: string): boolean =>
    inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`)
  const next = [typed(['testops-admin', 'lint-results', from, '--fix', '--output', `${places.from}-mended`])]
  if (isInside(places.output, places.from))
    throw new AdminError('USAGE', `--output: ${output} is in ${from}, which is never changed`, next)
  if (isInside(places.from, places.output)) throw new AdminError('USAGE', `--output: ${from} is in ${output}`, next)
  await assertFree(places.output, output, next)
  return places
}

async function folderAt(path: string, next: Suggestion[]): Promise<string> {
  try {
    const real = await realpath(path)
    if ((await stat(real)).isDirectory()) return real
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new AdminError('USAGE', `there is no directory ${path}`, next, { cause: error })
    throw new AdminError(
      'FORBIDDEN',
      `the directory ${path} cannot be reached: ${messageOf(error)}`,
      [typed(['ls', '-ld', asPath(path)])],
      { cause: error },
    )
  }
  throw new AdminError('USAGE', `${path} is no directory`, [typed(['ls', '-ld', asPath(path)])])
}

async function assertFree(path: string, output: string, next: readonly Suggestion[]): Promise<void> {
  try {
    const about = await lstat(path)
    if (!about.isDirectory())
      throw new AdminError(
        'USAGE',
        `--output: ${output} is there, and ${about.isSymbolicLink() ? 'a symbolic link' : 'no directory'}`,
        next,
      )
    if ((await readdir(path)).length > 0) throw new AdminError('USAGE', `--output: ${output} is not empty`, next)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
