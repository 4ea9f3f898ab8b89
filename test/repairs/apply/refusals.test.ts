import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { RunError } from '../../../src/core/run.ts'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'
import { before, chart, situation } from './situation.ts'
import type { Situation } from './situation.ts'

beforeAll(async () => void (await kubernetesTools()), 300_000)

const legacy = ['use-legacy-image', '--apply', '--build', '527u01']

interface Case {
  what: string
  given?: Parameters<typeof situation>[0]
  prepare?: (it: Situation) => Promise<unknown>
  /** in place of `legacy` with `words` */
  command?: (it: Situation) => readonly string[]
  words?: readonly string[]
  env?: (it: Situation) => Record<string, string>
  code: number
  says: RegExp
  next?: RegExp
}

/** A program of that name which says this. */
async function fakeHelm({ folder }: Situation, says: string): Promise<void> {
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin', 'helm'), `#!/bin/sh\necho '${says}'\n`)
  await chmod(join(folder, 'bin', 'helm'), 0o755)
}

/** As a pod that was cut off from its ReplicaSet. */
async function orphan({ cluster }: Situation): Promise<void> {
  await expect.poll(() => cluster.pods.length).toBe(1)
  cluster.isFrozen = true
  cluster.update('pods', cluster.pods[0]!, ({ metadata }) => void delete metadata.ownerReferences)
}

