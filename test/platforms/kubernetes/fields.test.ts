import { isDeepStrictEqual } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceControl, SettingChange } from '../../../src/core/controls.ts'
import { openClient } from '../../../src/platforms/kubernetes/client.ts'
import type { KubernetesClient } from '../../../src/platforms/kubernetes/client.ts'
import { clusterControl } from '../../../src/platforms/kubernetes/index.ts'
import { failureOf } from '../../adapters/failure-of.ts'
import { Cluster } from '../../kubernetes/cluster.ts'
import { kubeconfigFor } from '../../kubernetes/passing-kubeconfig.ts'
import { fieldRecording } from '../../kubernetes/recordings.ts'
import type { ManagedEntry } from '../../kubernetes/managers.ts'
import type { Stored, Workload } from '../../kubernetes/resources.ts'
import { startApiServer } from '../../kubernetes/server.ts'
import type { ApiServer } from '../../kubernetes/server.ts'

const place = { resource: 'deployments', namespace: 'testops', name: 'testops-testops' } as const
const name = 'ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS'
const timeoutMs = 5000

let server: ApiServer
let client: KubernetesClient
let control: ServiceControl
/** all states of the Deployment, as they were stored */
let states: Workload[]

beforeEach(async () => {
  const cluster = new Cluster()
  cluster.timing = { startMs: 0, readyMs: 0, stopMs: 0 }
  cluster.load('nodes', { metadata: { name: 'node-1' }, spec: {}, status: {} })
  const {
    kind: _kind,
    apiVersion: _apiVersion,
    ...fresh
  } = fieldRecording('managed-fields-after-helm-apply').response.body as Stored
  cluster.load('deployments', fresh)
  server = await startApiServer(cluster)
  client = await openClient(
    { context: null },
    { timeoutMs: 2000, environment: { KUBECONFIG: await kubeconfigFor(server.url) } },
  )
  control = clusterControl(client, { place, container: 'testops-testops', status, forget: () => undefined })
  states = []
  cluster.changes.on('change', ({ resource, object }: { resource: string; object: Stored }) => {
    if (resource === 'deployments') states.push(structuredClone(object) as Workload)
  })
})
afterEach(async () => {
  client.close()
  await server.close()
})

async function status(): ReturnType<Parameters<typeof clusterControl>[1]['status']> {
  const pods = server.cluster.pods.map(({ metadata }) => metadata.name)
  return { state: pods.length === 0 ? 'stopped' : 'running', detail: `${pods.length} pods`, instances: [] }
}

function deployment(): Workload {
  return server.cluster.get('deployments', 'testops', 'testops-testops') as Workload
}

function owners(): string[] {
  return (deployment().metadata.managedFields ?? []).map(({ manager, operation, subresource }) =>
    [manager, operation, subresource].filter(Boolean).join(' '),
  )
}

function own(object: Workload): ManagedEntry[] {
  return (object.metadata.managedFields ?? []).filter(({ manager }) => manager === 'testops-admin')
}

/** Puts an entry there as a process leaves it that is killed between its write and what follows. */
function leave(...entries: readonly Partial<ManagedEntry>[]): void {
  const entry = {
    manager: 'testops-admin',
    operation: 'Update',
    apiVersion: 'apps/v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
  } as const
  server.cluster.update(
    'deployments',
    deployment(),
    ({ metadata }) =>
      void (metadata.managedFields = [
        ...(metadata.managedFields ?? []),
        ...entries.map((it) => ({ ...entry, ...it })),
      ]),
  )
}

/** All but what tells the owners and the version. */
function withoutOwners({
  metadata: { managedFields: _fields, resourceVersion: _version, ...metadata },
  ...rest
}: Workload): object {
  return { ...rest, metadata }
}

