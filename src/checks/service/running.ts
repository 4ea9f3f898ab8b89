import { defineCheck } from '../../core/check.ts'
import type { Remedy } from '../../core/check.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { InstanceOwner } from '../../core/sources.ts'
import { editConfiguration } from '../support/by-hand.ts'
import { apiFails } from '../support/consequences.ts'
import { listed, moment } from '../support/format.ts'

export const serviceRunning = defineCheck({
  id: 'service/running',
  title: 'service runs',
  reads: ['service'],
  guards: 'service',
  explains: apiFails,
  explainsUnopened: false,
  unopened: ({ code }, deployment) => ({
    text: isConfiguration(code)
      ? 'Correct the configuration in what is named; then look again.'
      : 'The platform could not be asked for the service, which may well run: see whether `host` in the configuration names the right unit or commands, and whether this user may ask for it.',
    commands: [
      ...(isConfiguration(code) ? [editConfiguration(deployment)] : ['{status}']),
      'testops-admin doctor -d {deployment} --only service/running',
    ],
  }),
  remedy: {
    text: 'Start it. Where it does not stay up, its log says why.',
    commands: ['testops-admin service start -d {deployment}', '{status}', '{logs}'],
  },
  async run({ service }) {
    const { state, detail, instances, ownedByOthers = [], evidence: seen = [] } = await service.status()
    if (state === 'running') {
      const named = instances.map(({ name, startedAt }) => (startedAt ? `${name} since ${moment(startedAt)}` : name))
      const owners = ownedByOthers.map(
        (it) => `${it.name} owns ${listed(it.instances, 3)}, which this program neither stops nor starts`,
      )
      return { status: 'ok', detail: [named.length > 0 ? listed(named) : detail, ...owners].join('; ') }
    }
    const message = state === 'failed' ? `the service has failed: ${detail}` : `the service is stopped: ${detail}`
    return {
      status: 'problem',
      severity: 'error',
      findings: [{ message, evidence: [service.commands.status, detail, ...seen] }],
      ...(ownedByOthers.length > 0 && { remedy: throughOwner(ownedByOthers) }),
    }
  },
})

/** What is scaled up would run beside those. */
function throughOwner(owners: readonly InstanceOwner[]): Remedy {
  return {
    text: `Read why it ended, then start it through what owns its pods: ${owners.map(({ name }) => name).join(', ')}.`,
    commands: ['{status}', '{logs}', ...owners.flatMap(({ proof }) => proof)],
  }
}

function isConfiguration(code: ErrorCode): boolean {
  return code === 'CONFIGURATION' || code === 'SECRET_MISSING'
}
