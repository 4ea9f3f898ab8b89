import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError, codeOf } from '../../core/error.ts'
import type { EnvironmentFile } from './manager.ts'

/**
 * The files that an entry of `EnvironmentFile=` stands for, in the order in which systemd reads them (systemd.exec(5); glob(7)); the
 * entry itself where it is no pattern, or fits none. Throws FORBIDDEN where a folder may not be looked into.
 */
export async function matching(entry: EnvironmentFile): Promise<EnvironmentFile[]> {
  if (!isPattern(entry.path)) return [entry]
  let found = ['/']
  for (const part of entry.path.split('/').filter(Boolean)) {
    found = isPattern(part) ? (await Promise.all(found.map(async (folder) => namesIn(folder, part)))).flat() : found.map((folder) => join(folder, part))
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
  const fits = expressionOf(part)
  try {
    return (await readdir(folder)).filter((name) => fits.test(name)).map((name) => join(folder, name))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw new AdminError('FORBIDDEN', `which of the service's settings lie in ${folder} may not be seen by this user`, [`ls -l ${folder}`, 'run this with sudo'], { cause: error })
  }
}

/** A name that begins with a dot is meant by no sign but a dot. */
function expressionOf(part: string): RegExp {
  const text = part.replace(/\[!?[^\]]+\]|[*?]|[^\w]/g, (sign) =>
    sign === '*' ? '.*' : sign === '?' ? '.' : sign.length > 1 ? `[${sign.slice(1, -1).replace(/^!/, '^').replaceAll('\\', '\\\\')}]` : `\\${sign}`,
  )
  return new RegExp(`^${part.startsWith('.') ? '' : '(?!\\.)'}${text}$`, 's')
}
