import { setTimeout as sleep } from 'node:timers/promises'
import { defaultVendor, settingNames, springSettings } from '../../knowledge/settings.ts'
import { removeSessions } from '../access/sessions.ts'
import type { Fault } from '../fault.ts'
import { restartLabService, waitUntilServing } from '../service.ts'
import { signInUsers } from '../users.ts'

export const indexedSessions: Fault = {
  id: 'indexed-sessions',
  kind: 'healthy',
  title: 'an indexed session store keeps hashes 300 s longer than their sessions',
  repair: 'nothing to do',
  cases: [
    {
      variant: null,
      made: 'the service keeps indexed sessions that last one second; users sign in, and the second passes',
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      changes: {
        environment: {
          [springSettings.sessionRepositoryType]: 'indexed',
          [settingNames(defaultVendor).redisSessionTtl]: '1s',
        },
      },
      needs: { serving: true },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilServing(lab)
        await signInUsers(lab, 5)
        await sleep(1500)
      },
      revert: removeSessions,
    },
  ],
}
