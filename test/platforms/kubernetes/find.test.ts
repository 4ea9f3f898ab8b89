import { describe, expect, it } from 'vitest'
import { findService } from '../../../src/platforms/kubernetes/find.ts'
import { recordedCluster } from '../../kubernetes/cluster.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import type { Workload } from '../../kubernetes/resources.ts'
import { clientFor, startCluster, told } from './cluster.ts'

const anywhere = { namespace: null, release: null }
const cluster = 'the cluster of context `test`'
const everything = 'kubectl --context test get deployments,statefulsets --all-namespaces -o wide'
const choose = 'set `kubernetes.namespace`, or `kubernetes.context` for another cluster'
const workload = 'if the image was renamed, set `kubernetes.workload` to the name of the Deployment or StatefulSet'
const contexts = 'kubectl config get-contexts'

/** A copy of the recorded deployment under another name, changed. */
function another(
  world: Cluster,
  name: string,
  change: (workload: Workload) => void = () => undefined,
  plural = 'deployments',
): void {
  const [recorded] = recordedCluster().deployments
  if (!recorded) throw new Error('nothing is recorded')
  recorded.metadata = { ...recorded.metadata, name, uid: `uid-of-${name}`, annotations: {}, labels: {} }
  change(recorded)
  world.load(plural, recorded)
}

const image =
  (name: string) =>
  (workload: Workload): void =>
    workload.spec.template.spec.containers.forEach((it) => void (it.image = name))
const gone = (world: Cluster): void =>
  world.remove('deployments', { metadata: { name: 'testops-testops', namespace: 'testops' } })

async function found(
  prepare: (world: Cluster) => void,
  settings: { namespace: string | null; release: string | null; workload?: string } = anywhere,
): Promise<unknown> {
  const { cluster: world, environment } = await startCluster()
  prepare(world)
  const { resource, namespace, name, container, why } = await findService(await clientFor(environment), settings)
  return { resource, namespace, name, container: container.name, why }
}

async function refused(
  prepare: (world: Cluster) => void,
  settings: { namespace: string | null; release: string | null; workload?: string } = anywhere,
): Promise<unknown> {
  const { cluster: world, environment } = await startCluster()
  prepare(world)
  return told(findService(await clientFor(environment), settings))
}

describe('what runs the service is found by its image', () => {
  const usual = { resource: 'deployments', namespace: 'testops', name: 'testops-testops', container: 'testops-testops' }

  it.each<[string, (world: Cluster) => void, string, Partial<typeof usual>]>([
    ['as the chart makes it', () => undefined, 'registry.example.org/testops/testops:526u03', {}],
    [
      'at zero replicas',
      (world) => world.deployments.forEach((it) => void (it.spec.replicas = 0)),
      'registry.example.org/testops/testops:526u03',
      {},
    ],
    [
      'the legacy image, by digest, from a registry with a port',
      (world) => world.deployments.forEach(image('reg:5000/a/b/testops-legacy@sha256:12')),
      'reg:5000/a/b/testops-legacy@sha256:12',
      {},
    ],
    [
      'among several containers of a pod',
      (world) =>
        world.deployments.forEach(({ spec: { template } }) =>
          template.spec.containers.unshift({ name: 'proxy', image: 'envoy:1' }),
        ),
      'registry.example.org/testops/testops:526u03',
      {},
    ],
    [
      'not where it is an init container, or a part of another name',
      (world) => {
        another(world, 'migrator', ({ spec: { template } }) => {
          template.spec.initContainers = template.spec.containers
          template.spec.containers = [{ name: 'main', image: 'sleep:1' }]
        })
        another(world, 'testops', image('testops/testops-exporter:1'))
        another(world, 'testops-2', image('testops:5000/other:1'))
      },
      'registry.example.org/testops/testops:526u03',
      {},
    ],
    [
      'in a StatefulSet under any name and without labels',
      (world) => {
        gone(world)
        another(world, 'it', image('testops'), 'statefulsets')
      },
      'testops',
      { resource: 'statefulsets', name: 'it' },
    ],
  ])('%s', async (_, prepare, ofImage, differs) => {
    const expected = { ...usual, ...differs }
    const kind = expected.resource === 'deployments' ? 'Deployment' : 'StatefulSet'
    expect(await found(prepare)).toEqual({
      ...expected,
      why:
        `${kind} \`${expected.name}\` in namespace \`testops\` of ${cluster} runs image ${ofImage} and is the only ` +
        `match in the context's namespace \`testops\``,
    })
  })

  it('in another namespace, where there is none in the own one', async () => {
    const move = (world: Cluster): void => {
      gone(world)
      another(world, 'testops-testops', ({ metadata }) => void (metadata.namespace = 'quality'))
    }
    expect(await found(move)).toMatchObject({
      namespace: 'quality',
      why:
        `Deployment \`testops-testops\` in namespace \`quality\` of ${cluster} runs image ` +
        "registry.example.org/testops/testops:526u03 and is the only match in all namespaces (the context's " +
        'namespace `testops` has no match)',
    })
    expect(await refused(move, { namespace: 'testops', release: null })).toEqual({
      code: 'UNAVAILABLE',
      message:
        `${cluster} has no Deployment or StatefulSet with an image named \`testops\` or \`testops-legacy\` in ` +
        `namespace \`testops\``,
      suggestions: [choose, workload, everything, contexts],
    })
  })

  it('with the right to see Deployments alone', async () => {
    expect(await found((world) => void world.forbidden.push({ resource: 'statefulsets' }))).toMatchObject({
      name: 'testops-testops',
    })
  })
})

