import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import type { ServiceSource } from '../../core/sources.ts'
import type { LoggedCall } from '../../knowledge/integration-log.ts'
import { isDebug } from '../../knowledge/settings.ts'
import { firstLine, grouped } from '../../core/format.ts'
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
    const urls = calls.troubles.flatMap(({ host, last: { url } }) => url ?? (host === null ? [] : `https://${host}`))
    return outcomeOf(calls, logs, {
      none: `neither HTTP FAILED nor 400 bad request in ${grouped(calls.log.records.length)} records of ${logs.target}`,
      over: 'all failed calls now succeed, or failed before the last start',
      said: (trouble) => saidOf(trouble, calls.shown),
      remedy: {
        text:
          'Check whether the service reaches the external system, and whether an update of either changed the API that the ' +
          'integration calls. Debug output of integrations shows which call fails.',
        commands: [
          ...((await isTold(had(service), deployment))
            ? []
            : ['testops-admin set-env -d {deployment} --integration-debug on   # restarts the service']),
          ...urls.slice(0, 5).map((url) => command`curl -i ${url}   # where the service runs`),
          ...urls.slice(0, 5).map((url) => command`testops-admin check-integration -d {deployment} --url ${url}`),
          'testops-admin doctor -d {deployment} --only integrations/answers',
        ],
      },
    })
  },
})

/** True if a call failed in a way that this check is about: a host that does not resolve has its own check. */
function isTrouble({ status, failure }: LoggedCall): boolean {
  return status === 400 || (failure !== null && !/UnknownHostException/.test(failure))
}

function saidOf({ host, last }: Trouble, shown: Calls['shown']): string {
  const what = last.failure === null ? 'HTTP 400 (bad request)' : `HTTP FAILED: ${firstLine(shown(last.failure), 160)}`
  return `${host ?? 'a system that the log does not name'}: ${what}`
}

/** True if debug output of integrations is on, or if that is unknown. */
async function isTold(service: ServiceSource | null, deployment: Deployment): Promise<boolean> {
  const told =
    service &&
    (await tolerant(readSettings(service, deployment).then((it) => isDebug(it.value(it.names.integrationLogLevel)))))
  return told ?? true
}
