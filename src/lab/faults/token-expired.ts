import { defaultVendor, settingNames } from '../../knowledge/settings.ts'
import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'
import { restartLabService, waitUntilServing } from '../service.ts'

const { tokenValiditySeconds } = settingNames(defaultVendor)
/** Times in a token are whole seconds, so a one-second token may have expired when it is issued. */
const lifeSeconds = 2

export const tokenExpired: Fault = {
  id: 'token-expired',
  kind: 'healthy',
  title: 'Bearer tokens expire while in use',
  repair: 'nothing to do: programs renew an expired token',
  cases: [
    {
      variant: null,
      made: `${tokenValiditySeconds} is set to ${lifeSeconds}, and the service is restarted: the token expires during longer work`,
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      changes: { environment: { [tokenValiditySeconds]: String(lifeSeconds) } },
      needs: { serving: true },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilServing(lab)
      },
      revert: nothing,
    },
  ],
}
