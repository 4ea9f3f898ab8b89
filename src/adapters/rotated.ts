import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

const date = String.raw`\d{4}-?\d{2}-?\d{2}(?:[T_.-]?\d{2}(?:[-:.]?\d{2}){0,2})?`
/** A date with or without a count, or only a count after a dot: `app-1.log` may belong to another program. */
const added = String.raw`(?:[._-]${date}(?:[._-]\d{1,6})?|\.\d{1,6})`
/** also formats that are not unpacked here, so that their files are reported */
const compressed = String.raw`(?:\.(?:gz|gzip|zst|zstd|bz2|xz|zip|lz4))?`

/**
 * True if a file beside a log is an older part of it, by its name: as logrotate (`app.log.2.gz`) and Logback
 * (`app-2026-11-21.0.log.gz`) write them.
 */
export function isRotatedFrom(log: string, name: string): boolean {
  const [, stem, ending] = /^(.+?)((?:\.(?:log|txt|out|json))?)$/.exec(log) ?? []
  if (stem === undefined || ending === undefined || !name.startsWith(stem) || name === log) return false
  const rest = name.slice(stem.length)
  return [`${literal(ending)}${added}`, ...(ending === '' ? [] : [`${added}${literal(ending)}`])].some((form) =>
    new RegExp(`^${form}${compressed}$`).test(rest),
  )
}

/**
 * Lists a log's file and those that were rotated from it, the oldest first. Leaves out files last written before
 * `since`. Lists only the log itself if its folder cannot be read.
 */
export async function rotatedSet(log: string, since?: Date): Promise<string[]> {
  const folder = dirname(log)
  const names = await readdir(folder).catch(() => [])
  const others = await Promise.all(
    names
      .filter((name) => isRotatedFrom(basename(log), name))
      .map(async (name) => {
        const path = join(folder, name)
        const found = await stat(path).catch(() => null)
        return found?.isFile() ? [{ path, at: found.mtimeMs }] : []
      }),
  )
  const wanted = others.flat().filter(({ at }) => since === undefined || at >= since.getTime())
  return [
    ...wanted.sort((one, other) => one.at - other.at || (one.path < other.path ? 1 : -1)).map(({ path }) => path),
    log,
  ]
}

function literal(text: string): string {
  return text.replace('.', '\\.')
}
