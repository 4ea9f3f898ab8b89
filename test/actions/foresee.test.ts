import { describe, expect, test } from 'vitest'
import { handlerOf } from '../../src/actions/index.ts'
import type { Action, ActionOf } from '../../src/core/action.ts'
import { AdminError } from '../../src/core/error.ts'
import type { FieldConflict } from '../../src/core/sources.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { fakeDeployment, fileWorld, releaseWorld } from '../fakes/index.ts'
import type { FakeDeployment } from '../fakes/index.ts'
import { workshopOf } from './workshop.ts'

const [former, wanted] = [{ version: '526u03' }, { version: '527u01' }]
const upgrade: ActionOf<'upgrade-release'> = {
  kind: 'upgrade-release',
  release: 'release testops in namespace testops',
  revision: 1,
  chart: '/srv/chart',
  chartVersion: '5.27.2',
  files: ['/srv/values.yaml'],
  values: [{ path: ['version'], to: '527u01' }],
  wasRunning: true,
}
const edit: ActionOf<'edit-values'> = {
  kind: 'edit-values',
  file: '/srv/values.yaml',
  edits: [{ path: ['version'], from: '526u03', to: '527u01', at: 0, was: '', is: '' }],
}
const setting: ActionOf<'set-setting'> = { kind: 'set-setting', name: 'A', from: '1', to: '2' }
const stop: Action = { kind: 'stop-service', wasRunning: true }

const conflict = (manager: string): FieldConflict =>
  ({ object: 'deployments/a', field: '.spec.replicas', manager, shown: 'kubectl get deployments/a' }) as FieldConflict

/** Nothing of the deployment may be other afterwards. */
async function told(
  action: Action,
  deployment: FakeDeployment,
  { back = false, performed = true } = {},
): Promise<string | null> {
  const handler = handlerOf(action)
  const workshop = workshopOf(deployment)
  const before = structuredClone([
    [...deployment.settings],
    deployment.release.revisions,
    deployment.files.files,
    deployment.service,
  ])
  const said = await failureOf(
    (back ? handler.foreseeUndo : handler.foresee)!(action, {
      ...workshop,
      journal: { ...workshop.journal, performed },
    }),
  )
  expect([[...deployment.settings], deployment.release.revisions, deployment.files.files, deployment.service]).toEqual(
    before,
  )
  return said
}

describe('helm', () => {
  function released({ latest = former, managers = [] as string[] } = {}): FakeDeployment {
    const release = releaseWorld({ installed: former, files: { '/srv/values.yaml': wanted } })
    if (latest !== former) release.revisions.push({ ...release.revisions[0]!, revision: 2, values: latest })
    release.conflicts.push(...managers.map(conflict))
    return fakeDeployment({ release })
  }
  const refused = (verb: string, ...owned: string[]): string =>
    `REFUSED helm ${verb} would fail at release testops in namespace testops, because the chart sets fields ` +
    `owned by other field managers: ${owned.join('; ')}. Nothing was changed`
  const by = (manager: string): string => `\`${manager}\` owns .spec.replicas of deployments/a`

  test.each([
    { what: 'an upgrade without a conflict', given: {}, back: false, said: null },
    { what: 'an upgrade with one', given: { managers: ['hpa'] }, back: false, said: refused('upgrade', by('hpa')) },
    {
      what: 'an upgrade with many',
      given: { managers: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] },
      back: false,
      said: refused('upgrade', ...['a', 'b', 'c', 'd', 'e'].map(by), 'and 2 more'),
    },
    { what: 'a rollback without a conflict', given: { latest: wanted }, back: true, said: null },
    {
      what: 'a rollback with one',
      given: { latest: wanted, managers: ['hpa'] },
      back: true,
      said: refused('rollback', by('hpa')),
    },
    { what: 'a rollback that is none, as nothing was upgraded', given: { managers: ['hpa'] }, back: true, said: null },
    {
      what: 'a rollback of what others have upgraded since',
      given: { latest: { version: '528u01' } },
      back: true,
      said:
        'REFUSED release testops in namespace testops has changed since this run: revision 2 has a different ' +
        'chart or different values. Undo would also revert those changes',
    },
  ])('$what', async ({ given, back, said }) => {
    const deployment = released(given)
    if (deployment.release.revisions.length > 1) deployment.notes.push('helm it')
    expect(await told(upgrade, deployment, { back })).toBe(said)
  })

  test('where this run noted that it put nothing there, what is there now is of others', async () => {
    const deployment = released({ latest: { version: '528u01' } })
    deployment.notes.push('helm none')
    expect(await told(upgrade, deployment, { back: true })).toBe(null)
  })
})

describe('a values file', () => {
  const changed =
    'REFUSED somebody else has changed version in /srv/values.yaml: the file has neither the old value nor the ' +
    'one that this run sets'

  test.each([
    { what: 'as it was seen', version: '526u03', forth: null, back: null },
    { what: 'as it was to be', version: '527u01', forth: null, back: null },
    { what: 'as somebody else has it', version: '528u01', forth: changed, back: changed },
  ])('$what', async ({ version, forth, back }) => {
    const deployment = (): FakeDeployment => fakeDeployment({ files: fileWorld({ '/srv/values.yaml': { version } }) })
    expect([await told(edit, deployment()), await told(edit, deployment(), { back: true })]).toEqual([forth, back])
    // of a step that is not on record as done nothing is taken back that is not there
    expect(await told(edit, deployment(), { back: true, performed: false })).toBe(null)
  })
})

describe('a setting', () => {
  test.each([
    ['as it was seen', '1', null],
    ['as it was to be', '2', null],
    [
      'as somebody else has it',
      '3',
      "REFUSED somebody else has changed A in the service's settings: it is no longer 1",
    ],
    ['that is gone', null, "REFUSED somebody else has changed A in the service's settings: it is no longer 1"],
  ])('%s', async (_, value, said) => {
    const deployment = fakeDeployment()
    if (value !== null) deployment.settings.set('A', value)
    expect(await told(setting, deployment)).toBe(said)
  })
})

test.each([
  ['may be stopped', async () => undefined, null],
  ['may not be stopped', async () => Promise.reject(new AdminError('FORBIDDEN', 'no right')), 'FORBIDDEN no right'],
  ['tells nothing beforehand', undefined, null],
])('a service that %s', async (_, tryStop, said) => {
  const deployment = fakeDeployment()
  const service = await deployment.control.service()
  const control = { ...deployment.control, service: async () => ({ ...service, ...(tryStop && { tryStop }) }) }
  expect(await failureOf(handlerOf(stop).foresee!(stop, workshopOf(deployment, { control })))).toBe(said)
  expect(deployment.service).toBe('running')
})