const cases: readonly Case[] = [
  {
    what: 'a pod that no controller owns',
    prepare: orphan,
    code: 4,
    says: /^no controller owns 1 instance of the service \(testops-testops-\S+\)/,
    next: /^kubectl --context test -n testops get pod testops-testops-\S+ -o yaml/,
  },
  {
    what: 'a setting, and a pod that no controller owns',
    prepare: orphan,
    command: ({ file }) => ['set-env', 'ALLURE_REDIS_SESSIONTTL=10d', '--values', file, '--apply', '--chart', chart],
    code: 4,
    says: /^no controller owns 1 instance of the service/,
  },
  {
    what: 'values that were set by --set',
    given: { install: ['--set', 'replicaCount=1', '--set', 'rabbitmq.auth.password=anders123'] },
    code: 4,
    says: new RegExp(
      String.raw`^helm would also change values that differ between release testops in namespace testops and \S+: ` +
        String.raw`.*rabbitmq\.auth\.password \(different values\), replicaCount \(only in the release\)\.`,
    ),
    next: /^helm get values testops -n testops --kube-context test/,
  },
  {
    what: 'another version of the chart',
    words: ['--chart-version', '5.28.0'],
    code: 4,
    says: /has chart testops 5\.27\.2, not the requested 5\.28\.0/,
  },
  {
    what: 'a folder with another version',
    prepare: async ({ folder }) => {
      await cp(chart, join(folder, 'newer'), { recursive: true })
      const file = join(folder, 'newer', 'Chart.yaml')
      await writeFile(file, (await readFile(file, 'utf8')).replace('5.27.2', '5.28.0'))
    },
    given: { settings: { chart: './newer' } },
    code: 4,
    says: /newer is chart testops 5\.28\.0, but release testops in namespace testops has testops 5\.27\.2/,
  },
  {
    what: 'no chart',
    given: { settings: {} },
    code: 64,
    says: /^specify the chart of `prod`: Helm does not record/,
    next: /--chart CHART/,
  },
  {
    what: 'a chart that is not there',
    words: ['--chart', 'none/testops'],
    code: 69,
    says: /^chart none\/testops cannot be fetched: repo none not found/,
    next: /^helm repo list/,
  },
  {
    what: 'a repository that is not reached',
    words: ['--chart', 'oci://127.0.0.1:1/testops'],
    code: 69,
    says: /^the repository of chart oci:\/\/127\.0\.0\.1:1\/testops cannot be reached/,
  },
  {
    what: 'a release whose last change failed',
    prepare: async ({ helm, file, cluster }) => {
      cluster.hooks.job = () => 'Failed'
      await helm('upgrade', 'testops', chart, '-f', file, '--set', 'check.enabled=true').catch(() => undefined)
    },
    code: 4,
    says: /^the last change to release testops in namespace testops failed \(revision 2: /,
    next: /^helm history testops/,
  },
  {
    what: 'a release that is pending',
    prepare: async ({ cluster }) => {
      const secret = cluster.get('secrets', 'testops', 'sh.helm.release.v1.testops.v1')
      const { gunzipSync, gzipSync } = await import('node:zlib')
      const release = JSON.parse(
        gunzipSync(
          Buffer.from(Buffer.from((secret['data'] as { release: string }).release, 'base64').toString(), 'base64'),
        ).toString(),
      ) as { info: { status: string } }
      release.info.status = 'pending-upgrade'
      const data = { release: Buffer.from(gzipSync(JSON.stringify(release)).toString('base64')).toString('base64') }
      cluster.update(
        'secrets',
        secret,
        (it) =>
          void Object.assign(it, {
            data,
            metadata: { ...it.metadata, labels: { ...it.metadata.labels, status: 'pending-upgrade' } },
          }),
      )
    },
    code: 4,
    says: new RegExp(
      '^release testops in namespace testops has been pending-upgrade since .* ' +
        'another helm operation is running, or was killed',
    ),
    next: /^helm history/,
  },
  { what: 'no helm', env: () => ({ PATH: '/nonexistent' }), code: 69, says: /^helm is not installed on this machine/ },
  {
    what: 'helm 2',
    prepare: async (it) => fakeHelm(it, 'Client: v2.16.1+gbbdfe5e'),
    env: ({ folder, environment }) => ({ PATH: `${folder}/bin:${environment['PATH']}` }),
    code: 69,
    says: /^helm on this machine is 2\.16, but 3\.13 or later is needed/,
  },
  {
    what: 'encrypted values',
    prepare: async ({ file }) => writeFile(file, `${before}sops:\n  mac: ENC[AES256_GCM,data:x]\n`),
    code: 4,
    says: /SOPS has encrypted/,
  },
  {
    what: 'a controller that keeps the release',
    prepare: async ({ cluster }) => {
      cluster.update(
        'deployments',
        cluster.deployments[0]!,
        ({ metadata }) => void (metadata.labels = { ...metadata.labels, 'argocd.argoproj.io/instance': 'testops' }),
      )
    },
    code: 4,
    says: /^Argo CD \(Application `testops`\) may revert what helm changes\..* commit the file there instead/,
    next: /--accept-risk controller/,
  },
  {
    what: 'no release',
    prepare: async ({ cluster }) => {
      cluster.update('deployments', cluster.deployments[0]!, ({ metadata }) => {
        metadata.annotations = {}
        metadata.labels = { app: 'testops-testops' }
      })
    },
    code: 69,
    says: /is not marked as part of a Helm release/,
  },
  {
    what: 'a cluster that does not let helm read',
    prepare: async ({ cluster }) => cluster.forbidden.push({ resource: 'secrets', verb: 'list' }),
    code: 69,
    says: /^helm lacks a permission: .*secrets is forbidden/,
  },
  {
    what: 'a chart that quotes a password of the file in its error',
    prepare: async ({ file }) =>
      writeFile(file, before.replace('geheim123', 'anders123').concat('check: {enabled: true, fails: true}\n')),
    code: 4,
    says: /password \[secret\] is too short/,
  },
  {
    what: 'a compose file',
    words: ['--compose', 'x.yml'],
    code: 64,
    says: /the file \S+ is missing|does not run under compose/,
  },
]

describe('refused, and nothing is changed', () => {
  test.each(cases)(
    '$what',
    async ({ given, prepare, words = [], command = () => [...legacy, ...words], env, code, says, next }) => {
      const it = await situation(given)
      await prepare?.(it)
      const text = await it.text()
      const revisions = await it.history().catch(() => [])
      const ended = await it.someone.repair([...command(it)], { ...(env && { env: env(it) }) })
      const { error } = ended.json<{ error: RunError }>()
      expect([ended.code, error.message], ended.stdout).toEqual([code, expect.stringMatching(says) as string])
      if (next) expect(error.suggestions).toContainEqual(expect.stringMatching(next))
      expect([await it.text(), await it.history().catch(() => [])]).toEqual([text, revisions])
      expect(ended.stdout + ended.stderr).not.toMatch(/geheim123|anders123/)
    },
    120_000,
  )
})
