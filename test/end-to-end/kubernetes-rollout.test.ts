import { readFile, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunRecord } from '../../src/core/run.ts'
import type { RepairDocument } from '../../src/core/repair.ts'
import type { Workload } from '../kubernetes/resources.ts'
import { kubernetesPlace } from './kubernetes-place.ts'

const here = kubernetesPlace()

const flat = (text: string): string => text.replace(/\s+/g, ' ')
const deployment = (): Workload => here.world.cluster.get('deployments', 'testops', 'testops-testops') as Workload
const edit = (change: (it: Workload) => void): void =>
  here.world.cluster.update('deployments', deployment(), (it) => {
    change(it as Workload)
    it.metadata.generation = (it.metadata.generation ?? 1) + 1
  })
const scalings = (): string[] => here.world.requests.filter((it) => it.startsWith('PATCH ') && it.endsWith('/scale'))

test('a service of which a newer pod cannot start is not stopped while the one of before serves', async () => {
  const starting = here.world.cluster.hooks.starting
  here.world.cluster.hooks.starting = async (pod) =>
    pod.spec.containers.some(({ image }) => image.endsWith(':nopull'))
      ? { waiting: 'ImagePullBackOff', message: 'Back-off pulling image' }
      : starting!(pod)
  edit(({ spec }) =>
    spec.template.spec.containers.forEach(
      (it) => void (it.name === 'testops-testops' && (it.image = it.image.replace(/:[^:]*$/, ':nopull'))),
    ),
  )
  here.world.cluster.settle()
  await expect
    .poll(() =>
      here.world.cluster.pods.some(({ status }) =>
        status.containerStatuses?.some(({ state }) => state['waiting']?.['reason'] === 'ImagePullBackOff'),
      ),
    )
    .toBe(true)
  for (const words of [
    ['service', 'restart'],
    ['set-env', 'TZ=Europe/Berlin'],
    ['service', 'stop'],
  ]) {
    const refused = await here.run(...words, '--confirm', 'prod')
    expect([refused.exitCode, flat(refused.stderr)]).toEqual([
      4,
      expect.stringContaining(
        'the service may not start again after a stop: container testops-testops of pod `testops-testops-',
      ),
    ])
    expect(flat(refused.stderr)).toContain('--accept-risk stuck-rollout')
  }
  expect(scalings()).toEqual([])
})

test('a setting of a Deployment that is paused is not called done while its pods do not have it, and undo brings ' +
  'back what was', async () => {
  edit(({ spec }) => void (spec['paused'] = true))
  const failed = await here.run(
    'set-env',
    'TZ=Europe/Berlin',
    '--json',
    '--confirm',
    'prod',
    '--accept-risk',
    'stuck-rollout',
  )
  const { run: name } = JSON.parse(failed.stdout) as RepairDocument
  expect([failed.exitCode, flat(failed.stdout)]).toEqual([
    1,
    expect.stringContaining(
      'the running pods lack the latest changes, because the rollout of Deployment `testops-testops` in ' +
        'namespace `testops` is paused',
    ),
  ])
  const again = await here.run('resume', '--confirm', 'prod')
  expect([again.exitCode, flat(again.stdout)]).toEqual([1, expect.stringContaining('is paused')])
  const back = await here.run('undo', name ?? '', '--confirm', 'prod')
  expect([back.exitCode, here.world.isReady()], back.stdout + back.stderr).toEqual([0, true])
  const own = deployment().spec.template.spec.containers.find((it) => it.name === 'testops-testops')
  expect(own?.env?.filter((it) => it.name === 'TZ').map(({ value }) => value)).toEqual(['UTC'])
}, 120_000)

test('a setting that a policy of the cluster sets back on the way into pods is not called done, and undo brings ' +
  'back what was', async () => {
  here.world.cluster.hooks.admitting = (pod) => {
    pod.spec.containers = pod.spec.containers.map((it) => ({
      ...it,
      env: (it.env ?? []).map((entry) => (entry.name === 'TZ' ? { ...entry, value: 'Asia/Tokyo' } : entry)),
    }))
    return null
  }
  const failed = await here.run('set-env', 'TZ=Europe/Berlin', '--json', '--confirm', 'prod', '--patience', '10')
  const { run: name, error } = JSON.parse(failed.stdout) as RepairDocument
  expect([failed.exitCode, error?.message]).toEqual([
    1,
    expect.stringMatching(
      new RegExp(
        '^the service answers, but does not run with the image or settings that it should have: ' +
          'pod `testops-testops-\\S+` does not run with the value of `TZ` ' +
          'that Deployment `testops-testops` in namespace `testops` declares$',
      ),
    ),
  ])
  const again = await here.run('resume', '--confirm', 'prod', '--patience', '10')
  expect([again.exitCode, flat(again.stdout)]).toEqual([
    1,
    expect.stringContaining('does not run with the value of `TZ`'),
  ])
  const back = await here.run('undo', name ?? '', '--confirm', 'prod')
  expect([back.exitCode, here.world.isReady()], back.stdout + back.stderr).toEqual([0, true])
  // what is changed in all pods, and by no run, is none of a restart's
  const restarted = await here.run('service', 'restart', '--confirm', 'prod')
  expect(restarted.exitCode, restarted.stdout + restarted.stderr).toBe(0)
}, 120_000)

