import { describe, expect, test } from 'vitest'
import type { IntegrationStep } from '../../src/core/external-system.ts'
import { checked, integrationExitCode, integrationText } from '../../src/output/integration.ts'
import type { CheckedIntegration } from '../../src/output/integration.ts'
import { plainScreen } from '../../src/output/paint.ts'

function integration(steps: readonly IntegrationStep[], of: Partial<CheckedIntegration> = {}): CheckedIntegration {
  return checked({ name: null, url: 'https://tracker.example.org/rest', from: 'log', steps, certificate: null, ...of })
}

const fine: IntegrationStep = {
  step: 'connection',
  status: 'ok',
  message: '10.0.0.7:443 accepts connections (3 ms)',
  next: ['not shown'],
}
const soon: IntegrationStep = {
  step: 'certificate',
  status: 'warning',
  cause: 'connectivity',
  message: 'ends in 3 days',
  next: ['openssl s_client'],
}
const blank: IntegrationStep = {
  step: 'password',
  status: 'problem',
  cause: 'credentials',
  message: 'ends with 1 blank',
}
const unseen: IntegrationStep = { step: 'answer', status: 'unknown', message: 'no more calls', next: ['curl'] }

const text = (...integrations: CheckedIntegration[]): string =>
  integrationText({ schemaVersion: 1, deployment: 'prod', integrations }, plainScreen)

test('a line for each step, what to type of those that are not fine, then what follows: problems first', () => {
  expect(
    text(
      integration([fine, soon, unseen, blank, { step: 'sign-in', status: 'skipped', message: 'not tried' }], {
        name: 'jira',
        from: 'configuration',
      }),
      integration([fine]),
    ),
  ).toBe(`jira: https://tracker.example.org/rest (from the configuration)
✔ connection   10.0.0.7:443 accepts connections (3 ms)
! certificate  ends in 3 days
      openssl s_client
? answer       no more calls
      curl
✖ password     ends with 1 blank
- sign-in      not tried

Credentials: enter them again in the integration's settings, with no spaces or
invisible characters at either end.
    testops-admin explain integrations/credentials
Connectivity: the problem is the host name, network, proxy or certificate, not
the credentials.
    testops-admin explain integrations/reachable

https://tracker.example.org/rest (from the log)
✔ connection  10.0.0.7:443 accepts connections (3 ms)
`)
})

test('what a server says cannot move the cursor', () => {
  const hostile: IntegrationStep = {
    step: 'answer',
    status: 'problem',
    cause: 'api',
    message: "HTTP 400, '\u001b[2Jgone'",
  }
  expect(text(integration([hostile]))).not.toContain('\u001b')
})

describe('the exit code', () => {
  test.each<[string, readonly CheckedIntegration[], number]>([
    ['all is fine', [integration([fine])], 0],
    ['something may soon keep it', [integration([fine]), integration([soon])], 2],
    ['something cannot be told', [integration([soon]), integration([unseen])], 3],
    ['something keeps it', [integration([unseen]), integration([blank, soon])], 1],
    ['there is nothing to look at', [], 3],
  ])('%s', (_, integrations, expected) => {
    expect(integrationExitCode({ schemaVersion: 1, deployment: null, integrations })).toBe(expected)
  })
})
