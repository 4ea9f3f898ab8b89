import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'
import { restartLabService, waitUntilEnded } from '../service.ts'
import { serviceFails } from './consequences.ts'

export const cpuWithoutV3: Fault = {
  id: 'cpu-without-v3',
  kind: 'fault',
  title: 'the processor lacks x86-64-v3, which the standard image needs',
  repair: 'testops-admin use-legacy-image --values FILE',
  cases: [
    {
      variant: null,
      made: "the service's machine gets a virtual processor without the flags of x86-64-v3, such as AVX2; the service is restarted",
      expected: { exitCode: 1, problems: { 'service/cpu-level': 'error' }, allowedConsequences: serviceFails },
      changes: { processor: 'x86-64-v2' },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilEnded(lab)
      },
      revert: nothing,
    },
  ],
}
