import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import { grouped } from '../../core/format.ts'
import { outcomeOf, troubledCalls } from '../../domain/integrations/calls.ts'
import { command } from '../../core/shell-command.ts'

const refusals: ReadonlyMap<number | null, string> = new Map([
  [401, 'HTTP 401: wrong credentials'],
  [403, 'HTTP 403: the user may not do this, or may not sign in for now'],
])

export const integrationsCredentials = defineCheck({
  id: 'integrations/credentials',
  title: 'external systems accept the credentials of integrations',
  reads: ['logs'],
  wants: ['service'],
  // an operator who looks into this has debug output on
  explains: ['integrations/debug-logging'],
  async run({ logs, service }): Promise<Outcome> {
    const calls = await troubledCalls({ logs, service }, ({ status }) => refusals.has(status))
    const urls = calls.troubles.flatMap(({ last: { url } }) => url ?? [])
    return outcomeOf(calls, logs, {
      none: `no answer 401 or 403 in ${grouped(calls.log.records.length)} records of ${logs.target}`,
      over: 'all refused calls are accepted again, or were refused before the last start',
      said: ({ host, last }) => `${host ?? 'an external system'}: ${refusals.get(last.status)!}`,
      remedy: {
        text:
          "Enter user and password (or token) again in the integration's settings, without blanks at either end. " +
          'Some integrations need a name as the user, others an e-mail address.',
        commands: [
          ...urls
            .slice(0, 5)
            .map(
              (url) =>
                command`read -r NAME && read -rs PASSWORD && printf %s "$PASSWORD" | testops-admin check-integration -d {deployment} --url ${url} --user "$NAME" --password-from @-   # asks for both. Add --sign-in to sign in once`,
            ),
          'testops-admin doctor -d {deployment} --only integrations/credentials',
        ],
      },
    })
  },
})
