import { buffer } from 'node:stream/consumers'
import { beforeEach, describe, expect, test } from 'vitest'
import { AdminError } from '../../../../src/core/error.ts'
import { conflictsIn } from '../../../../src/platforms/kubernetes/helm/conflicts.ts'
import type { KubernetesClient } from '../../../../src/platforms/kubernetes/client.ts'
import { Cluster } from '../../../kubernetes/cluster.ts'
import { fieldRecording } from '../../../kubernetes/recordings.ts'
import type { Stored } from '../../../kubernetes/resources.ts'
import type { ApiServer } from '../../../kubernetes/server.ts'
import { clientFor, startCluster } from '../cluster.ts'

const release = { name: 'testops', namespace: 'testops' }
const place = { resource: 'deployments', namespace: 'testops', name: 'testops-testops' } as const
const name = 'ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS'
const field = `.spec.template.spec.containers[name="testops-testops"].env[name="${name}"].value`

let server: ApiServer
let client: KubernetesClient
beforeEach(async () => {
  const cluster = new Cluster()
  cluster.isFrozen = true
  const {
    kind: _kind,
    apiVersion: _apiVersion,
    ...deployment
  } = fieldRecording('managed-fields-after-helm-apply').response.body as Stored
  cluster.load('deployments', deployment)
  const started = await startCluster(cluster)
  server = started.server
  client = await clientFor(started.environment)
})

/** What the chart has of the Deployment. */
function manifested(value: string, spec: object = {}): string {
  const containers = [{ name: 'testops-testops', env: [{ name, value }] }]
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'testops-testops' },
    spec: { ...spec, template: { spec: { containers } } },
  })
}

async function set(manager: string, value = '3600'): Promise<void> {
  const containers = [{ name: 'testops-testops', env: [{ name, value }] }]
  await client.change(
    { ...place, query: { fieldManager: manager } },
    { verb: 'patch', kind: 'strategic', body: { spec: { template: { spec: { containers } } } } },
  )
}

async function scale(manager: string): Promise<void> {
  await client.change(
    { ...place, subresource: 'scale', query: { fieldManager: manager } },
    { verb: 'patch', kind: 'merge', body: { spec: { replicas: 3 } } },
  )
}

const asked = (): string[] => server.requests.filter((it) => !it.startsWith('GET '))
const shown = 'kubectl --context test -n testops get deployments/testops-testops -o yaml --show-managed-fields'
const object = 'deployments/testops-testops'

describe('fields that others own', () => {
  test.each([
    { what: 'nobody', write: async () => undefined, found: [] },
    {
      what: 'somebody by a patch',
      write: async () => set('kubectl-set'),
      found: [{ object, field, manager: 'kubectl-set', shown }],
    },
    {
      what: 'somebody with a name that has quotes',
      write: async () => set('a "b" using c'),
      found: [{ object, field, manager: expect.stringContaining('b') as string, shown }],
    },
    {
      what: 'somebody by scaling',
      write: async () => scale('hpa'),
      found: [{ object, field: '.spec.replicas', manager: 'hpa', shown }],
    },
    { what: 'this program, which gives them up before', write: async () => set('testops-admin'), found: [] },
    { what: 'this program by scaling', write: async () => scale('testops-admin'), found: [] },
    {
      what: 'one that only begins like this program',
      write: async () => set('testops-admin-2'),
      found: [{ object, field, manager: 'testops-admin-2', shown }],
    },
  ])('$what', async ({ write, found }) => {
    await write()
    const [before, seen] = [structuredClone(server.cluster.list('deployments')), server.requests.length]
    expect(await conflictsIn(client, release, manifested('57600', { replicas: 1 }))).toEqual(found)
    expect(server.cluster.list('deployments')).toEqual(before)
    expect(server.requests.slice(seen)).toEqual([
      'PATCH /apis/apps/v1/namespaces/testops/deployments/testops-testops' +
        '?fieldManager=helm&fieldValidation=Ignore&force=false&dryRun=All',
    ])
  })

  test("applied under this program's name, by whom is not known", async () => {
    await client.change(
      { ...place, query: { fieldManager: 'testops-admin', force: true } },
      { verb: 'patch', kind: 'apply', body: JSON.parse(manifested('3600')) as object },
    )
    expect(await conflictsIn(client, release, manifested('57600'))).toEqual([
      { object, field, manager: 'testops-admin', shown },
    ])
  })

  test('with the value that the chart has', async () => {
    await set('kubectl-set')
    expect(await conflictsIn(client, release, manifested('3600'))).toEqual([])
  })
})

