import { expect, onTestFinished, test } from 'vitest'
import { join } from 'node:path'
import type { SettingsDrift } from '../../../src/core/sources.ts'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { errorOf } from '../../runtime/error-of.ts'
import { folderWith } from '../../runtime/folder.ts'
import { startCluster } from './cluster.ts'

const env =
  (entries: readonly object[]) =>
  (cluster: Cluster): void => {
    for (const { spec } of cluster.deployments)
      spec.template.spec.containers.forEach((it) => Object.assign(it, { env: entries }))
  }

async function driftOf(
  values: string | null,
  entries: readonly object[] = [],
  path: readonly string[] = [],
): Promise<SettingsDrift> {
  const { cluster, environment } = await startCluster()
  env(entries)(cluster)
  const file = values === null ? null : join(await folderWith({ 'values.yaml': values }), 'values.yaml')
  const platform = await openKubernetes(
    { context: null, namespace: null, release: null, ...(file !== null && { values: { file, path } }) },
    { timeoutMs: 5000, environment },
  )
  onTestFinished(async () => platform.close())
  return (await platform.service()).drift()
}

const names = async (...given: Parameters<typeof driftOf>): Promise<unknown[]> =>
  (await driftOf(...given)).settings.map(({ name, declared, runs }) => [name, String(declared), String(runs)])

test('the values file and the pod template agree', async () => {
  const drift = await driftOf(
    'version: 526u03\nimage: {imageName: testops}\nenv:\n  open:\n    VENDOR_RABBIT_DURABLE: "true"\n    ' +
      'SERVER_PORT: 08080\n    A: 5.30\n    B: yes\n',
    [
      { name: 'VENDOR_RABBIT_DURABLE', value: 'true' },
      { name: 'SERVER_PORT', value: '8080' },
      { name: 'A', value: '5.3' },
      { name: 'B', value: 'true' },
      { name: 'OF_THE_CHART', value: 'x' },
    ],
  )
  expect([drift.settings, drift.shown]).toEqual([
    [],
    'kubectl --context test -n testops set env deployment/testops-testops --list',
  ])
  expect(drift.declaredIn).toMatch(/\/values\.yaml$/)
})

test.each<[string, string, readonly object[], readonly string[], unknown[]]>([
  [
    'a setting, and one that is not there',
    'env: {open: {TZ: UTC, OTHER: x}}\n',
    [{ name: 'TZ', value: 'Europe/Berlin' }],
    [],
    [
      ['TZ', 'UTC', 'Europe/Berlin'],
      ['OTHER', 'x', 'null'],
    ],
  ],
  [
    'of a secret only that it differs',
    'env: {open: {DB_PASSWORD: one}}\n',
    [{ name: 'DB_PASSWORD', value: 'two' }],
    [],
    [['DB_PASSWORD', '[secret]', '[secret]']],
  ],
  [
    'the image and its tag',
    'version: 527u01\nimage: {imageName: testops-legacy}\n',
    [],
    [],
    [
      ['image.imageName', 'testops-legacy', 'testops'],
      ['version', '527u01', '526u03'],
    ],
  ],
  [
    "the life of tokens, by the chart's own key",
    'bearerTokenExpirationAfter: 3600\n',
    [{ name: 'ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS', value: '57600' }],
    [],
    [['ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS', '3600', '57600']],
  ],
  [
    'below the key of an umbrella chart',
    'testops: {env: {open: {TZ: UTC}}}\nenv: {open: {TZ: other}}\n',
    [{ name: 'TZ', value: 'Asia/Tokyo' }],
    ['testops'],
    [['TZ', 'UTC', 'Asia/Tokyo']],
  ],
  ['not what a template fills in', "env: {open: {TZ: '{{ .Values.zone }}'}}\n", [{ name: 'TZ', value: 'UTC' }], [], []],
])('they differ: %s', async (_, values, entries, path, expected) => {
  expect(await names(values, entries, path)).toEqual(expected)
})

test('without a file, or with one that is not there or encrypted, that is the reason', async () => {
  expect(await errorOf(driftOf(null))).toBe(
    'NOT_CONFIGURED: no values file of the release is configured: set `kubernetes.values`',
  )
  expect(await errorOf(driftOf('sops: {mac: x}\n'))).toMatch(/^REFUSED: .*SOPS/)
})
