import { expect, test } from 'vitest'
import type { RepairDocument } from '../../src/core/repair.ts'
import type { Workload } from '../kubernetes/resources.ts'
import { kubernetesPlace } from './kubernetes-place.ts'

const here = kubernetesPlace()

const deployment = (): Workload => here.world.cluster.get('deployments', 'testops', 'testops-testops') as Workload
const timeZones = (): unknown =>
  deployment()
    .spec.template.spec.containers.find(({ name }) => name === 'testops-testops')
    ?.env?.filter(({ name }) => name === 'TZ')
    .map(({ value }) => value)

/** The writes of `set-env` in their order: the number of replicas noted, scaled to 0, the setting, scaled up. */
const writes = ['stop', 'set', 'start'] as const

/**
 * Kills the program by SIGKILL at that write: before the API server hears of it, or once it has carried it out and
 * nobody hears of that.
 */
async function killedAt(write: (typeof writes)[number], isHeard: boolean): Promise<void> {
  let kill: () => void = () => undefined
  const killed = new Promise<void>((resolve) => {
    let scaled = 0
    here.world.api.instead = ({ method, url = '' }) => {
      if (method !== 'PATCH' || url.includes('dryRun')) return false
      const isScale = url.includes('/scale')
      if (isScale) scaled += 1
      const is = isScale ? (scaled === 1 ? 'stop' : 'start') : scaled === 1 ? 'set' : null
      if (is !== write) return false
      here.world.api.instead = null
      kill()
      resolve()
      return !isHeard
    }
  })
  const ended = await here.place.run(['set-env', 'TZ=Europe/Berlin', '--confirm', 'prod'], {
    environment: { KUBECONFIG: here.world.kubeconfig },
    meanwhile: (child) => (kill = () => void child.kill('SIGKILL')),
  })
  expect(ended.exitCode, ended.stdout + ended.stderr).toBe(null)
  await killed
}

test.each(
  writes.flatMap((write) => [
    { write, isHeard: false, next: 'resume' },
    { write, isHeard: true, next: 'resume' },
    { write, isHeard: false, next: 'undo' },
    { write, isHeard: true, next: 'undo' },
  ]),
)(
  'killed at $write, carried out $isHeard: $next brings the service to where it belongs',
  async ({ write, isHeard, next }) => {
    await killedAt(write, isHeard)
    const { runs } = JSON.parse((await here.run('history', '--json')).stdout) as {
      runs: { run: string; state: string }[]
    }
    expect(runs.map(({ state }) => state)).toEqual(['unfinished'])
    const ended = await here.run(next, ...(next === 'undo' ? [runs[0]!.run] : []), '--json', '--confirm', 'prod')
    const { error } = JSON.parse(ended.stdout) as RepairDocument
    expect([ended.exitCode, error, deployment().spec.replicas, timeZones()], ended.stderr).toEqual([
      0,
      undefined,
      1,
      [next === 'undo' ? 'UTC' : 'Europe/Berlin'],
    ])
    expect(here.world.isReady()).toBe(true)
  },
  120_000,
)
