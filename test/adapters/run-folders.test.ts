import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runFolder } from '../../src/adapters/run-folder.ts'
import { runFolders } from '../../src/adapters/run-folders.ts'
import type { WorkloadIdentity } from '../../src/core/run.ts'
import { isSameWorkload } from '../../src/core/run-state.ts'
import { recordsBeside, recordsOf } from '../../src/runtime/paths.ts'
import { eventOf, recordOf, run } from '../engine/repairing.ts'
import { failureOf } from './failure-of.ts'

const own: WorkloadIdentity = { kind: 'Deployment', namespace: 'testops', name: 'testops-testops' }
const cluster = 'https://k8s.example.org, namespace testops'
const second = run.replace('1f3a', '0000')

test.each<[what: string, workload: WorkloadIdentity | null, isFound: boolean]>([
  ['of the same workload', own, true],
  ['of one that was made again', { ...own, uid: 'another' }, true],
  ['of another workload', { ...own, name: 'other' }, false],
  ['of another kind', { ...own, kind: 'StatefulSet' }, false],
  ['of which the record does not tell', null, false],
])('a run %s is found under another name of the deployment: %s', async (_, workload, isFound) => {
  const home = await mkdtemp(join(tmpdir(), 'testops-admin-state-'))
  onTestFinished(async () => rm(home, { recursive: true }))
  const environment = { XDG_STATE_HOME: home }
  const before = runFolder(recordsOf(environment, { name: 'testops', cluster }).runs)
  await (await before.begin(recordOf({ ...(workload && { workload }) }), [eventOf({ event: 'intent', step: 0 })])).close()
  // a folder of another cluster is never looked into
  await (await runFolder(recordsOf(environment, { name: 'testops', cluster: 'https://other, namespace testops' }).runs).begin(recordOf({ run: second, workload: own }))).close()

  const now = { name: 'testops.testops', cluster }
  const store = runFolders(recordsOf(environment, now).runs, {
    folders: async () => recordsBeside(environment, now),
    isOwn: async (record) => record.workload !== undefined && isSameWorkload(record.workload, own),
  })
  expect((await store.list()).map((it) => 'record' in it && it.record.run)).toEqual(isFound ? [run] : [])
  if (!isFound) {
    expect(await failureOf(store.read(run))).toMatch(/^USAGE there is no /)
    return
  }
  const log = await store.reopen(run)
  await log.append(eventOf({ event: 'done', step: 0, durationMs: 1 }))
  await log.close()
  await store.keep!(run, 'former', 'text')
  expect([(await before.read(run)).events.length, await before.keptText!(run, 'former'), await store.keptText!(run, 'former')]).toEqual([2, 'text', 'text'])
  // new ones are begun under the name of now
  await (await store.begin(recordOf({ run: second, workload: own }))).close()
  expect([(await store.list()).length, (await before.list()).length]).toEqual([2, 1])
  await store.remove(run)
  expect(await before.list()).toEqual([])
})
