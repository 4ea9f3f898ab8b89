import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { env } from 'node:process'
import type { Cluster, Context, User } from '@kubernetes/client-node'
import { isRecord } from '../../adapters/http.ts'
import { distrusted, isTrusted, trustedByName } from '../../adapters/trust/assert.ts'
import { AdminError } from '../../core/error.ts'
import { suggestNearest } from '../../core/nearest.ts'
import { redactUrl } from '../../core/secret.ts'
import type { PlatformOptions } from '../platform.ts'
import type { KubeconfigFile } from './kubeconfig-file.ts'
import { readKubeconfig } from './kubeconfig-file.ts'

/** No cluster can be reached from this machine. */
export class NoCluster extends AdminError {}

/** A cluster, and the user that calls it. */
export interface Access {
  /** Null for a pod of the cluster, which uses its service account */
  context: string | null
  cluster: Cluster
  /** Namespace of the context, else `default` */
  namespace: string
  /** Null if the context names nobody */
  user: User | null
  /** Where the user is declared, for people */
  file: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Where a pod finds its own credentials (kubernetes.io, "Accessing the Kubernetes API from a Pod"). */
const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Finds the cluster as kubectl does: by the files that KUBECONFIG names, else ~/.kube/config, else the pod's own
 * service account. Throws CONFIGURATION if the context is missing or leads nowhere; UNAVAILABLE if no cluster is known
 * at all.
 */
export async function findAccess(
  { context }: Pick<KubernetesSettings, 'context'>,
  environment: Environment,
  folder = serviceAccount,
): Promise<Access> {
  const files = filesOf(environment)
  const read = (await Promise.all(files.map(readKubeconfig))).filter((it) => it !== null)
  // the first of several with one name counts, as for kubectl; the library would reject them
  const contexts = read.flatMap((it) => it.contexts.map((found) => ({ ...found, file: it.file })))
  const name = context ?? read.map((it) => it.currentContext).find((it) => it !== null) ?? null
  if (name === null) return (await inPod(environment, folder)) ?? nowhere(files, contexts)
  const found = contexts.find((it) => it.name === name)
  if (!found) throw noContext(name, contexts, files)

  if (found.namespace != null && typeof found.namespace !== 'string')
    throw leadsNowhere(found, 'its namespace is not text')
  const cluster = read.flatMap((it) => it.clusters).find((it) => it.name === found.cluster)
  if (!cluster) throw leadsNowhere(found, `no address is configured for its cluster ${quoted(found.cluster)}`)
  if (!URL.canParse(cluster.server) || !/^https?:/.test(cluster.server))
    throw leadsNowhere(
      found,
      `the address of its cluster ${quoted(found.cluster)} is not an http or https address: ${cluster.server}`,
    )
  const owner = read.find((it) => it.users.some((user) => user.name === found.user))
  if (!owner && found.user) throw leadsNowhere(found, `its user ${quoted(found.user)} is missing`)
  const user = owner?.users.find((it) => it.name === found.user) ?? null
  if (owner && user && runsProgram(user)) await refuseOfOthers(owner, environment)
  return { context: name, cluster, namespace: found.namespace || 'default', user, file: owner?.file ?? found.file }
}

/** True if signing in runs a program that the file names; Google's old provider has one, too. */
function runsProgram({ exec, authProvider }: User): boolean {
  const provider: unknown = authProvider
  return exec != null || (isRecord(provider) && isRecord(provider['config']) && provider['config']['cmd-path'] != null)
}

/** Refuses to execute a file that others can write. Throws CONFIGURATION. */
async function refuseOfOthers({ file, judgement }: KubeconfigFile, environment: Environment): Promise<void> {
  if (judgement === null || isTrusted(judgement, await trustedByName(environment))) return
  throw distrusted('the configuration of kubectl', file, resolve(file), judgement, environment)
}

function filesOf({ KUBECONFIG, HOME }: Environment): string[] {
  const named = (KUBECONFIG ?? '').split(delimiter).filter((it) => it !== '')
  return named.length > 0 ? named : [join(HOME ?? homedir(), '.kube', 'config')]
}

/** Finds a pod's own cluster as the library's `loadFromCluster` does, which reads only this process's variables. */
async function inPod(
  { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' }: Environment,
  folder: string,
): Promise<Access | null> {
  if (!host) return null
  const textIn = (file: string): Promise<string | null> =>
    readFile(join(folder, file), 'utf8').then(
      (text) => text.trim(),
      () => null,
    )
  const [token, ca, namespace] = await Promise.all(['token', 'ca.crt', 'namespace'].map(textIn))
  if (!token) return null
  return {
    context: null,
    cluster: {
      name: 'inCluster',
      server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
      skipTLSVerify: false,
      ...(ca && { caFile: join(folder, 'ca.crt') }),
    },
    namespace: namespace || 'default',
    user: {
      name: 'the service account of this pod',
      authProvider: { name: 'tokenFile', config: { tokenFile: join(folder, 'token') } },
    },
    file: folder,
  }
}

function nowhere(files: readonly string[], contexts: readonly Context[]): never {
  const names = contexts.map(({ name }) => name)
  if (names.length > 0) {
    throw new AdminError(
      'CONFIGURATION',
      `kubectl has no current context in ${files.join(', ')}. Choose one of: ${names.map(quoted).join(', ')}`,
      ['set `kubernetes.context`', 'kubectl config use-context NAME'],
    )
  }
  throw new NoCluster(
    'UNAVAILABLE',
    `no cluster is known: kubectl has no configuration in ${files.join(', ')}, and testops-admin does not run in a pod`,
    ['kubectl config get-contexts', 'export KUBECONFIG=FILE'],
  )
}

function noContext(name: string, contexts: readonly Context[], files: readonly string[]): AdminError {
  const names = contexts.map((it) => it.name)
  const near = suggestNearest(name, names)
  const others =
    names.length === 0 ? 'It has no contexts at all' : `Its contexts: ${names.slice(0, 10).map(quoted).join(', ')}`
  return new AdminError('CONFIGURATION', `kubectl has no context ${quoted(name)} in ${files.join(', ')}. ${others}`, [
    ...(near === undefined ? [] : [near]),
    'kubectl config get-contexts',
  ])
}

function leadsNowhere({ name, file }: Context & { file: string }, why: string): AdminError {
  return new AdminError('CONFIGURATION', `the context ${quoted(name)} in ${file} is invalid: ${why}`, [
    'kubectl config view',
  ])
}

function quoted(name: string): string {
  return `\`${name}\``
}

/** The service in a cluster, as the configuration describes it; null for what is to be found. */
export interface KubernetesSettings {
  /** Context of kubectl; null for the current one, or the pod's own service account */
  context: string | null
  namespace: string | null
  /** Name of the Helm release */
  release: string | null
  /**
   * Name of the Deployment or StatefulSet, whatever its image is called; absent if it is found by its image, or by the
   * chart's label
   */
  workload?: string
  /** Absolute path of the release's values file, and the keys under which the chart's own values lie in it */
  values?: { file: string; path: readonly string[] }
}

/**
 * Names the cluster and namespace that the settings lead to from this machine, for people; null if they lead nowhere.
 * Does not ask the cluster.
 */
export async function clusterAt(
  settings: KubernetesSettings,
  { environment = env }: Pick<PlatformOptions, 'environment'>,
): Promise<string | null> {
  try {
    const { cluster, namespace } = await findAccess(settings, environment)
    return `${redactUrl(cluster.server).replace(/(?<!\/)\/+$/, '')}, namespace ${settings.namespace ?? namespace}`
  } catch (error) {
    if (error instanceof AdminError) return null
    throw error
  }
}
