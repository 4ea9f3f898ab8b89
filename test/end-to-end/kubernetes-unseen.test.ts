import { expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { kubernetesPlace } from './kubernetes-place.ts'

const here = kubernetesPlace()

/** Of each pod, only so many streams are opened. */
function openAtMost(count: number): void {
  const opened = new Map<string, number>()
  here.world.cluster.hooks.reached = (subresource, { metadata }) => {
    const key = `${subresource} ${metadata.name}`
    opened.set(key, (opened.get(key) ?? 0) + 1)
    return opened.get(key)! <= count
  }
}

/** What doctor says of what it has not found healthy, beside the processors, of which nothing shows here. */
async function unwell(): Promise<{ exitCode: number | null; checks: DoctorReport['checks'] }> {
  const ended = await here.run('doctor', '--json')
  const { checks } = JSON.parse(ended.stdout) as DoctorReport
  return {
    exitCode: ended.exitCode,
    checks: checks.filter(({ id, status }) => status !== 'ok' && status !== 'skipped' && id !== 'service/cpu-level'),
  }
}

const noWay = new RegExp(
  '^the cluster of context `test` reports pod ' +
    '`\\S+` as Ready, but this machine cannot connect to the pod \\(node `\\S+`\\): ',
)
const wayOut =
  'testops-admin doctor -d prod --relay   # connects through the cluster. Repairs, resume and undo also accept --relay'

test.each([1, 2, 3])(
  'a kubelet that is not reached any more after %i streams leaves what lies behind it unknown, with the way out',
  async (count) => {
    openAtMost(count)
    const { exitCode, checks } = await unwell()
    expect([exitCode, checks.length > 0]).toEqual([3, true])
    for (const it of checks)
      expect([it.id, it]).toMatchObject([
        it.id,
        {
          status: 'unknown',
          error: {
            message: expect.stringMatching(noWay) as string,
            suggestions: expect.arrayContaining([wayOut]) as string[],
          },
        },
      ])
  },
)

test('streams that are opened and break at once leave it unknown, too', async () => {
  for (const { metadata } of here.world.cluster.pods) here.world.breaking.add(metadata.name)
  const { exitCode, checks } = await unwell()
  expect([
    exitCode,
    checks.filter(({ status }) => status === 'problem').map(({ id, findings }) => [id, findings]),
  ]).toEqual([3, []])
  for (const id of ['database/reachable', 'broker/reachable', 'sessions/reachable', 'api/reachable']) {
    expect([id, checks.find((it) => it.id === id)]).toMatchObject([
      id,
      {
        status: 'unknown',
        error: {
          message: expect.stringMatching(noWay) as string,
          suggestions: expect.arrayContaining([wayOut]) as string[],
        },
      },
    ])
  }
})
