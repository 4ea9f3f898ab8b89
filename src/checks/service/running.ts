import { defineCheck } from '../../core/check.ts'
import type { ErrorCode } from '../../core/error.ts'
import { apiFails } from '../support/consequences.ts'
import { listed, moment } from '../support/format.ts'

export const serviceRunning = defineCheck({
  id: 'service/running',
  title: 'service runs',
  reads: ['service'],
  guards: 'service',
  explains: apiFails,
  explainsUnopened: false,
  unopened: ({ code }) => ({
    text: isConfiguration(code)
      ? 'Correct the configuration in what is named; then look again.'
      : 'The platform could not be asked for the service, which may well run: see whether `host` in the configuration names the right unit or commands, and whether this user may ask for it.',
    commands: [...(isConfiguration(code) ? [] : ['{status}']), 'testops-admin doctor -d {deployment} --only service/running'],
  }),
  remedy: { text: 'Read why it ended, then start it.', commands: ['{status}', '{logs}', '{start}'] },
  async run({ service }) {
    const { state, detail, instances, evidence: seen = [] } = await service.status()
    if (state === 'running') {
      const named = instances.map(({ name, startedAt }) => (startedAt ? `${name} since ${moment(startedAt)}` : name))
      return { status: 'ok', detail: named.length > 0 ? listed(named) : detail }
    }
    const message = state === 'failed' ? `the service has failed: ${detail}` : `the service is stopped: ${detail}`
    return { status: 'problem', severity: 'error', findings: [{ message, evidence: [service.commands.status, detail, ...seen] }] }
  },
})

function isConfiguration(code: ErrorCode): boolean {
  return code === 'CONFIGURATION' || code === 'SECRET_MISSING'
}
