import { describe, expect, it } from 'vitest'
import { machinesFor } from '../../../src/platforms/kubernetes/machines.ts'
import type { PodSpec } from '../../../src/platforms/kubernetes/objects.ts'
import { judgeMachine } from '../../../src/domain/processors.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import type { Stored } from '../../kubernetes/resources.ts'
import { clientFor, startCluster, told } from './cluster.ts'

interface NodeParts {
  labels?: Record<string, string>
  spec?: object
  architecture?: string
}

const node = (name: string, { labels = {}, spec = {}, architecture = 'amd64' }: NodeParts = {}): Stored => ({
  metadata: { name, labels },
  spec,
  status: { nodeInfo: { architecture } },
})
const plain: PodSpec = { containers: [] }
const taint = (key: string, effect = 'NoSchedule', value?: string): object => ({
  taints: [{ key, effect, ...(value && { value }) }],
})
const affinity = (...matchExpressions: { key: string; operator: string; values?: string[] }[]): Partial<PodSpec> => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
  },
})

async function machines(
  nodes: readonly Stored[],
  spec: PodSpec,
  used: string[] = [],
  prepare: (world: Cluster) => void = () => undefined,
) {
  const { cluster, environment } = await startCluster()
  for (const it of cluster.list('nodes')) cluster.remove('nodes', it)
  for (const it of nodes) cluster.load('nodes', it)
  prepare(cluster)
  return machinesFor(
    await clientFor(environment),
    spec,
    used.map((nodeName) => ({ metadata: { name: 'p' }, spec: { containers: [], nodeName } })),
  )
}

describe('the nodes that pods could be scheduled to', () => {
  it.each<[string, NodeParts, Partial<PodSpec>, boolean]>([
    ['any', {}, {}, true],
    ['cordoned', { spec: { unschedulable: true } }, {}, false],
    ['with Windows', { labels: { 'kubernetes.io/os': 'windows' } }, {}, false],
    ['with a selected label', { labels: { disk: 'ssd' } }, { nodeSelector: { disk: 'ssd' } }, true],
    ['without a selected label', { labels: { disk: 'hdd' } }, { nodeSelector: { disk: 'ssd' } }, false],
    ['tainted', { spec: taint('gpu') }, {}, false],
    ['tainted a little', { spec: taint('gpu', 'PreferNoSchedule') }, {}, true],
    [
      'tainted, which is tolerated',
      { spec: taint('gpu', 'NoExecute', 'yes') },
      { tolerations: [{ key: 'gpu', value: 'yes' }] },
      true,
    ],
    [
      'tainted otherwise than is tolerated',
      { spec: taint('gpu', 'NoExecute', 'yes') },
      {
        tolerations: [
          { key: 'gpu', value: 'no' },
          { key: 'gpu', operator: 'Exists', effect: 'NoSchedule' },
        ],
      },
      false,
    ],
    ['tainted, where everything is tolerated', { spec: taint('gpu') }, { tolerations: [{ operator: 'Exists' }] }, true],
    [
      'with affinity',
      { labels: { zone: 'a' } },
      affinity({ key: 'zone', operator: 'In', values: ['a', 'b'] }, { key: 'arm', operator: 'DoesNotExist' }),
      true,
    ],
    [
      'without affinity',
      { labels: { zone: 'c', cores: '4' } },
      affinity({ key: 'cores', operator: 'Gt', values: ['8'] }),
      false,
    ],
    [
      'kept away by affinity',
      { labels: { zone: 'a' } },
      affinity({ key: 'zone', operator: 'NotIn', values: ['a'] }),
      false,
    ],
  ])('%s', async (_, parts, spec, expected) => {
    const found = await machines([node('one', parts)], { ...plain, ...spec })
    expect(found.map(({ name }) => name)).toEqual(expected ? ['one'] : [])
  })

  it('and those on which they run, whatever they are', async () => {
    expect(
      (await machines([node('one', { spec: { unschedulable: true } }), node('two')], plain, ['one'])).map(
        ({ name }) => name,
      ),
    ).toEqual(['one', 'two'])
  })

  it('may not be listed', async () => {
    expect(await told(machines([], plain, [], (world) => void world.forbidden.push({ resource: 'nodes' })))).toEqual({
      code: 'FORBIDDEN',
      message: 'user tester has no permission to list nodes of the cluster of context `test`',
      suggestions: ['kubectl --context test auth can-i list nodes'],
    })
  })
})

describe('what labels say of a processor', () => {
  const cpuid = (...names: string[]): Record<string, string> =>
    Object.fromEntries(names.map((name) => [`feature.node.kubernetes.io/cpu-cpuid.${name}`, 'true']))

  it.each<[string, NodeParts, object]>([
    ['nothing', {}, { hasV3: null, level: 'unknown', missing: [], by: null }],
    [
      'no AVX2: that disproves it',
      { labels: cpuid('AVX', 'MOVBE', 'ADX') },
      {
        hasV3: false,
        level: 'below x86-64-v3',
        missing: ['avx2', 'fma'],
        by: 'labels feature.node.kubernetes.io/cpu-cpuid.*',
      },
    ],
    [
      'all that can be labelled: that proves nothing',
      { labels: cpuid('AVX', 'AVX2', 'FMA3', 'MOVBE') },
      { hasV3: null, level: 'unknown', missing: [], by: 'labels feature.node.kubernetes.io/cpu-cpuid.*' },
    ],
    [
      'another architecture',
      { architecture: 'arm64', labels: cpuid('SVE') },
      { hasV3: null, level: 'aarch64', missing: [], by: null },
    ],
  ])('%s', async (_, parts, expected) => {
    const [machine] = await machines([node('one', parts)], plain)
    expect(machine && judgeMachine(machine)).toMatchObject({ name: 'one', ...expected })
  })
})
