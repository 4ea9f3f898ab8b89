import { realpathSync } from 'node:fs'

/** Returns each directory once, however often it is named: otherwise its results would collide with themselves. */
export function distinctDirectories(names: readonly string[]): string[] {
  const known = new Map<string, string>()
  for (const name of names) {
    const path = realPath(name)
    if (!known.has(path)) known.set(path, name)
  }
  return [...known.values()]
}

/** Returns the directory's real path. Returns the name unchanged if it does not exist; the rules report that. */
export function realPath(directory: string): string {
  try {
    return realpathSync(directory)
  } catch {
    return directory
  }
}
