import { currentTime } from '../../core/local-time.ts'
import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import type { InstanceHealth, ServiceHealth } from '../../core/sources.ts'
import { chartProbes } from '../../knowledge/chart.ts'
import { apiFails } from '../support/consequences.ts'
import { counted, listed, span } from '../../core/format.ts'

export const serviceReady = defineCheck({
  id: 'service/ready',
  title: 'service is ready to serve',
  reads: ['service'],
  explains: apiFails,
  remedy: {
    text:
      "Read what the service's probe reports, then look for the reason in the service's log. A service that is not " +
      'ready gets no requests.',
    commands: ['{status}', '{logs}', 'testops-admin explain service/ready'],
  },
  async run({ service }): Promise<Outcome> {
    const { wanted, instances, said } = await service.health()
    if (wanted === null)
      return { status: 'skipped', reason: 'this platform does not check whether the service is ready' }
    if (wanted === 0) return { status: 'skipped', reason: 'the service is stopped on purpose' }
    const ready = instances.filter((it) => it.isReady === true)
    const waiting = instances.filter(isNotReady)
    const young = waiting.filter(isYoung)
    const missing = wanted - instances.length
    // without any instance, the service does not run at all
    if (missing > 0 && instances.length > 0 && waiting.length === young.length) {
      const { detail } = await service.status()
      const message = `${missing} of ${wanted} replicas of the service ${missing === 1 ? 'is' : 'are'} missing`
      return {
        status: 'problem',
        severity: 'warning',
        findings: [
          { message, evidence: [...evidenceOf({ wanted, instances, said }, service.commands.status), detail] },
        ],
      }
    }
    if (waiting.length === young.length)
      return { status: 'ok', detail: [`${ready.length} of ${wanted} ready`, ...young.map(starts)].join('; ') }
    const late = waiting.filter((it) => !isYoung(it))
    const since = late.map(({ name, startedAt }) =>
      startedAt === null ? name : `${name} (started ${span(currentTime() - startedAt.getTime())} ago)`,
    )
    return {
      status: 'problem',
      severity: ready.length === 0 ? 'error' : 'warning',
      findings: [
        {
          message:
            `${counted(late.length, 'instance')} of the service ${late.length === 1 ? 'is' : 'are'} not ready: ` +
            `${listed(since, 3)}; ready: ${ready.length} of ${wanted}`,
          evidence: evidenceOf({ wanted, instances, said }, service.commands.status),
        },
      ],
    }
  },
})

/** True if it runs and its probe says no. One that does not run is another matter. */
function isNotReady({ isUp, isReady, waits }: InstanceHealth): boolean {
  return isUp && isReady === false && waits === null
}

/** True if it may still be starting. */
function isYoung({ startedAt }: InstanceHealth): boolean {
  return startedAt !== null && currentTime() - startedAt.getTime() < chartProbes.startupMs
}

function starts({ name, startedAt }: InstanceHealth): string {
  return `${name} started ${span(currentTime() - startedAt!.getTime())} ago`
}

function evidenceOf({ instances, said }: ServiceHealth, command: string): string[] {
  const states = instances
    .slice(0, 5)
    .map(
      ({ name, isUp, isReady, restarts }) =>
        `${name}: ${isUp ? 'running' : 'not running'}, ${isReady === true ? 'ready' : 'not ready'}, ` +
        `${counted(restarts, 'restart')}`,
    )
  return [command, ...states, ...said]
}
