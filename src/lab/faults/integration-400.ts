import { integrate, integrationChanges, removeIntegration, trackerUser } from '../external-system/control.ts'
import type { Fault } from '../fault.ts'

export const integration400: Fault = {
  id: 'integration-400',
  kind: 'fault',
  title: 'an integration calls an API that the external system no longer offers',
  repair: "compare both versions, and correct the integration's settings: testops-admin explain integrations/answers",
  cases: [
    {
      variant: null,
      made: 'an integration calls an external system that answers 400: since its update it requires another header; debug output for integrations is on',
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
