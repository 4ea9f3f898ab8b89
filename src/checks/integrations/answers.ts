import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import type { ServiceSource } from '../../core/sources.ts'
import type { LoggedCall } from '../../knowledge/log-signatures.ts'
import { isDebug } from '../../knowledge/settings.ts'
import { counted, firstLine } from '../../core/format.ts'
import { outcomeOf, troubledCalls } from '../../domain/integrations/calls.ts'
import type { Calls, Trouble } from '../../domain/integrations/calls.ts'
import { readSettings } from '../../domain/service.ts'
import { had, tolerant } from '../../domain/wanted.ts'
import { command } from '../../core/shell-command.ts'

export const integrationsAnswers = defineCheck({
  id: 'integrations/answers',
  title: 'external systems answer integrations',
  reads: ['logs'],
  wants: ['service'],
  // an operator who looks into this has debug output on
  explains: ['integrations/debug-logging'],
  async run({ logs, service }, deployment): Promise<Outcome> {
    const calls = await troubledCalls({ logs, service }, isTrouble)
    const isDebugOn = await debugState(had(service), deployment)
    const urls = calls.troubles.flatMap(({ host, last: { url } }) => url ?? (host === null ? [] : `https://${host}`))
    return outcomeOf(calls, logs, {
      none:
        `neither \`HTTP FAILED\` nor \`400 bad request\` in ${counted(calls.log.records.length, 'record')} of ` +
        logs.target,
      over: 'every failed call was followed by a successful one or by a restart of the service',
      said: (trouble) => saidOf(trouble, calls.shown),
      remedy: {
        text:
          'Check that the service can reach the external system. An update of the service or of the external system ' +
          `may have changed the API that the integration calls.${isDebugOn === true ? '' : toSeeCalls}`,
        commands: [
          ...(isDebugOn === false
            ? ['testops-admin set-env -d {deployment} --integration-debug on   # restarts the service']
            : []),
          ...urls.slice(0, 5).map((url) => command`curl -i ${url}   # run it where the service runs`),
          ...urls.slice(0, 5).map((url) => command`testops-admin check-integration -d {deployment} --url ${url}`),
          'testops-admin doctor -d {deployment} --only integrations/answers',
        ],
      },
    })
  },
})

/** Continues the remedy unless debug output of integrations is known to be on. */
const toSeeCalls = ' To see which call fails, turn on debug output for integrations.'

/** True if a call failed in a way that this check is about: a host that does not resolve has its own check. */
function isTrouble({ status, failure }: LoggedCall): boolean {
  return status === 400 || (failure !== null && !/UnknownHostException/.test(failure))
}

function saidOf({ host, last }: Trouble, shown: Calls['shown']): string {
  const what = last.failure === null ? 'HTTP 400 (bad request)' : `HTTP FAILED: ${firstLine(shown(last.failure), 160)}`
  return `${host ?? 'a system that the log does not name'}: ${what}`
}

/** Returns whether debug output of integrations is on; null if that is unknown. */
async function debugState(service: ServiceSource | null, deployment: Deployment): Promise<boolean | null> {
  return (
    service &&
    (await tolerant(readSettings(service, deployment).then((it) => isDebug(it.value(it.names.integrationLogLevel)))))
  )
}