test('whoever scales the service up while it is being stopped ends the run with 6; resume stops it, and undo starts ' +
  'it again', async () => {
  here.world.cluster.hooks.scaled = (_, replicas) => {
    if (replicas > 0) return
    delete here.world.cluster.hooks.scaled
    edit(({ spec }) => void (spec.replicas = 1))
  }
  const stopped = await here.run('service', 'stop', '--json', '--confirm', 'prod')
  const { run: name, error } = JSON.parse(stopped.stdout) as RepairDocument
  expect([stopped.exitCode, error?.message]).toEqual([
    6,
    expect.stringMatching(/^something else started the service while testops-admin was keeping it stopped: /),
  ])
  await expect.poll(here.world.isReady, { timeout: 20_000 }).toBe(true)
  const resumed = await here.run('resume', '--confirm', 'prod')
  expect([resumed.exitCode, deployment().spec.replicas], resumed.stdout + resumed.stderr).toEqual([0, 0])
  const back = await here.run('undo', name ?? '', '--confirm', 'prod')
  expect([back.exitCode, deployment().spec.replicas, here.world.isReady()], back.stdout + back.stderr).toEqual([
    0,
    1,
    true,
  ])
}, 120_000)

test('a run that was killed is found again under another name of the deployment, and one of a workload that was ' +
  'made again is told', async () => {
  const kill = { environment: { KUBECONFIG: here.world.kubeconfig, TESTOPS_ADMIN_FAILPOINT: 'stop-service:stopped' } }
  await here.place.run(['service', 'restart', '--confirm', 'prod'], kill)
  expect(deployment().spec.replicas).toBe(0)
  await here.place.write('testops-admin.yaml', 'deployments:\n  renamed: {platform: kubernetes}\n')
  const history = await here.run('history', '--json')
  const [found] = (JSON.parse(history.stdout) as { runs: { run: string; state: string }[] }).runs
  expect([found?.state, (await here.run('service', 'start', '--confirm', 'renamed')).exitCode]).toEqual([
    'unfinished',
    4,
  ])
  const uid = deployment().metadata.uid
  here.world.cluster.isFrozen = true
  edit(({ metadata }) => void (metadata.uid = 'another'))
  const other = await here.run('resume', '--confirm', 'renamed')
  expect([other.exitCode, flat(other.stderr + other.stdout)]).toEqual([
    4,
    expect.stringContaining('has been deleted and recreated since run'),
  ])
  edit(({ metadata }) => void (metadata.uid = uid!))
  here.world.cluster.isFrozen = false
  const resumed = await here.run('resume', '--confirm', 'renamed')
  expect([resumed.exitCode, deployment().spec.replicas], resumed.stdout + resumed.stderr).toEqual([0, 1])
}, 120_000)

test('a run of a former version, which did not note the workload, is found under another name, and goes on where it ' +
  'is said to be of this one', async () => {
  const kill = { environment: { KUBECONFIG: here.world.kubeconfig, TESTOPS_ADMIN_FAILPOINT: 'stop-service:stopped' } }
  await here.place.run(['service', 'restart', '--confirm', 'prod'], kill)
  const state = join(here.place.directory, '.local/state/testops-admin')
  const files = await readdir(state, { recursive: true })
  const file = join(state, files.find((it) => it.endsWith('run.json'))!)
  // the copy in the broker is of this version
  await here.world.vhost.manage(
    'DELETE',
    `/api/queues/${here.world.vhost.vhost}/testops-admin.run.${basename(dirname(file))}`,
  )
  const { workload: _, ...former } = JSON.parse(await readFile(file, 'utf8')) as RunRecord
  await writeFile(file, JSON.stringify(former))
  // the replicas that it noted tell of which workload it was
  await here.place.write('testops-admin.yaml', 'deployments:\n  renamed: {platform: kubernetes}\n')
  expect((await here.run('service', 'start', '--confirm', 'renamed')).exitCode).toBe(4)

  const journal = join(dirname(file), 'journal.jsonl')
  const lines = (await readFile(journal, 'utf8')).split('\n')
  await writeFile(
    journal,
    lines.filter((line) => !line.includes('"replicas ') && !line.includes('"copied"')).join('\n'),
  )
  const refused = await here.run('resume', '--confirm', 'renamed')
  expect([refused.exitCode, flat(refused.stderr + refused.stdout)]).toEqual([
    4,
    expect.stringMatching(
      new RegExp(
        'run \\S+ was recorded for deployment `prod`, but may have changed this deployment, `renamed`: ' +
          'both are in the same cluster and namespace, ' +
          String.raw`and testops-admin \S+ did not record the workload.* --accept-risk record-differs`,
      ),
    ),
  ])
  expect(deployment().spec.replicas).toBe(0)
  const resumed = await here.run('resume', '--confirm', 'renamed', '--accept-risk', 'record-differs')
  expect([resumed.exitCode, deployment().spec.replicas], resumed.stdout + resumed.stderr).toEqual([0, 1])
}, 120_000)
