import { defaultVendor, settingNames } from '../../knowledge/settings.ts'
import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'

const { tokenValiditySeconds } = settingNames(defaultVendor)

export const tokenLifetime: Fault = {
  id: 'token-lifetime',
  kind: 'fault',
  title: 'Bearer tokens live for another time than the settings say',
  repair: 'testops-admin set-env, then restart the service',
  cases: [
    {
      variant: null,
      made: `${tokenValiditySeconds} is raised to 7200 in the settings, and the service is not restarted`,
      expected: { exitCode: 2, problems: { 'api/token-lifetime': 'warning' }, allowedConsequences: [] },
      changes: { environment: { [tokenValiditySeconds]: '7200' } },
      apply: nothing,
      revert: nothing,
    },
  ],
}
