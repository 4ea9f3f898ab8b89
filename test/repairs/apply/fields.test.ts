import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair-document.ts'
import type { Workload } from '../../kubernetes/resources.ts'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'
import { before, chart, situation } from './situation.ts'
import type { Situation } from './situation.ts'

beforeAll(async () => {
  await kubernetesTools()
  await kubernetesTools({ isHelm3: true })
}, 300_000)

const name = 'ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS'
const [former, wanted] = ['57600', '3600']
const legacy = ['use-legacy-image', '--apply', '--build', '527u01']
const [was, is] = ['r/testops/testops:526u03', 'r/testops/testops-legacy:527u01']

/** A cluster whose pods take so long to end that nothing is read of it from before a write. */
async function slowSituation(given: Parameters<typeof situation>[0] = {}): Promise<Situation> {
  const it = await situation(given)
  it.cluster.timing.stopMs = 1200
  return it
}

async function done({ someone }: Situation, words: readonly string[]): Promise<string> {
  const ended = await someone.repair(words)
  expect([words.join(' '), ended.code], ended.stdout + ended.stderr).toEqual([words.join(' '), 0])
  return ended.json<RepairDocument>().run!
}

function deployment({ cluster }: Situation): Workload {
  return cluster.get('deployments', 'testops', 'testops-testops') as Workload
}

function valueOf(it: Situation): string | undefined {
  return deployment(it).spec.template.spec.containers[0]!.env?.find((entry) => entry.name === name)?.value
}

function owners(it: Situation): string[] {
  return (deployment(it).metadata.managedFields ?? []).map(({ manager }) => manager)
}

/** What kubectl says; throws where it fails. */
async function kubectl({ environment, folder }: Situation, ...words: string[]): Promise<string> {
  const { kubectl: program } = await kubernetesTools()
  return (await promisify(execFile)(program, [...words, '-n', 'testops'], { env: { ...process.env, ...environment, HOME: folder } })).stdout
}

/** Who keeps the service's objects, and puts there what its source says. `lifetime`: of tokens. */
interface Owner {
  what: string
  given?: Parameters<typeof situation>[0]
  apply: (it: Situation, lifetime?: string) => Promise<unknown>
  hasRelease?: true
}

async function upgrade(it: Situation, lifetime = former): Promise<string> {
  return it.helm('upgrade', 'testops', chart, '-f', it.file, '--set-string', `bearerTokenExpirationAfter=${lifetime}`)
}

function kubectlOwner(what: string, ...words: string[]): Owner {
  const apply = async (it: Situation, lifetime = former): Promise<string> => {
    const manifest = join(it.folder, 'manifest.yaml')
    await writeFile(manifest, await it.helm('template', 'testops', chart, '-f', it.file, '--set-string', `bearerTokenExpirationAfter=${lifetime}`))
    return kubectl(it, 'apply', '-f', manifest, ...words)
  }
  return { what, given: { install: null }, apply }
}

/** The names and the force of the last two: Argo CD documentation, "Server-Side Apply"; Flux documentation, "Kustomization", "HelmRelease". */
const all: readonly Owner[] = [
  { what: 'helm 4', apply: upgrade, hasRelease: true },
  { what: 'helm 3', given: { isHelm3: true }, apply: upgrade, hasRelease: true },
  kubectlOwner('kubectl apply'),
  kubectlOwner('kubectl apply --server-side', '--server-side'),
  kubectlOwner('argocd-controller', '--server-side', '--field-manager=argocd-controller', '--force-conflicts'),
  kubectlOwner('kustomize-controller', '--server-side', '--field-manager=kustomize-controller', '--force-conflicts'),
]

describe('the owner applies what it has, and meets no conflict', () => {
  test.each(all)('$what: after a setting, and after its undo', async ({ given, apply }) => {
    const it = await slowSituation(given)
    await apply(it)
    const first = await done(it, ['set-env', `${name}=${wanted}`])
    expect(valueOf(it)).toBe(wanted)
    await apply(it)
    expect(valueOf(it)).toBe(former)
    await done(it, ['undo', first])
    const second = await done(it, ['set-env', `${name}=${wanted}`])
    await done(it, ['undo', second])
    expect(valueOf(it)).toBe(former)
    await apply(it, '7200')
    expect(valueOf(it)).toBe('7200')
    expect(owners(it)).not.toContain('testops-admin')
  }, 240_000)

  test.each(all)('$what: after the service was stopped and started, with as many replicas or others', async ({ given, apply }) => {
    const it = await slowSituation(given)
    await apply(it)
    await kubectl(it, 'scale', 'deployment/testops-testops', '--replicas=2')
    await done(it, ['service', 'stop'])
    await done(it, ['service', 'start'])
    expect(owners(it)).not.toContain('testops-admin')
    await apply(it)
    expect(deployment(it).spec.replicas).toBe(1)
    await done(it, ['service', 'restart'])
    await apply(it)
    await done(it, ['service', 'stop'])
    await apply(it)
    expect(owners(it)).not.toContain('testops-admin')
  }, 240_000)

  test.each(all.filter(({ hasRelease }) => hasRelease))('$what: settings, upgrades and legacy images in any order', async ({ given }) => {
    const it = await slowSituation(given)
    const apply = async (): Promise<string> => it.helm('upgrade', 'testops', chart, '-f', it.file)
    const setting = await done(it, ['set-env', `${name}=${wanted}`])
    const image = await done(it, legacy)
    expect([it.image(), valueOf(it)]).toEqual([is, former])
    await done(it, ['undo', image])
    expect([it.image(), await it.text()]).toEqual([was, before])
    await done(it, ['undo', setting])
    await apply()
    const again = await done(it, legacy)
    const other = await done(it, ['set-env', `${name}=${wanted}`])
    await done(it, ['undo', again])
    expect([it.image(), valueOf(it)]).toEqual([was, former])
    await done(it, ['undo', other])
    await apply()
    expect(owners(it)).not.toContain('testops-admin')
  }, 240_000)
})

