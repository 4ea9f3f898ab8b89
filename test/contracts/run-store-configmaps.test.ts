import { describe, expect, test } from 'vitest'
import { eitherRunStore } from '../../src/adapters/run-stores.ts'
import { AdminError } from '../../src/core/error.ts'
import type { RunStore } from '../../src/core/run.ts'
import { openClient } from '../../src/platforms/kubernetes/client.ts'
import type { KubernetesClient } from '../../src/platforms/kubernetes/client.ts'
import { configMapRuns } from '../../src/platforms/kubernetes/run-store.ts'
import { onRecord, standingOf } from '../../src/engine/records.ts'
import { beginJournal } from '../../src/engine/journal.ts'
import { errorOf, failureOf } from '../adapters/failure-of.ts'
import { eventOf, recordOf, run, told } from '../engine/repairing.ts'
import { fakeRunStore } from '../fakes/index.ts'
import type { FakeRunStore } from '../fakes/index.ts'
import { recordedCluster } from '../kubernetes/cluster.ts'
import { kubeconfigFor } from '../kubernetes/passing-kubeconfig.ts'
import { startApiServer } from '../kubernetes/server.ts'
import type { ApiServer } from '../kubernetes/server.ts'
import { runStoreContract } from './run-store.ts'

// a ConfigMap and its limit of 1 MiB: kubernetes.io, "ConfigMaps"; the API server's 409 of an old version:
// patch-conflict

interface Opened {
  server: ApiServer
  store: RunStore
  again: () => Promise<RunStore>
  close: () => Promise<void>
}

async function open(): Promise<Opened> {
  const server = await startApiServer(recordedCluster())
  const environment = { KUBECONFIG: await kubeconfigFor(server.url) }
  const clients: KubernetesClient[] = []
  const again = async (): Promise<RunStore> => {
    const client = await openClient({ context: null }, { timeoutMs: 5000, environment })
    clients.push(client)
    return configMapRuns(client, 'testops', { isNeeded: true })
  }
  return {
    server,
    store: await again(),
    again,
    async close() {
      clients.forEach((it) => it.close())
      await server.close()
    },
  }
}

async function withStore(look: (opened: Opened) => Promise<void>): Promise<void> {
  const opened = await open()
  try {
    await look(opened)
  } finally {
    await opened.close()
  }
}

const name = `testops-admin.run.${run.toLowerCase()}`
const gone = new AdminError('UNREACHABLE', 'RabbitMQ at mq:5672 refused the connection')

