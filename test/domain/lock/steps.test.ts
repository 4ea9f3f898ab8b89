import { expect, test } from 'vitest'
import type { Deployment, PlatformName } from '../../../src/core/deployment.ts'
import { stepsByHand } from '../../../src/domain/lock/steps.ts'

const on = (platform: PlatformName): Deployment => ({
  name: 'prod',
  platform,
  vendor: { prefix: 'VENDOR', package: 'vendor' },
  timeZone: null,
})

const another = (platform: PlatformName): string[] =>
  stepsByHand(['another-process'], {
    deployment: on(platform),
    target: 'db.example.org:5432/testops',
    user: 'testops',
    lockedBy: 'testops-0 (10.0.0.7)',
  }).map(({ command }) => String(command))

test('a process beside the service is looked for on its machine', () => {
  expect(another('host')).toEqual(['ps -fC java   # on testops-0'])
})

test.each<PlatformName>(['compose', 'kubernetes'])('in %s, where nobody signs in, inside of what it runs in', (it) => {
  expect(another(it)).toEqual(['{processes}'])
})