describe('killed between a write and giving its fields up', () => {
  /** The program, ended as soon as it asks for the nth time to give up what it owns. */
  async function killedBefore(it: Situation, nth: number, words: readonly string[]): Promise<void> {
    let left = nth
    const begun = it.someone.begin([...words, '--confirm', 'prod', '--json'])
    it.server.instead = ({ method, url = '' }, response) => {
      if (method !== 'PATCH' || url.includes('dryRun') || !owners(it).includes('testops-admin') || --left > 0) return false
      begun.child.kill('SIGKILL')
      response.destroy()
      return true
    }
    expect((await begun.ended).signal).toBe('SIGKILL')
    it.server.instead = null
    expect(owners(it)).toContain('testops-admin')
  }

  const instants = [
    { when: 'before the service is stopped', nth: 1 },
    { when: 'when the setting is written', nth: 2 },
    { when: 'when the service is started', nth: 3 },
  ]

  test.each(instants.flatMap((it) => ['resume', 'undo'].map((way) => ({ ...it, way }))))('$when: $way leaves nothing', async ({ nth, way }) => {
    const it = await slowSituation()
    await killedBefore(it, nth, ['set-env', `${name}=${wanted}`])
    const { runs } = (await it.someone.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
    await done(it, way === 'undo' ? ['undo', runs[0]!.run] : ['resume'])
    expect([owners(it).includes('testops-admin'), valueOf(it)]).toEqual([false, way === 'undo' ? former : wanted])
    await upgrade(it, '7200')
    expect(valueOf(it)).toBe('7200')
  }, 120_000)
})

describe('fields that are owned when an upgrade is to be', () => {
  const own = ['-p', JSON.stringify({ spec: { template: { spec: { containers: [{ name: 'testops-testops', env: [{ name, value: wanted }] }] } } } })]
  const set = async (it: Situation, manager: string): Promise<string> => kubectl(it, 'patch', 'deployment/testops-testops', `--field-manager=${manager}`, ...own)
  const refused = /^helm upgrade would fail at release testops in namespace testops, since the chart sets fields that others own: `kubectl-set` owns \.spec\.template\.spec\.containers\[name="testops-testops"\]\.env\[name="ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS"\]\.value of deployments\/testops-testops\. Nothing was changed$/

  async function refusal({ someone }: Situation, words: readonly string[]): Promise<{ code: number | null; message: string; suggestions: readonly string[] }> {
    const ended = await someone.run([...words, '--json'])
    const { error } = ended.json<{ error: { message: string; suggestions: string[] } }>()
    return { code: ended.code, message: error.message, suggestions: error.suggestions }
  }

  test('by a former version of this program, they are given up, and the upgrade is made', async () => {
    const it = await slowSituation()
    await set(it, 'testops-admin')
    const run = await done(it, legacy)
    expect([it.image(), valueOf(it), owners(it).includes('testops-admin')]).toEqual([is, former, false])
    await set(it, 'testops-admin')
    await done(it, ['undo', run])
    expect([it.image(), valueOf(it), owners(it).includes('testops-admin')]).toEqual([was, former, false])
  }, 120_000)

  test('by others, it is refused before anything is changed, and asked on trial alone', async () => {
    const it = await slowSituation()
    await set(it, 'kubectl-set')
    const [asked, spec] = [it.server.requests.length, structuredClone(deployment(it).spec)]
    for (const more of [['--dry-run'], ['--confirm', 'prod']]) {
      const { code, message, suggestions } = await refusal(it, [...legacy, ...more])
      expect([code, message, suggestions[0]]).toEqual([4, expect.stringMatching(refused), 'kubectl --context test -n testops get deployments/testops-testops -o yaml --show-managed-fields'])
    }
    const writes = it.server.requests.slice(asked).filter((line) => !line.startsWith('GET ') && !line.includes('dryRun=All') && !/leases|selfsubjectaccessreviews/.test(line))
    expect([writes, await it.text(), await it.history(), deployment(it).spec]).toEqual([[], before, ['deployed: Install complete'], spec])
    await it.helm('upgrade', 'testops', chart, '-f', it.file, '--force-conflicts')
    await done(it, legacy)
  }, 120_000)

  test('by others since the plan was made, it is refused before the first step', async () => {
    const it = await slowSituation()
    let isFirst = true
    it.server.instead = ({ url = '' }) => {
      // the lock is taken once the plan is made
      if (url.includes('/leases') && isFirst) {
        isFirst = false
        void set(it, 'kubectl-set')
      }
      return false
    }
    const { message } = await refusal(it, [...legacy, '--confirm', 'prod'])
    expect([message, await it.text()]).toEqual([expect.stringMatching(refused), before])
  }, 120_000)

  test('by others since, an undo is refused before anything is changed', async () => {
    const it = await slowSituation()
    const run = await done(it, legacy)
    await set(it, 'kubectl-set')
    const text = await it.text()
    const { message } = await refusal(it, ['undo', run, '--confirm', 'prod'])
    expect([message, await it.text(), it.image()]).toEqual([expect.stringMatching(/^helm rollback would fail at release testops/), text, is])
  }, 120_000)

  test('with helm 3, which merges, nothing is in the way', async () => {
    const it = await slowSituation({ isHelm3: true })
    await set(it, 'kubectl-set')
    await done(it, legacy)
    expect(it.image()).toBe(is)
  }, 120_000)
})
