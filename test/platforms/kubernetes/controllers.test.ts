import { expect, test } from 'vitest'
import { controllersOf } from '../../../src/platforms/kubernetes/controllers.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import type { Metadata, Resource } from '../../kubernetes/resources.ts'
import { clientFor, startCluster } from './cluster.ts'

const workload = { resource: 'deployments', namespace: 'testops', name: 'testops-testops' } as const
const kubectl = 'kubectl --context test -n'

function kept(cluster: Cluster, plural: string, kind: string, group: string, version = 'v1'): void {
  const resource: Resource = { plural, kind, group, version, isNamespaced: true }
  cluster.resources.push(resource)
}

function mark(cluster: Cluster, of: Partial<Metadata>): void {
  const found = cluster.get('deployments', 'testops', 'testops-testops')
  cluster.update('deployments', found, ({ metadata }) => Object.assign(metadata, of))
}

interface Case {
  what: string
  with: (cluster: Cluster) => void
  found: readonly { name: string; paused: boolean | null; pause: readonly string[] }[]
}

const stopArgo = (namespace: string): string[] => [
  `${kubectl} ${namespace} patch applications.argoproj.io shop --type merge -p ` +
    `'{"spec":{"syncPolicy":{"automated":null}}}'`,
]
const argo =
  (syncPolicy: unknown) =>
  (cluster: Cluster): void => {
    kept(cluster, 'applications', 'Application', 'argoproj.io', 'v1alpha1')
    cluster.load('applications', { metadata: { name: 'shop', namespace: 'gitops' }, spec: { syncPolicy } })
    mark(cluster, { annotations: { 'argocd.argoproj.io/tracking-id': 'shop:apps/Deployment:testops/testops-testops' } })
  }
const keda =
  (annotations: Record<string, string>) =>
  (cluster: Cluster): void => {
    kept(cluster, 'scaledobjects', 'ScaledObject', 'keda.sh', 'v1alpha1')
    cluster.load('scaledobjects', {
      metadata: { name: 'other', namespace: 'testops' },
      spec: { scaleTargetRef: { name: 'other' } },
    })
    cluster.load('scaledobjects', {
      metadata: { name: 'by-queue', namespace: 'testops', annotations },
      spec: { scaleTargetRef: { name: 'testops-testops' } },
    })
    cluster.load('horizontalpodautoscalers', {
      metadata: {
        name: 'keda-hpa-by-queue',
        namespace: 'testops',
        ownerReferences: [{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'by-queue', uid: 'u' }],
      },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'testops-testops' }, minReplicas: 1 },
    })
  }
const pauseKeda = [`${kubectl} testops annotate scaledobjects.keda.sh by-queue autoscaling.keda.sh/paused=true`]
const flux =
  (suspend: boolean | undefined) =>
  (cluster: Cluster): void => {
    kept(cluster, 'helmreleases', 'HelmRelease', 'helm.toolkit.fluxcd.io', 'v2')
    cluster.load('helmreleases', { metadata: { name: 'testops', namespace: 'flux' }, spec: { suspend } })
    mark(cluster, { labels: { 'helm.toolkit.fluxcd.io/name': 'testops', 'helm.toolkit.fluxcd.io/namespace': 'flux' } })
  }
const suspendFlux = [
  `${kubectl} flux patch helmreleases.helm.toolkit.fluxcd.io testops --type merge -p '{"spec":{"suspend":true}}'`,
]
const autoscaled =
  (minReplicas?: number) =>
  (cluster: Cluster): void =>
    cluster.load('horizontalpodautoscalers', {
      metadata: { name: 'testops', namespace: 'testops' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'testops-testops' },
        ...(minReplicas !== undefined && { minReplicas }),
      },
    })
const bound = [`${kubectl} testops patch horizontalpodautoscalers testops --type merge -p '{"spec":{"minReplicas":1}}'`]

