import { defaultVendor, settingNames } from '../../knowledge/settings.ts'
import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'
import { restartLabService, waitUntilServing } from '../service.ts'

const { integrationLogLevel } = settingNames(defaultVendor)

export const debugLeftOn: Fault = {
  id: 'debug-left-on',
  kind: 'fault',
  title: "the integrations' logger was left at debug",
  repair: 'testops-admin set-env --integration-debug off',
  cases: [
    {
      variant: null,
      made: `${integrationLogLevel} is set to debug, and the service is restarted`,
      expected: { exitCode: 2, problems: { 'integrations/debug-logging': 'warning' }, allowedConsequences: [] },
      repairedBy: ['set-env', '--integration-debug', 'off'],
      changes: { environment: { [integrationLogLevel]: 'debug' } },
      needs: { serving: true },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilServing(lab)
      },
      revert: nothing,
    },
  ],
}
