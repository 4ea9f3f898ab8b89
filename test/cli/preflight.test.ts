import { expect, test } from 'vitest'
import type { DeclaredValues, UpgradeTarget } from '../../src/checks/support/preflight/service.ts'
import { upgradeStep } from '../../src/cli/preflight.ts'
import type { CheckReport } from '../../src/core/check.ts'
import type { Deployment } from '../../src/core/deployment.ts'
import { parseBuild } from '../../src/knowledge/builds.ts'
import { image } from '../fakes/index.ts'

const problem = (id: string): CheckReport => ({
  id,
  title: 'x',
  status: 'problem',
  severity: 'error',
  findings: [{ message: 'x', evidence: [] }],
  docs: 'x',
  durationMs: 1,
})
const cpu = [problem('service/cpu-level')]
const [standard, legacy] = [image(), image({ name: 'testops-legacy' })]
const values = { files: ['/srv/a.yaml'], path: 'testops' } as unknown as DeclaredValues

function step(
  platform: Deployment['platform'],
  label: string,
  of: { image?: typeof standard | null; reports?: readonly CheckReport[]; values?: DeclaredValues } = {},
): unknown {
  const target: UpgradeTarget = {
    label,
    build: parseBuild(label),
    broker: null,
    backupAt: null,
    freeBytes: null,
    ...(of.values && { values: of.values }),
  }
  const deployment = { name: 'prod', platform } as Deployment
  const upgrade = upgradeStep(of.reports ?? [], target, {
    image: of.image === undefined ? standard : of.image,
    deployment,
    command: platform === 'host' ? null : '{edit}',
  })
  return upgrade && [upgrade.text, ...upgrade.commands]
}

test('one step makes the upgrade, with the image that is needed', async () => {
  const steps = {
    'a build on a host': step('host', '528u01'),
    'a build on a host with old processors': step('host', '528u01', { reports: cpu }),
    'a version on a host': step('host', '5.28', { image: legacy }),
    'a version named after its year': step('host', '25.3.1'),
    'a build without the legacy image': step('host', '526u04', { image: legacy, reports: [problem('service/image')] }),
    'a build that needs no v3 without the legacy image': step('compose', '526u02', {
      image: legacy,
      reports: [problem('service/image')],
    }),
    'a build without an image that fits': step('host', '526u04', { reports: cpu }),
    'an image of somebody else': step('host', '528u01', { image: image({ name: 'ours' }) }),
    'an image that is not known': step('compose', '528u01', { image: null }),
    compose: step('compose', '5.28'),
    'compose with old processors': step('compose', '528u01', { reports: cpu }),
    'compose with old processors, for a version': step('compose', '5.28', { reports: cpu }),
    'a cluster': step('kubernetes', '528u01', { values }),
    'a cluster with old processors': step('kubernetes', '528u01', { reports: cpu }),
    'a cluster with old processors and named values': step('kubernetes', '5.28', { reports: cpu, values }),
  }
  await expect(`${JSON.stringify(steps, null, 2)}\n`).toMatchFileSnapshot('golden/preflight-steps.json')
})
