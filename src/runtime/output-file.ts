import { randomBytes } from 'node:crypto'
import { chmod, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { assertReplaceable, editedAt, notReplaced, writeSynced } from '../adapters/replace-file.ts'
import { AdminError } from '../core/error.ts'
import { command } from '../core/shell-command.ts'

/**
 * Returns the absolute path of a file to write: where a link leads to, if it is one. Throws USAGE if something else has
 * that name; FORBIDDEN, UNAVAILABLE if the file cannot be written, as far as that shows without trying.
 */
export async function outputFile(name: string): Promise<string> {
  const path = await linkedFrom(resolve(name))
  await assertReplaceable(path)
  return path
}

async function linkedFrom(path: string): Promise<string> {
  try {
    if (!(await stat(path)).isFile())
      throw new AdminError('USAGE', `--output ${path} is not a file: give the name of a file`, [
        command`ls -ld ${path}`,
      ])
    return await editedAt(path)
  } catch (error) {
    // nothing has that name yet; of what else is wrong, `assertReplaceable` says what
    if (error instanceof AdminError) throw error
    return path
  }
}

/** As a redirection of a shell makes a file: programs of others read it */
const usualMode = 0o666

/**
 * Writes a file in one step: a reader finds the former text or this one, also if two programs write at once. An
 * existing file keeps its mode and owner. Throws FORBIDDEN, UNAVAILABLE.
 */
export async function writeOutput(path: string, text: string): Promise<void> {
  const next = join(dirname(path), `.${basename(path)}.${process.pid}-${randomBytes(4).toString('hex')}.new`)
  try {
    const before = await stat(path).catch(() => null)
    await writeSynced(next, text, before)
    if (before === null) await chmod(next, usualMode & ~process.umask())
    await rename(next, path)
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined)
    throw notReplaced(path, error)
  }
}
