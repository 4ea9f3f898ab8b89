import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Cluster } from './cluster.ts'
import { fieldRecording } from './recordings.ts'
import type { Recording } from './recordings.ts'
import type { Stored } from './resources.ts'
import { startApiServer } from './server.ts'
import type { ApiServer } from './server.ts'

/** Exchanges of one way to write, in their order. */
interface Recorded {
  exchanges: readonly (Recording & { way?: string; note: string })[]
}

const fresh = fieldRecording('managed-fields-after-helm-apply').response.body as Stored
const givenUp = fieldRecording<Recorded>('managed-fields-given-up').exchanges
const deployment = '/apis/apps/v1/namespaces/testops/deployments/testops-testops'

let server: ApiServer
beforeEach(async () => {
  const cluster = new Cluster()
  cluster.isFrozen = true
  server = await startApiServer(cluster)
})
afterEach(async () => server.close())

type Answer = Recording['response']

async function ask({ method, path, contentType, body }: Recording['request']): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: 'Bearer test-token', ...(contentType && { 'content-type': contentType }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    body: await response.json(),
  }
}

function become(object: unknown): void {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = structuredClone(object) as Stored
  server.cluster.load('deployments', rest)
}

/** What differs from one run to the next, and what a controller notes meanwhile. */
function withoutChance(value: unknown, key = ''): unknown {
  if (['uid', 'creationTimestamp', 'time', 'resourceVersion', 'lastUpdateTime', 'lastTransitionTime'].includes(key))
    return typeof value
  if (Array.isArray(value)) return value.map((it) => withoutChance(it))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name]) => name !== 'deployment.kubernetes.io/revision')
  return Object.fromEntries(entries.map(([name, it]) => [name, withoutChance(it, name)]))
}

/** The part of an answer that was recorded in managed-fields-given-up.json. */
function trimmed({ status, body }: Answer): unknown {
  const {
    spec,
    status: _status,
    metadata,
    ...rest
  } = body as Stored & { spec?: { template: { spec: { containers: { name: string; env?: { name: string }[] }[] } } } }
  if (!spec) return withoutChance({ status, body })
  const entries = metadata.managedFields?.filter(({ subresource }) => subresource !== 'status')
  const [first] = spec.template.spec.containers
  const env = first?.env?.filter(({ name }) => !name.startsWith('SPRING_'))
  const shown = {
    ...rest,
    metadata: { ...metadata, ...(entries && { managedFields: entries }) },
    spec: { template: { spec: { containers: [{ name: first?.name, env }] } } },
  }
  return withoutChance({ status, body: JSON.parse(JSON.stringify(shown)) as unknown })
}

/** Which answers are of the same version as the one before: nothing was written between them. */
function unwritten(answers: readonly Answer[]): number[] {
  const all = answers.map(({ body }) => (body as Stored).metadata?.resourceVersion)
  return all.flatMap((it, index) => (it !== undefined && it === all[index - 1] ? [index] : []))
}

describe('one write', () => {
  const after = fieldRecording('env-set-by-json-patch').response.body as Stored
  const worlds: Readonly<Record<string, object>> = {
    'managed-fields-after-helm-apply': fresh,
    'env-set-by-json-patch': fresh,
    'apply-conflict': after,
    'apply-dry-run-conflict': after,
    'apply-forced': after,
    'undo-env-by-json-patch': withValue(fieldRecording('undo-env-by-json-patch').response.body as Stored, '3600'),
  }

  test.each(Object.keys(worlds))('%s is answered as it was', async (name) => {
    become(worlds[name])
    const { request, response } = fieldRecording(name)
    const answer = await ask(request)
    expect(asOf(answer)).toEqual(asOf(response))
  })

  /** Without what a controller did between the exchanges. */
  function asOf({ status, body }: Answer): unknown {
    const { status: _status, metadata, ...rest } = body as Stored
    const { generation: _generation, ...own } = metadata
    return withoutChance({ status, body: { ...rest, metadata: own } })
  }

  function withValue(object: Stored, value: string): object {
    const copy = structuredClone(object) as Stored & {
      spec: { template: { spec: { containers: { env: { value?: string }[] }[] } } }
    }
    copy.spec.template.spec.containers[0]!.env[8]!.value = value
    return copy
  }
})

