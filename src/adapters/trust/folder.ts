import { fstatSync } from 'node:fs'
import { AdminError } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { judgePath, judgeOpened } from './judge.ts'
import type { Flaw } from './flaws.ts'
import { mendsOf, whyDistrusted } from './refusal.ts'
import type { Suggestion } from '../../core/shell-command.ts'

export interface FolderKind {
  /** Name in error messages: 'the state folder' */
  what: string
  /** Command that selects another folder */
  elsewhere: Suggestion
}

/** The folder of journals, locks and former secrets. */
const stateFolder: FolderKind = {
  what: 'the state folder',
  elsewhere: 'export XDG_STATE_HOME=DIRECTORY   # keeps journals in another folder',
}

/**
 * Throws REFUSED for a folder of this program that another user owns, or that others may write: it is neither read nor
 * written. With `toWrite`, the folder may be created, so the way to it counts even if it is missing. Throws system
 * errors.
 */
export function assertOwnFolder(
  folder: string,
  { kind = stateFolder, toWrite = false }: { kind?: FolderKind; toWrite?: boolean } = {},
): void {
  const { place, flaws } = judgePath(folder)
  if (flaws.length > 0 && (place !== null || toWrite)) throw distrusted(kind, folder, flaws)
}

/** Throws REFUSED if others could have written an open file of the state folder, by its descriptor. */
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
