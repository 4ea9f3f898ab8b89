import { traitsOf } from '../../knowledge/platforms.ts'
import { defineCheck } from '../../core/check.ts'
import type { Outcome, Remedy } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { Secret } from '../../core/secret.ts'
import type { DriftingSetting } from '../../core/sources.ts'
import { byHand } from '../../domain/by-hand.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { counted, listed } from '../../core/format.ts'
import { beginningWithoutSecrets } from '../../core/redaction/index.ts'

/** Errors that prevent a comparison, and say nothing about the service. */
const uncompared: readonly AdminError['code'][] = ['NOT_CONFIGURED', 'FORBIDDEN', 'USAGE', 'REFUSED']

export const serviceSettings = defineCheck({
  id: 'service/settings',
  title: 'service runs with its declared settings',
  reads: ['service'],
  async run({ service }, deployment): Promise<Outcome> {
    const found = await service.drift().catch((error: unknown) => {
      if (error instanceof AdminError && uncompared.includes(error.code)) return error
      throw error
    })
    if (found instanceof AdminError) return { status: 'skipped', reason: found.message }
    const { declaredIn, shown, settings } = found
    if (settings.length === 0) return { status: 'ok', detail: `the service runs with the settings in ${declaredIn}` }
    const names = settings.map(({ name }) => name)
    const message =
      `${counted(settings.length, 'setting')} in ${declaredIn} ${settings.length === 1 ? 'differs' : 'differ'} ` +
      `from what the service runs with: ${listed(names)}`
    return {
      status: 'problem',
      severity: 'warning',
      findings: [{ message, evidence: [shown, ...settings.slice(0, 10).map(line)] }],
      remedy: remedyFor(deployment, shown),
    }
  },
})

/** Returns a setting that differs. Of a secret it says only that it differs. */
function line({ name, declared, runs }: DriftingSetting): string {
  const isSecret = declared instanceof Secret || runs instanceof Secret
  if (isSecret)
    return (
      `${name}: ${declared === null ? 'no longer declared' : runs === null ? 'missing' : 'another value'} (a ` +
      'secret)'
    )
  return `${name}: declared ${inWords(declared)}, runs with ${inWords(runs)}`
}

function inWords(value: string | Secret | null): string {
  return value === null ? 'nothing' : `\`${beginningWithoutSecrets(String(value), 100)}\``
}

function remedyFor(deployment: Deployment, shown: Suggestion): Remedy {
  const { applying } = traitsOf(deployment)
  if (applying !== null) {
    return {
      text: applying.text,
      commands: [shown, ...applying.commands, byHand('service/settings')],
      risk: 'The service restarts.',
    }
  }
  return {
    text:
      'If the declared settings are right, restart the service to apply them. If not, declare the values that ' +
      'the service runs with.',
    commands: ['testops-admin service restart -d {deployment}', byHand('service/settings')],
    risk: 'The service restarts.',
  }
}
