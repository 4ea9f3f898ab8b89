import { realpathSync } from 'node:fs'

/** Each directory once, however often and in whatever ways it is named: its results would collide with themselves. */
export function distinctDirectories(names: readonly string[]): string[] {
  const known = new Map<string, string>()
  for (const name of names) {
    const path = realPath(name)
    if (!known.has(path)) known.set(path, name)
  }
  return [...known.values()]
}

/** Where it really is; as it is named where it is not there, of which the rules tell. */
export function realPath(directory: string): string {
  try {
    return realpathSync(directory)
  } catch {
    return directory
  }
}
