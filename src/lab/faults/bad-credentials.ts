import { integrate, integrationChanges, removeIntegration, trackerUser } from '../external-system/control.ts'
import type { Fault, FaultCase } from '../fault.ts'

function refusedWith(variant: string, made: string, password: string): FaultCase {
  return {
    variant,
    made: `an integration calls an external system ${made}; debug output for integrations is on`,
    expected: {
      exitCode: 1,
      problems: { 'integrations/credentials': 'error' },
      allowedConsequences: ['integrations/debug-logging'],
    },
    changes: integrationChanges(password),
    needs: { serving: true },
    apply: (lab) => integrate(lab, { password, wantsVersion: false, status: 401 }),
    revert: removeIntegration,
  }
}

export const badCredentials: Fault = {
  id: 'bad-credentials',
  kind: 'fault',
  title: "an external system refuses the integration's credentials",
  repair: "enter them again in the integration's settings; testops-admin check-integration shows stray spaces",
  cases: [
    refusedWith('wrong', 'with a wrong password', 'green-harbour-1'),
    refusedWith('blank', 'with the right password and a space after it', `${trackerUser.password} `),
  ],
}
