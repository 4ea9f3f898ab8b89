import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { onTestFinished } from 'vitest'
import { openClient } from '../../../src/platforms/kubernetes/client.ts'
import type { KubernetesClient } from '../../../src/platforms/kubernetes/client.ts'
import { AdminError } from '../../../src/core/error.ts'
import { recordedCluster } from '../../kubernetes/cluster.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { kubeconfigFor } from '../../kubernetes/passing-kubeconfig.ts'
import { startApiServer } from '../../kubernetes/server.ts'
import type { ApiServer } from '../../kubernetes/server.ts'

/** A cluster of this test's own, until it is over, and the variables that lead there. */
export async function startCluster(
  cluster: Cluster = recordedCluster(),
): Promise<{ server: ApiServer; cluster: Cluster; environment: Record<string, string> }> {
  const server = await startApiServer(cluster)
  onTestFinished(async () => server.close())
  const file = await kubeconfigFor(server.url)
  onTestFinished(async () => rm(dirname(file), { recursive: true }))
  return { server, cluster, environment: { KUBECONFIG: file } }
}

export async function clientFor(
  environment: Record<string, string>,
  { context = null as string | null, timeoutMs = 5000 } = {},
): Promise<KubernetesClient> {
  const client = await openClient({ context }, { timeoutMs, environment })
  onTestFinished(() => client.close())
  return client
}

/** What it throws, as the operator reads it; ports and folders are left out. */
export async function told(
  work: Promise<unknown>,
): Promise<{ code: string; message: string; suggestions: readonly string[] }> {
  const error = await work.then(
    (value) => new Error(`nothing was thrown, but there is ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof AdminError)) throw error
  const plain = (text: string): string =>
    text.replace(/127\.0\.0\.1:\d+/g, 'SERVER').replace(/\/[^ ,`:]*\/testops-admin-[^/ ]+/g, 'FOLDER')
  return { code: error.code, message: plain(error.message), suggestions: error.suggestions.map(plain) }
}