const patches = (): string[] => server.requests.filter((it) => it.startsWith('PATCH'))
const ofOthers = ['helm Apply', 'kube-controller-manager Update status']
const change = { name, from: '57600', to: '3600' }
const writes: readonly { what: string; ownsNothing?: true; write: () => Promise<unknown> }[] = [
  { what: 'a setting that is changed', write: async () => control.writeSetting(change) },
  {
    what: 'a setting that is added',
    write: async () => control.writeSetting({ name: 'TESTOPS_NEW', from: null, to: 'one' }),
  },
  {
    what: 'a setting that is taken away',
    ownsNothing: true,
    write: async () => control.writeSetting({ ...change, to: null }),
  },
  { what: 'the service that is stopped', write: async () => control.stop({ timeoutMs }) },
  {
    what: 'the service that is started',
    write: async () => {
      await control.stop({ timeoutMs })
      await control.start({ timeoutMs })
    },
  },
]

describe("nothing is left this program's of", () => {
  test.each(writes)('$what', async ({ write, ownsNothing }) => {
    server.cluster.settle()
    await write()
    expect(owners()).toEqual(ofOthers)
    expect(await control.ownsFields!()).toBe(false)
    // giving it up changes nothing else
    const given = states.flatMap((state, index) =>
      own(state).length === 0 && own(states[index - 1] ?? state).length > 0
        ? [[states[index - 1]!, state] as const]
        : [],
    )
    expect(given.length > 0).toBe(ownsNothing !== true)
    for (const [before, after] of given) expect(withoutOwners(after)).toEqual(withoutOwners(before))
  })

  test("the owner's next apply, which puts its own value back", async () => {
    await control.writeSetting(change)
    const { request } = fieldRecording('apply-conflict')
    const answer = await fetch(`${server.url}${request.path}`, {
      method: 'PATCH',
      headers: { authorization: 'Bearer test-token', 'content-type': request.contentType! },
      body: JSON.stringify(request.body),
    })
    expect([
      answer.status,
      deployment().spec.template.spec.containers[0]!.env?.find((it) => it.name === name)?.value,
    ]).toEqual([200, '57600'])
  })

  test.each([
    { what: 'a write', free: async () => control.writeSetting(change) },
    {
      what: 'a write that finds it done',
      free: async () => control.writeSetting({ ...change, from: '3600', to: '57600' }),
    },
    { what: 'starting what runs', free: async () => control.start({ timeoutMs }) },
    { what: 'stopping', free: async () => control.stop({ timeoutMs }) },
    { what: 'giving up', free: async () => control.giveUpFields!() },
  ])('what a process that was killed has left, after $what', async ({ free }) => {
    server.cluster.settle()
    leave({}, { subresource: 'scale' }, { apiVersion: 'apps/v1beta2' })
    expect(await control.ownsFields!()).toBe(true)
    await free()
    expect(owners()).toEqual(ofOthers)
  })
})

test('a trial writes nothing, and gives nothing up', async () => {
  server.cluster.isFrozen = true
  leave({})
  const before = structuredClone(deployment())
  expect(await control.trySetting(change)).toBe('set')
  await control.tryStop!()
  expect(isDeepStrictEqual(deployment(), before)).toBe(true)
})

describe('asking for rights', () => {
  const asked = async (change_: SettingChange | null): Promise<string[]> => {
    const before = server.requests.length
    await control.askRights!(change_)
    return server.requests.slice(before)
  }
  const review = 'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

  test('takes one review for a setting, and two for a stop, and no other request', async () => {
    expect([await asked(change), await asked(null)]).toEqual([[review], [review, review]])
  })

  test('names the right that is missing, for what needs it alone', async () => {
    server.cluster.forbidden.push({ resource: 'deployments/scale', verb: 'patch' })
    await expect(asked(null)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringMatching(/^this user has no permission to patch deployments\/scale /) as string,
    })
    expect(await asked(change)).toEqual([review])
  })
})

test('what others own stays theirs, also under names like this one', async () => {
  server.cluster.isFrozen = true
  leave({ manager: 'testops-admin-2' }, { operation: 'Apply' }, { manager: 'testops' })
  const before = deployment().metadata.managedFields
  expect(await control.ownsFields!()).toBe(false)
  await control.giveUpFields!()
  expect([deployment().metadata.managedFields, patches()]).toEqual([before, []])
})

