import { dirname, resolve } from 'node:path'

/** A compose file of a project, or one that such a file includes. */
export interface ComposeFile {
  /** absolute */
  path: string
  /** that its relative paths are meant from */
  folder: string
  /** what it is a part of; null: the project itself */
  included: Included | null
}

/** What one entry of `include` draws in, as a project of its own (compose-spec, 14-include.md). */
export interface Included {
  /** absolute, a later one above an earlier one */
  files: readonly string[]
  /** that relative paths are meant from, and where its `.env` lies */
  folder: string
  /** in place of `.env` */
  environmentFiles: readonly string[]
}

/** The service from which another takes what it does not say itself (compose-spec, 05-services.md, `extends`). */
export interface Extended {
  /** absolute; null: it is not on this machine, or a variable names it */
  file: string | null
  /** the file as it is written; null: the same file */
  named: string | null
  service: string
}

/**
 * All files of a project, each behind those that it includes, all the way down; and what is included and is no file of
 * this machine, or is named by a variable, as it is written. `read` gives the value of a file, and may throw.
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

/** What a service extends, in a file whose relative paths start at that folder; null if nothing. */
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

/** An address, `oci:` or a git reference names an include from elsewhere. */
function isHere(path: string): boolean {
  return !path.includes('$') && !/^(?:[a-z][a-z\d+.-]*:|github\.com\/|[^\s@]+@\S+:)/i.test(path)
}

function textsIn(value: unknown): string[] {
  return [value].flat().filter((it) => typeof it === 'string')
}

function mapIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
