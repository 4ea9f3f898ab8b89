import { defineCheck } from '../../core/check.ts'
import type { Remedy } from '../../core/check.ts'
import type { ErrorCode } from '../../core/error.ts'
import { logSignatures, stolenFrom } from '../../knowledge/log-signatures.ts'
import { firstLine, listed, moment } from '../support/format.ts'
import { recentRecords } from '../support/service.ts'
import { had } from '../support/wanted.ts'

export const serviceRunning = defineCheck({
  id: 'service/running',
  title: 'service runs',
  reads: ['service'],
  wants: ['logs'],
  guards: 'service',
  explains: ['api/reachable', 'api/token', 'api/roles', 'api/token-lifetime', 'api/latency', 'trees/migrated'],
  explainsUnopened: false,
  unopened: ({ code }) => ({
    text: isConfiguration(code)
      ? 'Correct the configuration in what is named; then look again.'
      : 'The platform could not be asked for the service, which may well run: see whether `host` in the configuration names the right unit or commands, and whether this user may ask for it.',
    commands: [...(isConfiguration(code) ? [] : ['{status}']), 'testops-admin doctor -d {deployment} --only service/running'],
  }),
  remedy: { text: 'Read why it ended, then start it.', commands: ['{status}', '{logs}', '{start}'] },
  async run({ service, logs }) {
    const { state, detail, instances, evidence: seen = [] } = await service.status()
    if (state === 'running') {
      const named = instances.map(({ name, startedAt }) => (startedAt ? `${name} since ${moment(startedAt)}` : name))
      return { status: 'ok', detail: named.length > 0 ? listed(named) : detail }
    }
    const records = await recentRecords(logs)
    const last = records.findLast(({ level, text }) => level === 'ERROR' || level === 'FATAL' || logSignatures.cpuLevel.test(text))
    const source = had(logs)
    const evidence = [
      service.commands.status,
      detail,
      ...seen,
      ...(last && source ? [service.commands.logs, firstLine(last.text, 300)] : []),
    ]
    const message = state === 'failed' ? `the service has failed: ${detail}` : `the service is stopped: ${detail}`
    const holder = stolenFrom(records.map(({ text }) => text))
    if (holder === null) return { status: 'problem', severity: 'error', findings: [{ message, evidence }] }
    const stolen = `its last start released a change-log lock that ${holder} held, who may still be migrating`
    return { status: 'problem', severity: 'error', findings: [{ message: `${message}; ${stolen}`, evidence }], remedy: letItEnd }
  },
})

/** Started at once, it would take the lock that is free now, and migrate beside the other. */
const letItEnd: Remedy = {
  text: 'Keep it stopped until the other migration has ended; only then start it.',
  commands: ['testops-admin explain lock-stolen', '{logs}', '{start}'],
  risk: 'Two migrations at once can leave the database in a state that none of them knows.',
}

function isConfiguration(code: ErrorCode): boolean {
  return code === 'CONFIGURATION' || code === 'SECRET_MISSING'
}
