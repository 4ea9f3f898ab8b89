import { images } from '../../knowledge/images.ts'
import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'
import { restartLabService, waitUntilServing } from '../service.ts'

const build = '526u03'

export const legacyTooEarly: Fault = {
  id: 'legacy-too-early',
  kind: 'fault',
  title: 'the image for older processors is declared, but this build has none',
  repair: 'testops-admin use-legacy-image --values FILE',
  cases: [
    {
      variant: null,
      made: `image ${images.legacy} is declared with build ${build}, which is too old to have it`,
      expected: { exitCode: 1, problems: { 'service/image': 'error' }, allowedConsequences: [] },
      changes: {
        declared: { image: `registry.example.org/testops/${images.legacy}:${build}`, build },
        machine: { image: images.legacy, build },
      },
      needs: { serving: true },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilServing(lab)
      },
      revert: nothing,
    },
  ],
}
