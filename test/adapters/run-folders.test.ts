import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runFolder } from '../../src/adapters/run-folder.ts'
import { runFolders } from '../../src/adapters/run-stores.ts'
import type { RunEvent, RunRecord, WorkloadIdentity } from '../../src/core/run.ts'
import { mayBeOf } from '../../src/core/run-state.ts'
import { recordsBeside, recordsOf } from '../../src/runtime/paths.ts'
import { eventOf, recordOf, run } from '../engine/repairing.ts'
import { failureOf } from './failure-of.ts'

const own: WorkloadIdentity = { kind: 'Deployment', namespace: 'testops', name: 'testops-testops' }
const cluster = 'https://k8s.example.org, namespace testops'
const second = run.replace('1f3a', '0000')

/** As versions wrote it that did not know the workload. */
const former = (at: string, more: readonly RunEvent[] = []): Former => ({
  record: { plan: { ...recordOf().plan, target: { cluster: at } } },
  more,
})
const noted = (note: string): RunEvent => eventOf({ event: 'noted', step: 0, note })

interface Former {
  record: Partial<RunRecord>
  more?: readonly RunEvent[]
}

test.each<[what: string, of: Former, isFound: boolean]>([
  ['of the same workload', { record: { workload: own } }, true],
  ['of one that was made again', { record: { workload: { ...own, uid: 'another' } } }, true],
  ['of another workload', { record: { workload: { ...own, name: 'other' } } }, false],
  ['of another kind', { record: { workload: { ...own, kind: 'StatefulSet' } } }, false],
  ['of a former version, at the same cluster and namespace', former(cluster), true],
  [
    'of a former version that noted the replicas of this workload',
    former(cluster, [noted('replicas deployments/testops/testops-testops 2')]),
    true,
  ],
  [
    'of a former version that noted those of another',
    former(cluster, [noted('replicas deployments/testops/other 2')]),
    false,
  ],
  [
    'of a former version that has come to its end',
    former(cluster, [eventOf({ event: 'ended', outcome: 'done' })]),
    false,
  ],
  ['of a former version, at another cluster', former('https://other.example.org, namespace testops'), false],
])('a run %s is found under another name of the deployment: %s', async (_, { record, more = [] }, isFound) => {
  const home = await mkdtemp(join(tmpdir(), 'testops-admin-state-'))
  onTestFinished(async () => rm(home, { recursive: true }))
  const environment = { XDG_STATE_HOME: home }
  const before = runFolder(recordsOf(environment, { name: 'testops', cluster }).runs)
  await (await before.begin(recordOf(record), [eventOf({ event: 'intent', step: 0 }), ...more])).close()
  // a folder of another cluster is never looked into
  await (
    await runFolder(
      recordsOf(environment, { name: 'testops', cluster: 'https://other, namespace testops' }).runs,
    ).begin(recordOf({ run: second, workload: own }))
  ).close()

  const now = { name: 'testops.testops', cluster }
  const store = runFolders(recordsOf(environment, now).runs, {
    folders: async () => recordsBeside(environment, now),
    isOwn: async (history) => mayBeOf(own, cluster, history),
  })
  expect((await store.list()).map((it) => 'record' in it && it.record.run)).toEqual(isFound ? [run] : [])
  if (!isFound) {
    expect(await failureOf(store.read(run))).toMatch(/^USAGE no run /)
    return
  }
  const log = await store.reopen(run)
  await log.append(eventOf({ event: 'done', step: 0, durationMs: 1 }))
  await log.close()
  await store.keep!(run, 'former', 'text')
  expect([
    (await before.read(run)).events.length - more.length,
    await before.keptText!(run, 'former'),
    await store.keptText!(run, 'former'),
  ]).toEqual([2, 'text', 'text'])
  // new ones are begun under the name of now
  await (await store.begin(recordOf({ run: second, workload: own }))).close()
  expect([(await store.list()).length, (await before.list()).length]).toEqual([2, 1])
  await store.remove(run)
  expect(await before.list()).toEqual([])
})