describe('ways to give a field up', () => {
  const [set, remove] = [requestOf('a1', 0), requestOf('b1', 1)]
  const add = requestOf('e1', 0)
  /** What came before the first exchange that is on record. */
  const preludes: Readonly<Record<string, readonly Recording['request'][]>> = {
    b2: [set, remove],
    b3: [set],
    b7: [set],
    d2: [set],
    d4: [set],
    d5: [set],
    e2: [add, remove],
    f: [set],
  }
  // the first of b7 sets the value back, the others were made after d2
  const ways = [...new Set(givenUp.map(({ way }) => way!))].filter((way) => way !== 'd3')

  function requestOf(way: string, index: number): Recording['request'] {
    return givenUp.filter((it) => it.way === way)[index]!.request
  }

  test.each(ways)('%s is answered as it was', async (way) => {
    become(fresh)
    for (const request of preludes[way] ?? []) expect((await ask(request)).status).toBe(200)
    const exchanges = givenUp.filter((it) => it.way === way)
    const answers: Answer[] = []
    for (const { request } of exchanges) answers.push(await ask(current(request)))
    expect(answers.map(trimmed)).toEqual(exchanges.map(({ response }) => trimmed(response)))
    expect(unwritten(answers)).toEqual(expect.arrayContaining(unwritten(exchanges.map(({ response }) => response))))
  })

  test('d3, which names a version that is over, is refused as it was', async () => {
    become(fresh)
    const { request, response } = givenUp.find((it) => it.way === 'd3')!
    expect(trimmed(await ask(request))).toEqual(trimmed(response))
  })

  /** Of the version that is there, where it names the one that it was made for. */
  function current(request: Recording['request']): Recording['request'] {
    const body = structuredClone(request.body) as Partial<Stored> | undefined
    if (body?.metadata?.resourceVersion === undefined) return request
    const { resourceVersion, annotations } = server.cluster.get('deployments', 'testops', 'testops-testops').metadata
    body.metadata.resourceVersion = resourceVersion!
    if (body.metadata.annotations && annotations) body.metadata.annotations = annotations
    return { ...request, body }
  }
})

describe('managers that work out their patches themselves', () => {
  const own = (body: unknown): unknown => {
    const { status: _status, metadata, ...rest } = body as Stored
    if (!('spec' in rest)) return withoutChance(body)
    // those of one second are in the order of their names, which were others there
    const entries = metadata.managedFields
      ?.filter(({ subresource }) => subresource !== 'status')
      .sort((one, other) => (one.manager < other.manager ? -1 : 1))
    return withoutChance({ ...rest, metadata: { ...metadata, managedFields: entries } })
  }

  test.each([
    ['client-side-apply', 3],
    ['helm-client-side-upgrade', 3],
  ])('%s is answered as it was', async (name, count) => {
    for (const { request, response } of fieldRecording<Recorded>(name).exchanges.slice(0, count)) {
      const answer = await ask(request)
      expect([answer.status, own(answer.body)]).toEqual([response.status, own(response.body)])
    }
  })

  test('a release that moves to server-side apply meets our entry', async () => {
    const [, , , moved, refused] = fieldRecording<Recorded>('helm-client-side-upgrade')
      .exchanges as readonly Recording[] as [Recording, Recording, Recording, Recording, Recording]
    become({
      ...(moved.response.body as Stored),
      metadata: { ...(moved.response.body as Stored).metadata, resourceVersion: '7505' },
    })
    const answer = await ask(moved.request)
    expect([answer.status, own(answer.body)]).toEqual([200, own(moved.response.body)])
    expect(withoutChance((await ask(refused.request)).body)).toEqual(withoutChance(refused.response.body))
  })
})

