import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { Cluster } from '../../kubernetes/cluster.ts'
import { testCertificate } from '../../kubernetes/kubeconfig.ts'
import { kubeconfigFor } from '../../kubernetes/passing-kubeconfig.ts'
import { startApiServer } from '../../kubernetes/server.ts'
import type { ApiServer } from '../../kubernetes/server.ts'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'
import { operator } from '../support/operator.ts'
import type { Operator } from '../support/operator.ts'

export const chart = join(import.meta.dirname, '../../fixtures/chart')
export const before =
  '# of prod\nversion: 526u03 # two\nimage:\n  registry: r\nrabbitmq:\n  auth: {password: geheim123}\n'
export const after = before
  .replace('526u03', '527u01')
  .replace('registry: r\n', 'registry: r\n  imageName: testops-legacy\n')

/**
 * A release that helm has installed into a cluster of this test's own, with its one values file, and an operator of it.
 */
export interface Situation {
  someone: Operator
  server: ApiServer
  cluster: Cluster
  folder: string
  file: string
  text: () => Promise<string>
  /** what helm says; throws where it fails */
  helm: (...words: string[]) => Promise<string>
  /** status and description of each revision */
  history: () => Promise<string[]>
  /** of the service's container */
  image: () => string
  /** by which helm and the program find all of that */
  environment: Readonly<Record<string, string>>
}

/**
 * `settings`: of the cluster, in the configuration; `install`: more words for helm, null: the release is not installed;
 * `isHelm3`: not helm 4; `isWrapped`: `helm` is a script that runs a program of another name.
 */
interface Given {
  values?: string
  settings?: object
  install?: readonly string[] | null
  isHelm3?: boolean
  isWrapped?: boolean
}

export async function situation({
  values = before,
  settings = { chart },
  install = [],
  isHelm3 = false,
  isWrapped = false,
}: Given = {}): Promise<Situation> {
  const { helm: real } = await kubernetesTools({ isHelm3 })
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'testops-admin-apply-')))
  const program = isWrapped ? await wrapped(real, join(folder, 'bin')) : real
  const file = join(folder, 'values.yaml')
  await writeFile(file, values)
  const cluster = new Cluster()
  for (const name of ['default', 'testops'])
    cluster.load('namespaces', { metadata: { name }, spec: {}, status: { phase: 'Active' } })
  cluster.load('nodes', { metadata: { name: 'node-1' }, spec: {}, status: {} })
  const server = await startApiServer(cluster, testCertificate())
  const kubeconfig = await kubeconfigFor(server.url)
  const config = join(folder, 'testops-admin.yaml')
  await writeFile(
    config,
    JSON.stringify({
      deployments: { prod: { platform: 'kubernetes', kubernetes: { values: 'values.yaml', ...settings } } },
    }),
  )
  const environment = {
    KUBECONFIG: kubeconfig,
    TESTOPS_ADMIN_CONFIG: config,
    PATH: `${dirname(program)}:${process.env['PATH']}`,
  }
  const someone = await operator({ name: 'prod', environment })
  onTestFinished(async () => {
    await someone.leave()
    await server.close()
    await rm(folder, { recursive: true, force: true })
    await rm(dirname(kubeconfig), { recursive: true, force: true })
  })
  const helm = async (...words: string[]): Promise<string> =>
    (
      await promisify(execFile)(program, [...words, '-n', 'testops'], {
        env: { ...process.env, ...environment, HOME: folder },
      })
    ).stdout
  if (install !== null) await helm('install', 'testops', chart, '-f', file, ...install)
  return {
    someone,
    server,
    cluster,
    folder,
    file,
    environment,
    helm,
    text: async () => readFile(file, 'utf8'),
    history: async () =>
      (JSON.parse(await helm('history', 'testops', '-o', 'json')) as { status: string; description: string }[]).map(
        ({ status, description }) => `${status}: ${description}`,
      ),
    image: () => cluster.deployments[0]!.spec.template.spec.containers[0]!.image,
  }
}

/**
 * Whether a request to the API server changes nothing: it reads, tries an apply, or asks for one's own rights, which
 * keeps nothing.
 */
export function isQuestion(request: string): boolean {
  return (
    request.startsWith('GET ') ||
    /^PATCH [^?]+\?(?:[^&]+&)*dryRun=All(?:&|$)/.test(request) ||
    request === 'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  )
}

/** A script that is called `helm`, and runs that program by another name. */
async function wrapped(program: string, folder: string): Promise<string> {
  const [script, renamed] = [join(folder, 'helm'), join(folder, 'helm-linux-amd64')]
  await mkdir(folder)
  await symlink(program, renamed)
  await writeFile(script, `#!/bin/sh\nexec ${renamed} "$@"\n`, { mode: 0o755 })
  return script
}
