import { defineCheck } from '../../core/check.ts'
import type { Remedy } from '../../core/check.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { InstanceOwner } from '../../core/sources.ts'
import { editConfiguration } from '../../domain/by-hand.ts'
import { apiFails } from '../support/consequences.ts'
import { listed, moment } from '../../core/format.ts'

export const serviceRunning = defineCheck({
  id: 'service/running',
  title: 'service runs',
  reads: ['service'],
  guards: 'service',
  explains: apiFails,
  explainsUnopened: false,
  unopened: ({ code }, deployment) => ({
    text: isConfiguration(code)
      ? 'Correct the configuration entry that the message names. Then check again.'
      : 'The state of the service could not be read. The service may be running. Check the unit or the commands ' +
        'under `host` in the configuration, and whether your user has permission to use them.',
    commands: [
      ...(isConfiguration(code) ? [editConfiguration(deployment)] : ['{status}']),
      'testops-admin doctor -d {deployment} --only service/running',
    ],
  }),
  remedy: {
    text: 'Start the service. If it does not stay up, its log says why.',
    commands: ['testops-admin service start -d {deployment}', '{status}', '{logs}'],
  },
  async run({ service }) {
    const { state, detail, instances, ownedByOthers = [], evidence: seen = [] } = await service.status()
    if (state === 'running') {
      const named = instances.map(({ name, startedAt }) => (startedAt ? `${name} since ${moment(startedAt)}` : name))
      const owners = ownedByOthers.map(
        (it) =>
          `${it.name} owns ${listed(it.instances, 3)}, so testops-admin does not stop or start ` +
          `${it.instances.length === 1 ? 'that instance' : 'those instances'}`,
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

/** Returns the remedy for pods with another owner: what is scaled up would run beside those. */
function throughOwner(owners: readonly InstanceOwner[]): Remedy {
  return {
    text:
      'Find out why the service stopped. Then start it through the owner of its pods: ' +
      `${owners.map(({ name }) => name).join(', ')}.`,
    commands: ['{status}', '{logs}', ...owners.flatMap(({ proof }) => proof)],
  }
}

function isConfiguration(code: ErrorCode): boolean {
  return code === 'CONFIGURATION' || code === 'SECRET_MISSING'
}
