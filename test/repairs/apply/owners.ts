import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import type { Workload } from '../../kubernetes/resources.ts'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'
import { chart, situation } from './situation.ts'
import type { Situation } from './situation.ts'

/** A variable that the chart sets, its value there, and the one that a repair sets. */
export const name = 'ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS'
export const [former, wanted] = ['57600', '3600']
export const legacy = ['use-legacy-image', '--apply', '--build', '527u01']
export const [was, is] = ['r/testops/testops:526u03', 'r/testops/testops-legacy:527u01']

/** A cluster whose pods take so long to end that nothing is read of it from before a write. */
export async function slowSituation(given: Parameters<typeof situation>[0] = {}): Promise<Situation> {
  const it = await situation(given)
  it.cluster.timing.stopMs = 1200
  return it
}

/** The name of a run that has to end well. */
export async function done({ someone }: Situation, words: readonly string[]): Promise<string> {
  const ended = await someone.repair(words)
  expect([words.join(' '), ended.code], ended.stdout + ended.stderr).toEqual([words.join(' '), 0])
  return ended.json<RepairDocument>().run!
}

export function deployment({ cluster }: Situation): Workload {
  return cluster.get('deployments', 'testops', 'testops-testops') as Workload
}

export function valueOf(it: Situation): string | undefined {
  return deployment(it).spec.template.spec.containers[0]!.env?.find((entry) => entry.name === name)?.value
}

export function managers(it: Situation): string[] {
  return (deployment(it).metadata.managedFields ?? []).map(({ manager }) => manager)
}

/** What kubectl says; throws where it fails. */
export async function kubectl({ environment, folder }: Situation, ...words: string[]): Promise<string> {
  const { kubectl: program } = await kubernetesTools()
  return said(program, [...words, '-n', 'testops'], { environment, folder })
}

async function said(
  program: string,
  words: readonly string[],
  { environment, folder }: Pick<Situation, 'environment' | 'folder'>,
): Promise<string> {
  return (await promisify(execFile)(program, words, { env: { ...process.env, ...environment, HOME: folder } })).stdout
}

/** Who keeps the service's objects, and puts there what its source says. `lifetime`: of tokens. */
export interface Owner {
  what: string
  given?: Parameters<typeof situation>[0]
  apply: (it: Situation, lifetime?: string) => Promise<unknown>
  hasRelease?: true
}

export async function upgrade(it: Situation, lifetime?: string): Promise<string> {
  return it.helm('upgrade', ...chartWords(it, lifetime))
}

/**
 * With another lifetime than the chart's own, the release is made with more than its file, which a repair of it
 * refuses.
 */
function chartWords({ file }: Situation, lifetime?: string): string[] {
  return [
    'testops',
    chart,
    '-f',
    file,
    ...(lifetime === undefined ? [] : ['--set-string', `bearerTokenExpirationAfter=${lifetime}`]),
  ]
}

/**
 * Flux's helm-controller is Helm's library, which names itself to the server as its program does (helm,
 * `pkg/kube/client.go`, `getManagedFieldsManager`).
 */
function helmController(what: string, isHelm3: boolean, ...more: string[]): Owner {
  const apply = async (it: Situation, lifetime?: string): Promise<string> => {
    const { helm } = await kubernetesTools({ isHelm3 })
    const program = join(it.folder, 'helm-controller')
    await symlink(helm, program).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    return said(program, ['upgrade', '--install', ...chartWords(it, lifetime), ...more, '-n', 'testops'], it)
  }
  return { what, given: { install: null }, apply }
}

function kubectlOwner(what: string, ...words: string[]): Owner {
  const apply = async (it: Situation, lifetime?: string): Promise<string> => {
    const manifest = join(it.folder, 'manifest.yaml')
    await writeFile(manifest, await it.helm('template', ...chartWords(it, lifetime)))
    return kubectl(it, 'apply', '-f', manifest, ...words)
  }
  return { what, given: { install: null }, apply }
}

export const helm4: Owner = { what: 'helm 4', apply: upgrade, hasRelease: true }
export const helm3: Owner = { what: 'helm 3', given: { isHelm3: true }, apply: upgrade, hasRelease: true }
export const clientSide = kubectlOwner('kubectl apply')
export const serverSide = kubectlOwner('kubectl apply --server-side', '--server-side')
export const argo = kubectlOwner(
  'argocd-controller',
  '--server-side',
  '--field-manager=argocd-controller',
  '--force-conflicts',
)
/**
 * Argo CD's and Flux's: argo-cd, `common/common.go` (`ArgoCDSSAManager`) and "Server-Side Apply support for ArgoCD" (it
 * forces); fluxcd/pkg, `ssa/manager_apply.go` (kustomize-controller forces); helm-controller, `main.go` (its name) and
 * `internal/action/upgrade.go` (on the server's side it forces, as of Helm 4; before, it merges).
 */
const others: readonly Owner[] = [
  clientSide,
  serverSide,
  argo,
  kubectlOwner('kustomize-controller', '--server-side', '--field-manager=kustomize-controller', '--force-conflicts'),
  helmController('helm-controller', false, '--force-conflicts'),
  helmController('helm-controller of Helm 3', true),
]
export const all: readonly Owner[] = [helm4, helm3, ...others]
