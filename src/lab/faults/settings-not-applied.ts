import { springSettings } from '../../knowledge/settings.ts'
import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'

export const settingsNotApplied: Fault = {
  id: 'settings-not-applied',
  kind: 'fault',
  title: 'settings were changed, but the service was not restarted',
  repair: 'testops-admin service restart',
  cases: [
    {
      variant: null,
      made: `${springSettings.hikariConnectionTimeout} is changed in the environment file, but the service is not restarted`,
      expected: { exitCode: 2, problems: { 'service/settings': 'warning' }, allowedConsequences: [] },
      changes: { environment: { [springSettings.hikariConnectionTimeout]: '1500' } },
      apply: nothing,
      revert: nothing,
    },
  ],
}