describe('what a manifest holds', () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n'

  test.each([
    ['one after the other', `${secret}---\n# Source: b\n${secret.replace('a}', 'b}')}`, ['secrets/a', 'secrets/b']],
    [
      'with a remark behind the dashes',
      `--- # first\n${secret}--- # second\n${secret.replace('a}', 'b}')}`,
      ['secrets/a', 'secrets/b'],
    ],
    [
      'with the line ends of Windows',
      `---\r\n${secret.replaceAll('\n', '\r\n')}---\r\n${secret.replace('a}', 'b}')}`,
      ['secrets/a', 'secrets/b'],
    ],
    [
      'beside what is no object',
      `---\n---\n- 1\n---\nkind: [\n---\nnull\n---\nkind: Secret\n---\n${secret}`,
      ['secrets/a'],
    ],
    [
      'beside kinds of others',
      `apiVersion: example.org/v1\nkind: Deployment\nmetadata: {name: b}\n---\napiVersion: v1\nkind: ` +
        `Unknown\nmetadata: {name: c}\n---\n${secret}`,
      ['secrets/a'],
    ],
    [
      'beside a place that is none',
      `${secret.replace('{name: a}', '{name: b, namespace: 1}')}---\n${secret}`,
      ['secrets/a'],
    ],
    [
      'within a list',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: ['a', 'b']
          .map((it) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: it } }))
          .concat([null as never]),
      }),
      ['secrets/a', 'secrets/b'],
    ],
    [
      'with a namespace of its own',
      secret.replace('{name: a}', '{name: a, namespace: default}'),
      ['namespaces/default/secrets/a'],
    ],
  ])('%s', async (_, manifest, objects) => {
    expect(await conflictsIn(client, release, manifest)).toEqual([])
    expect(asked().map((it) => it.split('?')[0])).toEqual(
      objects.map((it) => expect.stringMatching(new RegExp(`/${it}$`)) as string),
    )
  })

  test('is sent as helm marks it', async () => {
    let sent = {}
    server.instead = (request, response) => {
      void buffer(request).then((body) => {
        sent = JSON.parse(body.toString()) as object
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      })
      return true
    }
    await conflictsIn(client, release, secret.replace('{name: a}', '{name: a, labels: {b: c}, annotations: null}'))
    expect(sent).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'a',
        namespace: 'testops',
        labels: { b: 'c', 'app.kubernetes.io/managed-by': 'Helm' },
        annotations: { 'meta.helm.sh/release-name': 'testops', 'meta.helm.sh/release-namespace': 'testops' },
      },
    })
  })
})

describe('a server that does not answer for an object', () => {
  test('which may not be changed leaves the others', async () => {
    await set('kubectl-set')
    server.cluster.forbidden.push({ verb: 'patch', resource: 'secrets' })
    const found = await conflictsIn(
      client,
      release,
      `apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\n${manifested('57600')}`,
    )
    expect(found.map((it) => it.object)).toEqual([object])
  })

  test.each([
    ['is passed over', new AdminError('UNREACHABLE', 'gone'), []],
    ['because of an interruption ends it', new AdminError('INTERRUPTED', 'interrupted'), null],
    ['because of a fault of our own ends it', new TypeError('fault'), null],
  ])('%s', async (_, error, found) => {
    const failing = { ...client, change: async () => Promise.reject(error) }
    const work = conflictsIn(failing, release, manifested('57600'))
    await (found === null ? expect(work).rejects.toBe(error) : expect(work).resolves.toEqual(found))
  })
})
