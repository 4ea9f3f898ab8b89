import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'

export const imageVersionMismatch: Fault = {
  id: 'image-version-mismatch',
  kind: 'fault',
  title: "the image's tag and the declared version disagree",
  repair: 'correct the configuration so that they agree, then restart the service',
  cases: [
    {
      variant: null,
      made: 'the configuration declares build 527u01, but its image has the tag 526u03',
      expected: { exitCode: 2, problems: { 'service/image': 'warning' }, allowedConsequences: [] },
      changes: { declared: { image: 'registry.example.org/testops/testops:526u03' } },
      apply: nothing,
      revert: nothing,
    },
  ],
}
