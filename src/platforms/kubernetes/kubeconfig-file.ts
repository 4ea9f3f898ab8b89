import type { Cluster, Context, KubeConfig, User } from '@kubernetes/client-node'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isRecord } from '../../adapters/http.ts'
import { parseYaml } from '../../adapters/yaml/index.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'

/** What one file of kubectl has; relative paths in it are absolute here. */
export interface KubeconfigFile {
  file: string
  currentContext: string | null
  clusters: readonly Cluster[]
  contexts: readonly Context[]
  users: readonly User[]
}

/** An empty configuration of the client library, which takes long to load. */
export async function newKubeConfig(): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js')
  return new KubeConfig()
}

/** A file of kubectl; null where there is none. Throws CONFIGURATION with the place, FORBIDDEN, UNAVAILABLE. */
export async function readKubeconfig(file: string): Promise<KubeconfigFile | null> {
  const text = await textOf(file)
  if (text === null) return null
  const empty = { file, currentContext: null, clusters: [], contexts: [], users: [] }
  if (text.trim() === '') return empty
  const config = await newKubeConfig()
  try {
    config.loadFromString(text)
  } catch (error) {
    throw malformed(file, error)
  }
  config.makePathsAbsolute(dirname(file))
  const users = text.includes('tokenFile') ? config.users.map(withTokenFile(text, dirname(file))) : config.users
  return { file, currentContext: config.currentContext || null, clusters: config.clusters, contexts: config.contexts, users }
}

/** kubectl knows `tokenFile`, which the library reads for pods alone. */
function withTokenFile(text: string, folder: string): (user: User) => User {
  const { value } = parseYaml(text)
  const all = isRecord(value) && Array.isArray(value['users']) ? value['users'].filter(isRecord) : []
  const named = new Map(all.map(({ name, user }) => [name, isRecord(user) ? user['tokenFile'] : undefined]))
  return (user) => {
    const path = named.get(user.name)
    return typeof path === 'string' ? { ...user, authProvider: { name: 'tokenFile', config: { tokenFile: resolve(folder, path) } } } : user
  }
}

/** The library says what is missing; its message on what is no YAML quotes the file, which holds secrets. */
function malformed(file: string, error: unknown): AdminError {
  const { mark, reason } = error as { mark?: { line: number }; reason?: string }
  const place = mark === undefined ? file : `${file}:${mark.line + 1}`
  const why = mark === undefined ? (error instanceof TypeError ? 'it has another shape' : messageOf(error)) : (reason ?? 'it is no YAML')
  return new AdminError('CONFIGURATION', `${place} is no configuration of kubectl: ${why}`, ['kubectl config view'], { cause: mark === undefined ? error : undefined })
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    const options = { cause: error }
    if (code === 'EACCES') throw new AdminError('FORBIDDEN', `${file} may not be read by this user`, [`ls -l ${file}`], options)
    throw new AdminError('UNAVAILABLE', `${file} cannot be read: ${messageOf(error)}`, [`ls -l ${file}`], options)
  }
}
