import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../core/error.ts'

/**
 * Makes a folder and its missing parents, for this user alone. Returns the topmost that it made; undefined if the
 * folder exists. Throws system errors. Goes step by step: if nothing can be made at all, as in /proc, Node's
 * `recursive` never ends.
 */
export async function makeFolder(path: string): Promise<string | undefined> {
  try {
    await mkdir(path, { mode: 0o700 })
    return path
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(path)).isDirectory()) return undefined
    const above = dirname(path)
    if (codeOf(error) !== 'ENOENT' || above === path) throw error
    const topmost = await makeFolder(above)
    // another process may have made it since
    await mkdir(path, { mode: 0o700 }).catch(async (again: unknown) => {
      if (codeOf(again) !== 'EEXIST' || !(await stat(path)).isDirectory()) throw again
    })
    return topmost ?? path
  }
}
