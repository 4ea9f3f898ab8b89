import { dirname, resolve } from 'node:path'

/** A compose file of a project, or one that such a file includes. */
export interface ComposeFile {
  /** absolute */
  path: string
  /** Folder that its relative paths start from */
  folder: string
  /** The `include` entry it belongs to; null for the project itself */
  included: Included | null
}

/** The files that one entry of `include` adds, as a project of its own (compose-spec, 14-include.md). */
export interface Included {
  /** Absolute paths; a later file overrides an earlier one */
  files: readonly string[]
  /** Folder that relative paths start from, and that contains its `.env` */
  folder: string
  /** Files that replace `.env` */
  environmentFiles: readonly string[]
}

/** The service that another one inherits settings from (compose-spec, 05-services.md, `extends`). */
export interface Extended {
  /** Absolute path; null if it is the same file, not on this machine, or contains a variable */
  file: string | null
  /** The file as the compose file gives it; null for the same file */
  named: string | null
  service: string
}

/**
 * Lists all files of a project, each after the files that it includes, at every depth. `others` lists, as written,
 * includes that are not on this machine or contain a variable. `read` returns the parsed value of a file, and may
 * throw.
 */
export async function composeFilesIn(
  files: readonly string[],
  folder: string,
  read: (path: string) => Promise<unknown>,
): Promise<{ files: ComposeFile[]; others: string[] }> {
  const found = new Map<string, ComposeFile>()
  const others: string[] = []
  const follow = async (
    path: string,
    at: string,
    included: Included | null,
    above: readonly string[],
  ): Promise<void> => {
    if (above.includes(path)) return
    for (const entry of entriesIn(await read(path))) {
      const next = includedBy(entry, at)
      if ('named' in next) others.push(next.named)
      else for (const file of next.files) await follow(file, next.folder, next, [...above, path])
    }
    if (!found.has(path)) found.set(path, { path, folder: at, included })
  }
  for (const file of files) await follow(file, folder, null, [])
  return { files: [...found.values()], others }
}

/** Returns what a service extends; null if nothing. Relative paths start at `folder`. */
export function extendedBy(service: unknown, folder: string): Extended | null {
  const { extends: of } = mapIn(service)
  if (typeof of === 'string') return { file: null, named: null, service: of }
  const { service: name, file } = mapIn(of)
  if (typeof name !== 'string') return null
  return typeof file === 'string'
    ? { file: isHere(file) ? resolve(folder, file) : null, named: file, service: name }
    : { file: null, named: null, service: name }
}

function entriesIn(value: unknown): unknown[] {
  const { include } = mapIn(value)
  return Array.isArray(include) ? include : []
}

function includedBy(entry: unknown, from: string): Included | { named: string } {
  const {
    path,
    project_directory: folder,
    env_file: environment,
  } = typeof entry === 'string' ? { path: entry } : mapIn(entry)
  const named = textsIn(path)
  const [first] = named
  const words = [...named, ...textsIn(folder), ...textsIn(environment)]
  if (first === undefined || !words.every(isHere)) return { named: named.join(', ') }
  const files = named.map((it) => resolve(from, it))
  return {
    files,
    folder: typeof folder === 'string' ? resolve(from, folder) : dirname(files[0]!),
    environmentFiles: textsIn(environment).map((it) => resolve(from, it)),
  }
}

/** True if a path is on this machine. URLs, `oci:` and git references are elsewhere; a variable could be either. */
function isHere(path: string): boolean {
  return !path.includes('$') && !/^(?:[a-z][a-z\d+.-]*:|github\.com\/|[^\s@]+@\S+:)/i.test(path)
}

function textsIn(value: unknown): string[] {
  return [value].flat().filter((it) => typeof it === 'string')
}

function mapIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
