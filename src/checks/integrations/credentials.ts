import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import { counted } from '../../core/format.ts'
import { outcomeOf, troubledCalls } from '../../domain/integrations/calls.ts'
import { command } from '../../core/shell-command.ts'

const refusals: ReadonlyMap<number | null, string> = new Map([
  [401, 'HTTP 401: wrong credentials'],
  [403, 'HTTP 403: the user has no permission for this, or is temporarily blocked from signing in'],
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
      none: `no 401 or 403 answer in ${counted(calls.log.records.length, 'record')} of ${logs.target}`,
      over: 'every refused call was followed by one that the external system accepted, or by a restart of the service',
      said: ({ host, last }) => `${host ?? 'an external system'}: ${refusals.get(last.status)!}`,
      remedy: {
        text:
          "Enter the user and the password (or the token) again in the integration's settings, without spaces " +
          'before or after them. In the user field, some integrations expect a user name, others an e-mail address.',
        commands: [
          ...urls.slice(0, 5).map(
            (url) =>
              command`read -r NAME && read -rs PASSWORD && printf %s "$PASSWORD" | testops-admin check-integration -d
                  {deployment} --url ${url} --user "$NAME" --password-from @-   # asks for the user and
                  the password, and checks both for stray spaces; to sign in once, add --sign-in`,
          ),
          'testops-admin doctor -d {deployment} --only integrations/credentials',
        ],
      },
    })
  },
})
