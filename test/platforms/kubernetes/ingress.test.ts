import { expect, onTestFinished, test } from 'vitest'
import type { ProxySettings } from '../../../src/core/sources.ts'
import { sizeIn, timeIn } from '../../../src/knowledge/proxy.ts'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { errorOf } from '../../runtime/error-of.ts'
import { startCluster } from './cluster.ts'

function put(cluster: Cluster, name: string, service: string, annotations: Record<string, string>): void {
  const backend = { service: { name: service, port: { number: 80 } } }
  cluster.load('ingresses', {
    metadata: { name, namespace: 'testops', annotations },
    spec: { rules: [{ http: { paths: [{ path: '/', backend }] } }] },
  })
}

async function proxiesOf(prepare: (cluster: Cluster) => void): Promise<readonly ProxySettings[]> {
  const { cluster, environment } = await startCluster()
  cluster.load('services', {
    metadata: { name: 'web', namespace: 'testops' },
    spec: { selector: { app: 'testops-testops' }, ports: [{ port: 80 }] },
  })
  prepare(cluster)
  const platform = await openKubernetes(
    { context: null, namespace: null, release: null },
    { timeoutMs: 5000, environment },
  )
  onTestFinished(async () => platform.close())
  return (await platform.service()).proxies()
}

const nginx = {
  'nginx.ingress.kubernetes.io/proxy-body-size': '1m',
  'nginx.ingress.kubernetes.io/proxy-read-timeout': '30',
}
const kubectl = 'kubectl --context test -n testops'

test('what the Ingress before the service lets through, and no other', async () => {
  expect(
    await proxiesOf((cluster) => {
      put(cluster, 'front', 'web', nginx)
      put(cluster, 'other', 'testops-rabbitmq', nginx)
      put(cluster, 'stale', 'gone', nginx)
    }),
  ).toEqual([
    {
      name: 'Ingress `front` in namespace `testops`',
      maxBodyBytes: 1_048_576,
      readTimeoutMs: 30_000,
      evidence: [
        `${kubectl} get ingress front -o yaml`,
        'nginx.ingress.kubernetes.io/proxy-body-size: 1m',
        'nginx.ingress.kubernetes.io/proxy-read-timeout: 30',
      ],
      change: {
        maxBody: `${kubectl} annotate --overwrite ingress front nginx.ingress.kubernetes.io/proxy-body-size=100m`,
        readTimeout: `${kubectl} annotate --overwrite ingress front nginx.ingress.kubernetes.io/proxy-read-timeout=300`,
      },
    },
  ])
})

test('one that says nothing, and none at all', async () => {
  expect(await proxiesOf((cluster) => put(cluster, 'front', 'web', {}))).toMatchObject([
    { maxBodyBytes: null, readTimeoutMs: null, change: { maxBody: null, readTimeout: null } },
  ])
  expect(await proxiesOf(() => undefined)).toEqual([])
})

test('without the right to list them', async () => {
  expect(await errorOf(proxiesOf((cluster) => void cluster.forbidden.push({ resource: 'ingresses' })))).toMatch(
    /^FORBIDDEN: user tester has no permission to list ingresses in namespace `testops`/,
  )
})

test('sizes and times as controllers read them', () => {
  expect(['8m', '0', '20M', '1024', '1g', 'unlimited', 'x'].map(sizeIn)).toEqual([
    8_388_608,
    Infinity,
    20_971_520,
    1024,
    1_073_741_824,
    Infinity,
    null,
  ])
  expect([timeIn('60', 1000), timeIn('60s', 1000), timeIn('5m', 1), timeIn('50', 1), timeIn('x', 1)]).toEqual([
    60_000,
    60_000,
    300_000,
    50,
    null,
  ])
})