describe('several', () => {
  const two = (world: Cluster): void =>
    another(
      world,
      'blue-testops',
      ({ metadata }) => void (metadata.annotations = { 'meta.helm.sh/release-name': 'blue' }),
    )

  it('are named, with what to write into the configuration', async () => {
    expect(await refused(two)).toEqual({
      code: 'CONFIGURATION',
      message:
        `the service was found 2 times in ${cluster}, in the context's namespace \`testops\`: Deployment ` +
        `\`blue-testops\` in namespace \`testops\` and Deployment \`testops-testops\` in namespace \`testops\`. ` +
        'Set the right one in the configuration',
      suggestions: [
        'kubernetes: {namespace: testops, release: blue}   # blue-testops, image ' +
          'registry.example.org/testops/testops:526u03',
        'kubernetes: {namespace: testops, release: testops}   # testops-testops, image ' +
          'registry.example.org/testops/testops:526u03',
      ],
    })
  })

  it.each([
    ['blue', 'blue-testops'],
    ['testops', 'testops-testops'],
  ])('are told apart by the release %s', async (release, name) => {
    expect(await found(two, { namespace: null, release })).toMatchObject({ name })
  })

  it('of no release are told apart by their own names', async () => {
    const plain = (world: Cluster): void => {
      gone(world)
      another(world, 'one')
      another(world, 'two')
    }
    expect(await refused(plain)).toMatchObject({
      suggestions: [
        'kubernetes: {namespace: testops, release: one}   # one, image registry.example.org/testops/testops:526u03',
        'kubernetes: {namespace: testops, release: two}   # two, image registry.example.org/testops/testops:526u03',
      ],
    })
    expect(await found(plain, { namespace: 'testops', release: 'two' })).toMatchObject({ name: 'two' })
  })
})

