import { describe, expect, test } from 'vitest'
import { handlerOf } from '../../src/actions/index.ts'
import type { ActionOf } from '../../src/core/action.ts'
import type { ReleaseRevision, Values } from '../../src/core/sources.ts'
import { fakeDeployment, releaseWorld } from '../fakes/index.ts'
import type { FakeDeployment } from '../fakes/index.ts'
import { workshopOf } from './workshop.ts'

const [former, wanted] = [{ version: '526u03' }, { version: '527u01' }]
const action: ActionOf<'upgrade-release'> = {
  kind: 'upgrade-release',
  release: 'release testops in namespace testops',
  revision: 1,
  chart: '/srv/chart',
  chartVersion: '5.27.2',
  files: ['/srv/values.yaml'],
  values: [{ path: ['version'], to: '527u01' }],
  wasRunning: true,
}
const handler = handlerOf(action)

/** A second revision is pending; `lives`: whether the helm that this run noted does. */
function pending({
  values,
  mark,
  lives = false,
}: {
  values: Values
  mark: string | null
  lives?: boolean | null
}): FakeDeployment {
  const release = releaseWorld({ installed: former, files: { '/srv/values.yaml': wanted } })
  const revision: ReleaseRevision = {
    ...release.revisions[0]!,
    revision: 2,
    status: 'pending-upgrade',
    description: 'Preparing upgrade',
    values,
  }
  release.revisions.push(revision)
  const deployment = fakeDeployment({
    release: { ...release, control: { ...release.control, isRunning: async () => lives } },
  })
  if (mark !== null) deployment.notes.push(`helm ${mark}`)
  return deployment
}

const told = ({ release }: FakeDeployment): string[] =>
  release.revisions.map(({ status, description }) => `${status}: ${description}`)

describe('a revision that is pending', () => {
  test.each([
    ['of others, with the same values', { values: former, mark: null }],
    ['of others, of which this run has found that they are at work', { values: former, mark: 'none' }],
    ['of others, who want the same', { values: wanted, mark: 'none' }],
    ['of a helm of this run that still runs', { values: wanted, mark: 'it', lives: true }],
  ])('%s, is left to whoever began it', async (_, given) => {
    const deployment = pending(given)
    await expect(handler.perform(action, workshopOf(deployment, { patienceMs: 0 }))).rejects.toMatchObject({
      code: 'BUSY',
    })
    expect(told(deployment)).toEqual(['deployed: Install complete', 'pending-upgrade: Preparing upgrade'])
  })

  test.each([
    ['of a helm of this run that is gone', { values: wanted, mark: 'it' }],
    ['of one on another machine, which was waited for', { values: wanted, mark: 'it', lives: null }],
    ['of one whose process had no time to note it', { values: wanted, mark: null }],
  ])('%s, is cleared away', async (_, given) => {
    const deployment = pending(given)
    await handler.perform(action, workshopOf(deployment, { patienceMs: 0 }))
    expect(told(deployment).slice(2)).toEqual(['superseded: Rollback to 1', 'deployed: Upgrade complete'])
  })

  test('of others, with the same values, is none of what is taken back', async () => {
    const deployment = pending({ values: former, mark: 'none' })
    await handler.undo!(action, workshopOf(deployment, { patienceMs: 0 }))
    expect(told(deployment)).toHaveLength(2)
  })
})