describe('journals in ConfigMaps', () => {
  runStoreContract(open)

  test('each is a ConfigMap that says whose it is, and holds no more than one takes', async () =>
    withStore(async ({ server, store }) => {
      const log = await store.begin(recordOf())
      expect(server.cluster.get('configmaps', 'testops', name).metadata).toMatchObject({
        labels: { 'app.kubernetes.io/managed-by': 'testops-admin', 'testops-admin/purpose': 'run' },
        annotations: { 'testops-admin/run': run },
      })
      await log.append(eventOf({ event: 'intent', step: 0 }))
      const huge = eventOf({ event: 'noted', step: 0, note: `replicas deployments/testops/${'x'.repeat(1_000_000)} 2` })
      expect(await failureOf(log.append(huge))).toMatch(
        new RegExp(
          '^UNAVAILABLE the saved record of run \\S+ is too long for the ConfigMaps in namespace `testops` of .*: ' +
            String.raw`\d+ bytes, but at most 1000000 bytes fit$`,
        ),
      )
      expect(told(await store.read(run))).toEqual(['intent 0'])
    }))

  test('what somebody else writes to it is refused, and what they only label is not', async () =>
    withStore(async ({ server, store }) => {
      const log = await store.begin(recordOf())
      const edit = (
        change: (it: { data: Record<string, string>; metadata: { labels?: Record<string, string> } }) => void,
      ): void =>
        server.cluster.update('configmaps', server.cluster.get('configmaps', 'testops', name), (it) =>
          change(it as never),
        )
      edit((it) => void (it.metadata.labels = { ...it.metadata.labels, owner: 'somebody' }))
      await log.append(eventOf({ event: 'intent', step: 0 }))
      edit(
        (it) =>
          void (it.data['events'] =
            `${it.data['events']}${JSON.stringify(eventOf({ event: 'done', step: 0, durationMs: 1 }))}\n`),
      )
      expect(await failureOf(log.append(eventOf({ event: 'done', step: 0, durationMs: 2 })))).toMatch(
        /^REFUSED somebody else changed the saved record of run \S+ in the ConfigMaps /,
      )
    }))

  test('a write whose answer is lost is written once', async () =>
    withStore(async ({ server, store }) => {
      const log = await store.begin(recordOf())
      server.instead = (request) => {
        if (request.method !== 'PATCH') return false
        server.cluster.update(
          'configmaps',
          server.cluster.get('configmaps', 'testops', name),
          (it) =>
            void (it['data'] = {
              ...(it['data'] as object),
              events: `${JSON.stringify(eventOf({ event: 'intent', step: 0 }))}\n`,
            }),
        )
        return false
      }
      await log.append(eventOf({ event: 'intent', step: 0 }))
      server.instead = null
      await log.append(eventOf({ event: 'done', step: 0, durationMs: 1 }))
      expect(told(await store.read(run))).toEqual(['intent 0', 'done 0'])
    }))

  test.each(['list', 'create', 'patch', 'delete'])(
    'without the right to %s them there is no such place',
    async (verb) =>
      withStore(async ({ server, again }) => {
        server.cluster.forbidden.push({ resource: 'configmaps', verb })
        expect(await failureOf(again())).toMatch(
          new RegExp(`^FORBIDDEN this user has no permission to ${verb} configmaps in namespace \`testops\` of `),
        )
      }),
  )

  test('what others have put there is told by its name, and hides no other; discarding saves it first', async () =>
    withStore(async ({ server, store }) => {
      await (await store.begin(recordOf())).close()
      const labels = { 'app.kubernetes.io/managed-by': 'testops-admin', 'testops-admin/purpose': 'run' }
      const planted = run.replace('1f3a', '0000')
      server.cluster.load('configmaps', {
        metadata: {
          name: `testops-admin.run.${planted.toLowerCase()}`,
          namespace: 'testops',
          labels,
          annotations: { 'testops-admin/run': planted },
        },
        data: { record: '{', events: 'x\n' },
      })
      server.cluster.load('configmaps', {
        metadata: { name: 'other', namespace: 'testops', labels, annotations: { 'testops-admin/run': '../../x' } },
        data: {},
      })
      server.cluster.load('configmaps', { metadata: { name: 'settings', namespace: 'testops' }, data: { A: '1' } })
      expect(await store.list()).toMatchObject([
        { run: '../../x', unreadable: expect.stringContaining('is not named after a run') as string },
        { run: planted, unreadable: expect.stringContaining('is damaged') as string },
        { record: { run } },
      ])
      const saved: string[] = []
      await store.discard!(planted, async (line) => void saved.push(line))
      expect([saved, (await store.list()).length]).toEqual([['{', 'x'], 2])
      // a ConfigMap of the service is not a journal
      expect(await failureOf(store.discard!('settings', async () => expect.unreachable()))).toBe(
        'USAGE ConfigMap `settings` in namespace `testops` is not the saved record of a run',
      )
    }))
})