test.each<Case>([
  { what: 'nothing', with: () => undefined, found: [] },
  {
    what: 'Argo CD',
    with: argo({ automated: { selfHeal: true } }),
    found: [{ name: 'Argo CD (Application `shop`)', paused: false, pause: stopArgo('gitops') }],
  },
  {
    what: 'Argo CD that is synchronised by hand',
    with: argo(undefined),
    found: [{ name: 'Argo CD (Application `shop`)', paused: true, pause: stopArgo('gitops') }],
  },
  {
    what: 'Argo CD whose automation is off',
    with: argo({ automated: { enabled: false } }),
    found: [{ name: 'Argo CD (Application `shop`)', paused: true, pause: stopArgo('gitops') }],
  },
  {
    what: 'Argo CD by its label, which cannot be seen',
    with: (cluster) => mark(cluster, { labels: { 'argocd.argoproj.io/instance': 'shop' } }),
    found: [{ name: 'Argo CD (Application `shop`)', paused: null, pause: stopArgo('argocd') }],
  },
  {
    what: 'Argo CD without the right to see it',
    with: (cluster) => {
      argo(undefined)(cluster)
      cluster.forbidden.push({ resource: 'applications' })
    },
    found: [{ name: 'Argo CD (Application `shop`)', paused: null, pause: stopArgo('argocd') }],
  },
  {
    what: 'Flux',
    with: flux(undefined),
    found: [{ name: 'Flux (HelmRelease `testops` in namespace `flux`)', paused: false, pause: suspendFlux }],
  },
  {
    what: 'Flux that is suspended',
    with: flux(true),
    found: [{ name: 'Flux (HelmRelease `testops` in namespace `flux`)', paused: true, pause: suspendFlux }],
  },
  {
    what: 'Flux, by a Kustomization that cannot be seen',
    with: (cluster) => mark(cluster, { labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' } }),
    found: [
      {
        name: 'Flux (Kustomization `apps` in namespace `testops`)',
        paused: null,
        pause: [
          `${kubectl} testops patch kustomizations.kustomize.toolkit.fluxcd.io apps --type merge -p ` +
            `'{"spec":{"suspend":true}}'`,
        ],
      },
    ],
  },
  {
    what: 'KEDA',
    with: keda({}),
    found: [{ name: 'KEDA (ScaledObject `by-queue`)', paused: false, pause: pauseKeda }],
  },
  {
    what: 'KEDA that is paused',
    with: keda({ 'autoscaling.keda.sh/paused': 'true' }),
    found: [{ name: 'KEDA (ScaledObject `by-queue`)', paused: true, pause: pauseKeda }],
  },
  {
    what: 'KEDA that is paused at zero',
    with: keda({ 'autoscaling.keda.sh/paused-replicas': '0' }),
    found: [{ name: 'KEDA (ScaledObject `by-queue`)', paused: true, pause: pauseKeda }],
  },
  {
    what: 'KEDA that is paused at two',
    with: keda({ 'autoscaling.keda.sh/paused-replicas': '2' }),
    found: [{ name: 'KEDA (ScaledObject `by-queue`)', paused: false, pause: pauseKeda }],
  },
  {
    what: 'KEDA without the right to see it, by its autoscaler',
    with: (cluster) => {
      keda({ 'autoscaling.keda.sh/paused': 'true' })(cluster)
      cluster.forbidden.push({ resource: 'scaledobjects' })
    },
    found: [{ name: 'KEDA (ScaledObject `by-queue`)', paused: null, pause: pauseKeda }],
  },
  {
    what: 'an autoscaler, which leaves zero alone',
    with: autoscaled(2),
    found: [{ name: 'the autoscaler `testops`', paused: true, pause: bound }],
  },
  {
    what: 'an autoscaler that may scale to zero itself',
    with: autoscaled(0),
    found: [{ name: 'the autoscaler `testops`', paused: false, pause: bound }],
  },
  {
    what: 'an operator',
    with: (cluster) => {
      kept(cluster, 'testopses', 'TestOps', 'vendor.example.org')
      cluster.load('testopses', { metadata: { name: 'prod', namespace: 'testops' } })
      mark(cluster, {
        ownerReferences: [
          { apiVersion: 'vendor.example.org/v1', kind: 'TestOps', name: 'prod', uid: 'u', controller: true },
        ],
      })
    },
    found: [
      {
        name: 'the operator of TestOps `prod`',
        paused: null,
        pause: [
          `${kubectl} testops get TestOps.v1.vendor.example.org prod -o yaml   # shows the object. To pause ` +
            "its operator, see the operator's documentation",
        ],
      },
    ],
  },
  {
    what: 'an autoscaler that may not be seen, nor what would show it',
    with: (cluster) => {
      kept(cluster, 'scaledobjects', 'ScaledObject', 'keda.sh', 'v1alpha1')
      cluster.forbidden.push({ resource: 'horizontalpodautoscalers' }, { resource: 'scaledobjects' })
    },
    found: [
      {
        name: 'an autoscaler (this user has no permission to list autoscalers)',
        paused: null,
        pause: ['scaledobjects.keda.sh', 'horizontalpodautoscalers.autoscaling'].map(
          (it) => `kubectl --context test auth can-i list ${it} -n testops`,
        ),
      },
    ],
  },
  {
    what: 'nothing that can be seen',
    with: (cluster) => void cluster.forbidden.push({ resource: 'horizontalpodautoscalers' }),
    found: [],
  },
])('$what', async ({ with: change, found }) => {
  const { cluster, environment } = await startCluster()
  change(cluster)
  expect(await controllersOf(await clientFor(environment), workload)).toEqual(found)
})
