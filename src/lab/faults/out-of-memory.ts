import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'
import { restartLabService, waitUntilEnded } from '../service.ts'
import { serviceFails } from './consequences.ts'

export const outOfMemory: Fault = {
  id: 'out-of-memory',
  kind: 'fault',
  title: 'the service runs out of memory and exits',
  repair: 'give it more memory: testops-admin explain service/crashes',
  cases: [
    {
      variant: null,
      made: 'JAVA_TOOL_OPTIONS limits the JVM to 64 MB; the service is restarted and exits',
      expected: {
        exitCode: 1,
        problems: { 'service/crashes': 'error' },
        allowedConsequences: serviceFails.filter((id) => id !== 'service/crashes'),
      },
      changes: { environment: { JAVA_TOOL_OPTIONS: '-Xmx64m -XX:+ExitOnOutOfMemoryError' } },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilEnded(lab)
      },
      revert: nothing,
    },
  ],
}