describe('journals in the broker, else in ConfigMaps', () => {
  const both = async ({ again }: Opened, broker: FakeRunStore | AdminError): Promise<RunStore> =>
    eitherRunStore({
      first: async () => {
        if (broker instanceof AdminError) throw broker
        return broker
      },
      second: again,
    })

  describe('with the broker', () => {
    runStoreContract(async () => {
      const opened = await open()
      const broker = fakeRunStore('the broker')
      return { ...opened, store: await both(opened, broker), again: async () => both(opened, broker) }
    })
  })
  describe('without it', () => {
    runStoreContract(async () => {
      const opened = await open()
      return {
        ...opened,
        store: await both(opened, new AdminError('NOT_CONFIGURED', 'no broker')),
        again: async () => both(opened, new AdminError('NOT_CONFIGURED', 'no broker')),
      }
    })
  })

  test('a run that was begun without the broker is found with it, and is gone from both in the end', async () =>
    withStore(async (opened) => {
      const here = fakeRunStore()
      const options = { by: 'op@bastion', failpoint: async () => undefined }
      const without = { here, there: async () => both(opened, gone) }
      const journal = await beginJournal(without, recordOf(), options)
      await journal.append(eventOf({ event: 'intent', step: 0 }))
      expect([journal.onlyHere, told(await opened.store.read(run))]).toEqual([null, ['copied', 'intent 0']])
      const broker = fakeRunStore('the broker')
      const elsewhere = { here: fakeRunStore(), there: async () => both(opened, broker) }
      expect(
        (await onRecord(elsewhere)).all.map((it) => ['record' in it && it.record.run, it.isHere, it.isGone]),
      ).toEqual([[run, false, false]])
      expect(told((await standingOf(elsewhere, run, { adopt: true })).whole)).toEqual(['copied', 'intent 0'])
      await journal.close(true)
      expect([await opened.store.list(), await broker.list()]).toEqual([[], []])
    }))

  test('a copy in a broker that is away is not called gone', async () =>
    withStore(async (opened) => {
      const here = fakeRunStore()
      await (
        await here.begin(recordOf(), [eventOf({ event: 'copied' }), eventOf({ event: 'intent', step: 0 })])
      ).close()
      const found = await onRecord({ here, there: async () => both(opened, gone) })
      expect([found.all.map(({ isGone }) => isGone), found.unasked]).toEqual([[false], gone])
      expect((await standingOf({ here, there: async () => both(opened, gone) }, run, { adopt: false })).isGone).toBe(
        false,
      )
      expect(
        (await onRecord({ here, there: async () => both(opened, fakeRunStore('the broker')) })).all.map(
          ({ isGone }) => isGone,
        ),
      ).toEqual([true])
    }))

  test('a broker that goes away in the middle of a run leaves the journal to the ConfigMaps', async () =>
    withStore(async (opened) => {
      const broker = fakeRunStore('the broker')
      const store = await both(opened, broker)
      const journal = await beginJournal({ here: fakeRunStore(), there: async () => store }, recordOf(), {
        by: 'op@bastion',
        failpoint: async () => undefined,
      })
      await journal.append(eventOf({ event: 'intent', step: 0 }))
      broker.failing = gone
      broker.read = async () => Promise.reject(gone)
      broker.list = async () => Promise.reject(gone)
      await journal.append(eventOf({ event: 'done', step: 0, durationMs: 1 }))
      await journal.append(eventOf({ event: 'intent', step: 1 }))
      expect([journal.onlyHere, told(await opened.store.read(run))]).toEqual([
        null,
        ['copied', 'intent 0', 'done 0', 'intent 1'],
      ])
    }))

  test('where neither can be had, the reason is the broker', async () =>
    withStore(async (opened) => {
      opened.server.cluster.forbidden.push({ resource: 'configmaps' })
      expect(await errorOf(both(opened, gone))).toBe(gone)
      // who may not see ConfigMaps has written none
      const broker = fakeRunStore('the broker')
      const client = await openClient(
        { context: null },
        { timeoutMs: 5000, environment: { KUBECONFIG: await kubeconfigFor(opened.server.url) } },
      )
      const store = await eitherRunStore({
        first: async () => broker,
        second: async ({ isNeeded }) => configMapRuns(client, 'testops', { isNeeded }),
      })
      await (await store.begin(recordOf())).close()
      expect((await store.list()).length).toBe(1)
      client.close()
    }))
})
