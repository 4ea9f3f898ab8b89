import type { Cluster, Context, KubeConfig, User } from '@kubernetes/client-node'
import { dirname, resolve } from 'node:path'
import { isRecord } from '../../adapters/http.ts'
import { readJudged, whyUnreadable } from '../../adapters/read-file.ts'
import type { Judgement } from '../../adapters/trust/judge.ts'
import { YamlError, parseYaml } from '../../adapters/yaml/index.ts'
import { parsedYaml } from '../../adapters/yaml/look.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { asPath, command } from '../../core/shell-command.ts'

/** Content of one file of kubectl; its relative paths are absolute here. */
export interface KubeconfigFile {
  file: string
  currentContext: string | null
  clusters: readonly Cluster[]
  contexts: readonly Context[]
  users: readonly User[]
  /**
   * Tells whether others could have written the opened file, and so the programs that it names; null for a pipe of the
   * caller's own
   */
  judgement: Judgement | null
}

/** Maximum bytes of a file; those of hundreds of clusters with their certificates are as large */
const mostBytes = 10_000_000

/** Returns an empty configuration of the client library, which takes long to load. */
export async function newKubeConfig(): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js')
  return new KubeConfig()
}

/** Reads a file of kubectl; null if it is missing. Throws CONFIGURATION with the place, FORBIDDEN, UNAVAILABLE. */
export async function readKubeconfig(file: string): Promise<KubeconfigFile | null> {
  const found = await textOf(file)
  if (found === null) return null
  const { text, judgement } = found
  const empty = { file, currentContext: null, clusters: [], contexts: [], users: [], judgement }
  if (text.trim() === '') return empty
  const config = await newKubeConfig()
  try {
    // kubectl reads YAML 1.1; the library reads another version, and does not limit what aliases stand for
    parsedYaml(text)
    config.loadFromString(text)
  } catch (error) {
    throw malformed(file, error)
  }
  try {
    config.makePathsAbsolute(dirname(file))
    const users = text.includes('tokenFile') ? config.users.map(withTokenFile(text, dirname(file))) : config.users
    return {
      file,
      currentContext: config.currentContext ? nameIn(config.currentContext) : null,
      clusters: config.clusters.map((it) => ({ ...it, name: nameIn(it.name) })),
      contexts: config.contexts.map((it) => ({
        ...it,
        name: nameIn(it.name),
        cluster: nameIn(it.cluster),
        ...(it.user && { user: nameIn(it.user) }),
      })),
      users: users.map((it) => ({ ...it, name: nameIn(it.name) })),
      judgement,
    }
  } catch (error) {
    throw malformed(file, error)
  }
}

/**
 * Returns a name as text. kubectl accepts a number as a name, and no list; the library passes on anything. Throws if it
 * is no name.
 */
function nameIn(name: unknown): string {
  if (typeof name === 'string') return name
  if (typeof name === 'number' || typeof name === 'boolean') return String(name)
  throw new Error('the name of a context, cluster or user is not text')
}

/** Adds a user's `tokenFile`: kubectl knows it, the library reads it only for pods. */
function withTokenFile(text: string, folder: string): (user: User) => User {
  const { value } = parseYaml(text)
  const all = isRecord(value) && Array.isArray(value['users']) ? value['users'].filter(isRecord) : []
  const named = new Map(all.map(({ name, user }) => [name, isRecord(user) ? user['tokenFile'] : undefined]))
  return (user) => {
    const path = named.get(user.name)
    return typeof path === 'string'
      ? { ...user, authProvider: { name: 'tokenFile', config: { tokenFile: resolve(folder, path) } } }
      : user
  }
}

/** Explains an invalid file without the library's message about invalid YAML, which quotes the file's secrets. */
function malformed(file: string, error: unknown): AdminError {
  if (error instanceof YamlError)
    return new AdminError(
      'CONFIGURATION',
      `${file}:${error.line} is not a valid kubectl configuration: ${error.message}`,
      ['kubectl config view'],
    )
  const { mark, reason } = error as { mark?: { line: number }; reason?: string }
  const place = mark === undefined ? file : `${file}:${mark.line + 1}`
  const why =
    mark === undefined
      ? error instanceof TypeError
        ? 'it has the wrong structure'
        : messageOf(error)
      : (reason ?? 'it is not YAML')
  return new AdminError(
    'CONFIGURATION',
    `${place} is not a valid kubectl configuration: ${why}`,
    ['kubectl config view'],
    {
      cause: mark === undefined ? error : undefined,
    },
  )
}

async function textOf(file: string): Promise<{ text: string; judgement: Judgement | null } | null> {
  let judgement: Judgement | null = null
  let bytes: Buffer | null
  try {
    bytes = await readJudged(resolve(file), mostBytes, (judged) => void (judgement = judged))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    const options = { cause: error }
    if (code === 'EACCES')
      throw new AdminError('FORBIDDEN', `this user cannot read ${file}`, [command`ls -l ${asPath(file)}`], options)
    throw new AdminError(
      'UNAVAILABLE',
      `${file} cannot be read: ${whyUnreadable(error)}`,
      [command`ls -l ${asPath(file)}`],
      options,
    )
  }
  if (bytes === null)
    throw new AdminError(
      'CONFIGURATION',
      `${file} is not a valid kubectl configuration: it is larger than ${mostBytes / 1_000_000} MB`,
      [command`ls -l ${asPath(file)}`],
    )
  return { text: bytes.toString('utf8'), judgement }
}
