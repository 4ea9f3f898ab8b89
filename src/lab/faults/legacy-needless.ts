import { images } from '../../knowledge/images.ts'
import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'
import { restartLabService, waitUntilServing } from '../service.ts'

export const legacyNeedless: Fault = {
  id: 'legacy-needless',
  kind: 'fault',
  title: 'the image for older processors runs, but no processor needs it',
  repair: 'testops-admin use-legacy-image --values FILE --revert',
  cases: [
    {
      variant: null,
      made: `image ${images.legacy} is declared and runs on a machine whose processors have x86-64-v3`,
      expected: { exitCode: 2, problems: { 'service/image': 'warning' }, allowedConsequences: [] },
      changes: {
        declared: { image: `registry.example.org/testops/${images.legacy}:527u01` },
        machine: { image: images.legacy },
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
