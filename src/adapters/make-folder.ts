import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../core/error.ts'

/**
 * Makes a folder, and those above it that are missing, for this user alone. Returns the topmost that it made;
 * undefined: it was there. Throws what the system says. Step by step: where nothing can be made at all, as in /proc,
 * `recursive` of Node never ends.
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
