import { integrate, integrationChanges, removeIntegration, trackerUser } from '../external-system/control.ts'
import type { Fault } from '../fault.ts'

export const integration400: Fault = {
  id: 'integration-400',
  kind: 'fault',
  title: 'an external system has another API than its integration calls',
  repair:
    'compare the versions of both systems, and correct the settings of the integration: testops-admin explain integrations/answers',
  cases: [
    {
      variant: null,
      made: 'an integration talks to an external system that wants another header since its update and answers 400, and debug output of integrations is on',
      expected: {
        exitCode: 1,
        problems: { 'integrations/answers': 'error' },
        allowedConsequences: ['integrations/debug-logging'],
      },
      changes: integrationChanges(trackerUser.password),
      needs: { serving: true },
      apply: (lab) => integrate(lab, { password: trackerUser.password, wantsVersion: true, status: 400 }),
      revert: removeIntegration,
    },
  ],
}
