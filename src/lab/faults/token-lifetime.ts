import { defaultVendor, settingNames } from '../../knowledge/settings.ts'
import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'

const { tokenValiditySeconds } = settingNames(defaultVendor)

export const tokenLifetime: Fault = {
  id: 'token-lifetime',
  kind: 'fault',
  title: 'Bearer tokens live longer or shorter than the settings say',
  repair: 'testops-admin set-env --token-lifetime SECONDS; if the setting is right, testops-admin service restart',
  cases: [
    {
      variant: null,
      made: `${tokenValiditySeconds} is raised to 7200 in the settings, but the service is not restarted`,
      expected: {
        exitCode: 2,
        problems: { 'service/settings': 'warning', 'api/token-lifetime': 'warning' },
        allowedConsequences: [],
      },
      repairedBy: ['set-env', '--token-lifetime', '3600'],
      changes: { environment: { [tokenValiditySeconds]: '7200' } },
      apply: nothing,
      revert: nothing,
    },
  ],
}
