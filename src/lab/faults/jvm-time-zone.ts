import { springSettings } from '../../knowledge/settings.ts'
import { removeSessions } from '../access/sessions.ts'
import type { Fault } from '../fault.ts'
import { restartLabService, waitUntilServing } from '../service.ts'
import { signInUsers } from '../users.ts'

const zone = 'Asia/Tokyo'

export const jvmTimeZone: Fault = {
  id: 'jvm-time-zone',
  kind: 'healthy',
  title: "the service's JVM is in a different time zone from everything else",
  repair: 'nothing to do',
  cases: [
    {
      variant: null,
      made: `TZ is set to ${zone} in the settings and the configuration, the service is restarted, and users sign in`,
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      changes: { environment: { [springSettings.timeZone]: zone }, declared: { timeZone: zone } },
      needs: { serving: true },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilServing(lab)
        await signInUsers(lab, 3)
      },
      revert: removeSessions,
    },
  ],
}