describe('where there is none', () => {
  it('it is said what was looked at', async () => {
    expect(await refused(gone)).toEqual({
      code: 'UNAVAILABLE',
      message:
        `${cluster} has no Deployment or StatefulSet with an image named \`testops\` or \`testops-legacy\` in ` +
        'any namespace',
      suggestions: [choose, workload, everything, contexts],
    })
  })

  it('and only one namespace may be seen, that is said', async () => {
    const alone = (world: Cluster): void => {
      gone(world)
      world.forbidden.push({ verb: 'list', namespace: null })
    }
    expect(await refused(alone)).toEqual({
      code: 'UNAVAILABLE',
      message:
        `${cluster} has no Deployment or StatefulSet with an image named \`testops\` or \`testops-legacy\` in ` +
        `namespace \`testops\`. Other namespaces were not searched: user tester has no permission to list ` +
        `deployments in all namespaces of ${cluster}`,
      suggestions: [
        choose,
        workload,
        everything,
        'kubectl --context test auth can-i list deployments.apps --all-namespaces',
        contexts,
      ],
    })
  })

  it.each([
    ['does not answer', 'statefulsets', 'UNEXPECTED_ANSWER', /^http:\/\/SERVER answers with `no leader` \(HTTP 503\)/],
    [
      'does not answer for deployments',
      'deployments',
      'UNEXPECTED_ANSWER',
      /^http:\/\/SERVER answers with `no leader` \(HTTP 503\)/,
    ],
  ])('and the server %s, nothing is taken for the only one', async (_, resource, code, message) => {
    const { cluster: world, server, environment } = await startCluster()
    another(world, 'it', image('testops'), resource === 'deployments' ? 'statefulsets' : 'deployments')
    server.instead = ({ url = '' }, response) => {
      if (!url.includes(`/${resource}`)) return false
      response.writeHead(503, { 'content-type': 'text/plain' }).end('no leader')
      return true
    }
    expect(await told(findService(await clientFor(environment), anywhere))).toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    })
  })

  it('and other namespaces cannot be asked, that is said', async () => {
    const { cluster: world, server, environment } = await startCluster()
    gone(world)
    server.instead = ({ url = '' }, response) => {
      if (url.includes('/namespaces/')) return false
      response.writeHead(503, { 'content-type': 'text/plain' }).end('no leader')
      return true
    }
    expect(await told(findService(await clientFor(environment), anywhere))).toMatchObject({
      code: 'UNEXPECTED_ANSWER',
      message: expect.stringMatching(
        / in namespace `testops`\. Other namespaces were not searched: http:\/\/SERVER answers /,
      ) as string,
    })
  })

  it('of a release, those that are there are named', async () => {
    expect(await refused(() => undefined, { namespace: 'testops', release: 'green' })).toEqual({
      code: 'UNAVAILABLE',
      message:
        `${cluster} has no Deployment or StatefulSet of release \`green\` with an image named \`testops\` or ` +
        `\`testops-legacy\` in namespace \`testops\`. Found instead: Deployment \`testops-testops\` in namespace ` +
        `\`testops\``,
      suggestions: [choose, everything, contexts],
    })
  })

  it('and nothing at all may be seen, the right is named', async () => {
    expect(
      await refused((world) => void world.forbidden.push({ verb: 'list' }), { namespace: 'testops', release: null }),
    ).toEqual({
      code: 'FORBIDDEN',
      message: `user tester has no permission to list deployments in namespace \`testops\` of ${cluster}`,
      suggestions: ['kubectl --context test auth can-i list deployments.apps -n testops'],
    })
  })
})

describe('an image of a private name', () => {
  const usual = { resource: 'deployments', namespace: 'testops', name: 'testops-testops', container: 'testops-testops' }
  const renamed = image('harbor.example.org/tools/qa-platform:526')
  const labelled = (world: Cluster): void =>
    world.deployments.forEach((it) => {
      renamed(it)
      it.metadata.labels = { ...it.metadata.labels, chart: 'testops-5.27.2' }
    })

  it('is found by the label of the chart', async () => {
    expect(await found(labelled)).toMatchObject(usual)
  })
  it('is not, where another workload has an image of the service', async () => {
    expect(
      await found((world) => {
        labelled(world)
        another(world, 'second')
      }),
    ).toMatchObject({ ...usual, name: 'second' })
  })
  it('is no reason to take another chart for ours', async () => {
    expect(
      JSON.stringify(
        await refused((world) =>
          world.deployments.forEach((it) => {
            renamed(it)
            it.metadata.labels = { ...it.metadata.labels, chart: 'rabbitmq-12.14.0' }
          }),
        ),
      ),
    ).toContain('UNAVAILABLE')
  })
  it('is found by the name of its workload', async () => {
    const own = (world: Cluster): void => {
      gone(world)
      another(world, 'qa', (it) => {
        renamed(it)
        it.spec.template.spec.containers.forEach((container) => void (container.name = 'main'))
      })
    }
    expect(await found(own, { ...anywhere, workload: 'qa' })).toMatchObject({ ...usual, name: 'qa', container: 'main' })
    expect(JSON.stringify(await refused(own, { ...anywhere, workload: 'other' }))).toContain('named `other`')
    expect(
      JSON.stringify(
        await refused(
          (world) => {
            own(world)
            world.deployments.forEach(
              (it) => void it.spec.template.spec.containers.unshift({ name: 'proxy', image: 'envoy:1' }),
            )
          },
          { ...anywhere, workload: 'qa' },
        ),
      ),
    ).toContain('Cannot tell which one is the service')
  })
})