/** Kubernetes documentation, "Server-Side Apply", and the sources of apimachinery where it says nothing. */
describe('as documented', () => {
  const name = 'TESTOPS_SHARED'
  const intent = (spec?: object): object => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'testops-testops', namespace: 'testops' },
    ...(spec && { spec }),
  })
  const env = (value: string): object =>
    intent({ template: { spec: { containers: [{ name: 'testops-testops', env: [{ name, value }] }] } } })
  const apply = async (manager: string, body: object, more = ''): Promise<Answer> =>
    ask({
      method: 'PATCH',
      path: `${deployment}?fieldManager=${manager}${more}`,
      contentType: 'application/apply-patch+yaml',
      body,
    })
  const scale = async (replicas: number, manager = 'testops-admin'): Promise<Answer> =>
    ask({
      method: 'PATCH',
      path: `${deployment}/scale?fieldManager=${manager}`,
      contentType: 'application/merge-patch+json',
      body: { spec: { replicas } },
    })
  const owners = (): string[] =>
    (server.cluster.deployments[0]!.metadata.managedFields ?? []).map(({ manager, operation, subresource }) =>
      [manager, operation, subresource].filter(Boolean).join(' '),
    )
  const valueOf = (): string | undefined =>
    server.cluster.deployments[0]!.spec.template.spec.containers[0]!.env?.find((it) => it.name === name)?.value
  const messageOf = ({ body }: Answer): string => (body as { message: string }).message

  beforeEach(() => become(fresh))

  test('two that apply the same value share it, and it goes when neither applies it any more', async () => {
    await apply('one', env('1'))
    expect((await apply('two', env('1'))).status).toBe(200)
    expect(owners()).toEqual(['helm Apply', 'one Apply', 'two Apply', 'kube-controller-manager Update status'])
    expect(messageOf(await apply('two', env('2')))).toMatch(/^Apply failed with 1 conflict: conflict with "one": /)
    await apply('one', intent())
    expect([valueOf(), owners().includes('one Apply')]).toEqual(['1', false])
    await apply('two', intent())
    expect(valueOf()).toBe(undefined)
  })

  test('forced, it takes the field from whoever has it', async () => {
    await apply('one', env('1'))
    expect((await apply('two', env('2'), '&force=true')).status).toBe(200)
    expect([valueOf(), messageOf(await apply('one', env('1')))]).toEqual([
      '2',
      expect.stringMatching(/conflict with "two": .*\[name="TESTOPS_SHARED"\]\.value$/),
    ])
  })

  test('several conflicts are told by their managers', async () => {
    await scale(3)
    await apply('one', env('1'))
    const refused = await apply(
      'two',
      intent({
        replicas: 2,
        template: { spec: { containers: [{ name: 'testops-testops', env: [{ name, value: '2' }] }] } },
      }),
    )
    expect(messageOf(refused)).toBe(
      [
        'Apply failed with 2 conflicts: conflicts with "one":',
        '- .spec.template.spec.containers[name="testops-testops"].env[name="TESTOPS_SHARED"].value',
        'conflicts with "testops-admin" with subresource "scale" using apps/v1:',
        '- .spec.replicas',
      ].join('\n'),
    )
  })

  test('replicas are owned by who scales, and by nobody at zero or where nobody did before', async () => {
    await scale(3)
    expect(owners()).toEqual(['helm Apply', 'kube-controller-manager Update status', 'testops-admin Update scale'])
    expect(messageOf(await apply('two', intent({ replicas: 2 })))).toBe(
      'Apply failed with 1 conflict: conflict with "testops-admin" with subresource "scale" using apps/v1: ' +
        '.spec.replicas',
    )
    expect((await apply('two', intent({ replicas: 3 }))).status).toBe(200)
    for (const replicas of [0, 3]) {
      await scale(replicas)
      expect(owners()).toEqual(['helm Apply', 'kube-controller-manager Update status'])
    }
  })

  test('what is applied on trial, or changed on trial, is not written', async () => {
    const before = structuredClone(server.cluster.deployments[0])
    expect((await apply('one', env('1'), '&dryRun=All')).status).toBe(200)
    expect(server.cluster.deployments[0]).toEqual(before)
  })

  test('with its last entry an object is not tracked any more until somebody applies', async () => {
    const { managedFields: [first] = [] } = server.cluster.deployments[0]!.metadata
    become({ ...fresh, metadata: { ...fresh.metadata, managedFields: [first] } })
    const remove = { method: 'PATCH', path: deployment, contentType: 'application/json-patch+json' }
    await ask({ ...remove, body: [{ op: 'remove', path: '/metadata/managedFields/0' }] })
    await ask({ ...remove, contentType: 'application/merge-patch+json', body: { spec: { replicas: 5 } } })
    expect(owners()).toEqual([])
    await apply('one', env('1'))
    expect(owners()).toEqual(['one Apply', 'before-first-apply Update'])
  })

  test('without the name of a manager the program is it that asks, and an apply is refused', async () => {
    await ask({
      method: 'PATCH',
      path: deployment,
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels: { a: 'b' } } },
    })
    expect(owners()).toContain('node Update')
    const { status } = await ask({
      method: 'PATCH',
      path: deployment,
      contentType: 'application/apply-patch+yaml',
      body: env('1'),
    })
    expect(status).toBe(400)
  })
})
