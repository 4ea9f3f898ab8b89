import { fstatSync } from 'node:fs'
import { AdminError } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { judgePath, judgeOpened } from './judge.ts'
import type { Flaw } from './flaws.ts'
import { mendsOf, whyDistrusted } from './refusal.ts'
import type { Suggestion } from '../../core/shell-command.ts'

export interface FolderKind {
  /** as errors name it: 'the state folder' */
  what: string
  /** how another folder is named in its place */
  elsewhere: Suggestion
}

/** Where journals, locks and former secrets lie. */
const stateFolder: FolderKind = {
  what: 'the state folder',
  elsewhere: 'export XDG_STATE_HOME=DIRECTORY   # keeps journals in another folder',
}

/**
 * Throws REFUSED for a folder of this program that is another user's, or that others may write: nothing is read from
 * such a folder, nor written to it. `toWrite`: it may be made, so that the way to it counts even where it is missing.
 * Throws what the system throws.
 */
export function assertOwnFolder(
  folder: string,
  { kind = stateFolder, toWrite = false }: { kind?: FolderKind; toWrite?: boolean } = {},
): void {
  const { place, flaws } = judgePath(folder)
  if (flaws.length > 0 && (place !== null || toWrite)) throw distrusted(kind, folder, flaws)
}

/** The same of an open file of the state folder, by its descriptor. */
export function assertOwnFile(file: string, descriptor: number): void {
  if (!fstatSync(descriptor).isFile())
    throw new AdminError('REFUSED', `${file} is not trusted: it is not a regular file`, [typed(['ls', '-l', file])])
  const { flaws } = judgeOpened(file, descriptor)
  if (flaws.length > 0) throw distrusted({ ...stateFolder, what: 'the file' }, file, flaws)
}

function distrusted({ what, elsewhere }: FolderKind, path: string, flaws: readonly Flaw[]): AdminError {
  return new AdminError('REFUSED', `${what} ${path} is not trusted: ${whyDistrusted(flaws)}`, [
    ...mendsOf(flaws),
    elsewhere,
  ])
}
