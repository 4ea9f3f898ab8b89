import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError, codeOf } from '../../core/error.ts'
import { fitsGlob, plainGlob } from '../../core/glob.ts'
import type { GlobSign } from '../../core/glob.ts'
import type { EnvironmentFile } from './manager.ts'
import { command } from '../../core/shell-command.ts'

/**
 * The files that an entry of `EnvironmentFile=` stands for, in the order in which systemd reads them (systemd.exec(5);
 * glob(7)); the entry itself where it is no pattern, or fits none. Throws FORBIDDEN where a folder may not be looked
 * into.
 */
export async function matching(entry: EnvironmentFile): Promise<EnvironmentFile[]> {
  if (!isPattern(entry.path)) return [entry]
  let found = ['/']
  for (const part of entry.path.split('/').filter(Boolean)) {
    found = isPattern(part)
      ? (await Promise.all(found.map(async (folder) => namesIn(folder, part)))).flat()
      : found.map((folder) => join(folder, part))
  }
  const there = await Promise.all(found.map(isThere))
  const files = found.filter((_, index) => there[index])
  return files.length === 0 ? [entry] : files.sort().map((path) => ({ ...entry, path }))
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => codeOf(error) === 'EACCES',
  )
}

function isPattern(text: string): boolean {
  return /[*?[]/.test(text)
}

async function namesIn(folder: string, part: string): Promise<string[]> {
  const fits = fitting(part)
  try {
    return (await readdir(folder)).filter(fits).map((name) => join(folder, name))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw new AdminError(
      'FORBIDDEN',
      `this user cannot see which of the service's settings are in ${folder}`,
      [command`ls -l ${folder}`, 'run this with sudo'],
      { cause: error },
    )
  }
}

/** A name that begins with a dot is meant by no sign but a dot. */
function fitting(part: string): (name: string) => boolean {
  // a bracket that nobody closes is a character
  const closed = part.slice(0, part.lastIndexOf(']') + 1)
  const classes = closed.match(/\[!?[^\]]+\]?|[^]/g) ?? []
  const signs = [
    ...classes.flatMap((sign) => (sign.length > 1 ? classOf(sign) : plainGlob(sign))),
    ...plainGlob(part.slice(closed.length)),
  ]
  return (name) => (part.startsWith('.') || !name.startsWith('.')) && fitsGlob(signs, name)
}

/** `[a-z_]`, `[!0-9]` */
function classOf(text: string): GlobSign {
  const inner = new RegExp(`[${text.slice(1, -1).replace(/^!/, '^').replaceAll('\\', '\\\\')}]`)
  return (character) => inner.test(character)
}