test(
  'an entry that is alone in the list is left there: ' + 'without it, nothing more would be noted of the object',
  async () => {
    server.cluster.isFrozen = true
    server.cluster.update('deployments', deployment(), ({ metadata }) => void (metadata.managedFields = []))
    leave({})
    await control.giveUpFields!()
    expect([await control.ownsFields!(), patches()]).toEqual([false, []])
  },
)

test('an entry that others leave alone in the list meanwhile is left there too', async () => {
  server.cluster.isFrozen = true
  leave({})
  const become = (change: (entries: ManagedEntry[]) => ManagedEntry[]): void =>
    server.cluster.update(
      'deployments',
      deployment(),
      ({ metadata }) => void (metadata.managedFields = change(metadata.managedFields ?? [])),
    )
  become((entries) => entries.toReversed())
  server.instead = ({ method }) => {
    if (method === 'PATCH') become((entries) => entries.filter(({ manager }) => manager === 'testops-admin'))
    return false
  }
  await control.giveUpFields!()
  expect(owners()).toEqual(['testops-admin Update'])
})

test('a workload that is gone has nothing to give up', async () => {
  server.cluster.remove('deployments', deployment())
  await control.giveUpFields!()
  expect(patches()).toEqual([])
})

describe('somebody else who writes meanwhile', () => {
  /** Another order of the list, as after each write of a controller. */
  function turn(): void {
    server.cluster.update('deployments', deployment(), ({ metadata }) => void metadata.managedFields?.reverse())
  }

  test.each([1, 2, 4])('%d times is no failure', async (times) => {
    server.cluster.isFrozen = true
    let left = times
    server.instead = ({ method }) => {
      if (method === 'PATCH' && own(deployment()).length > 0 && left-- > 0) turn()
      return false
    }
    expect(await control.writeSetting(change)).toBe('set')
    expect([left < 0 || left === 0, owners().filter((it) => it.startsWith('testops-admin'))]).toEqual([true, []])
  })

  test('without end is told, and what is left is given up the next time', async () => {
    server.cluster.isFrozen = true
    server.instead = ({ method }) => {
      if (method === 'PATCH' && own(deployment()).length > 0) turn()
      return false
    }
    expect(await failureOf(control.writeSetting(change))).toMatch(
      new RegExp(
        String.raw`^(REFUSED|UNEXPECTED_ANSWER) deployment\/testops-testops was changed, ` +
          'but `testops-admin` could not remove itself as the owner of the changed fields: ' +
          String.raw`.*\. The next apply by another program, such as helm, may fail with a conflict$`,
      ),
    )
    expect(await control.ownsFields!()).toBe(true)
    server.instead = null
    expect(await control.writeSetting(change)).toBe('set')
    expect(owners().filter((it) => it.startsWith('testops-admin'))).toEqual([])
  })

  test('is seen by who scales: the replicas of before are those that it finds', async () => {
    server.cluster.settle()
    let isFirst = true
    server.instead = ({ method }) => {
      if (method === 'PATCH' && own(deployment()).length > 0 && isFirst) {
        isFirst = false
        server.cluster.update('deployments', deployment(), (it) => void ((it as Workload).spec.replicas = 7))
      }
      return false
    }
    await control.stop({ timeoutMs })
    expect(deployment().metadata.annotations?.['testops-admin/replicas']).toBe('7')
  })
})

test('an interruption between the write and what follows leaves nothing', async () => {
  const over = new AbortController()
  const interrupted = await openClient(
    { context: null },
    { timeoutMs: 2000, environment: { KUBECONFIG: await kubeconfigFor(server.url) }, signal: over.signal },
  )
  server.instead = ({ method }) => {
    if (method === 'PATCH' && own(deployment()).length > 0) over.abort()
    return false
  }
  await clusterControl(interrupted, {
    place,
    container: 'testops-testops',
    status,
    forget: () => undefined,
  }).writeSetting(change)
  expect([over.signal.aborted, owners()]).toEqual([true, ofOthers])
  interrupted.close()
})
