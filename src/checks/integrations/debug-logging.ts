import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import { isDebug } from '../../knowledge/settings.ts'
import { byHand } from '../../domain/by-hand.ts'
import { settingLines } from '../../domain/evidence.ts'
import { readSettings } from '../../domain/service.ts'

export const integrationsDebugLogging = defineCheck({
  id: 'integrations/debug-logging',
  title: 'integrations log no debug output',
  reads: ['service'],
  async run({ service }, deployment): Promise<Outcome> {
    const settings = await readSettings(service, deployment)
    const name = settings.names.integrationLogLevel
    const level = settings.value(name)
    if (level === null) return { status: 'ok', detail: `${name} is not set` }
    if (!isDebug(level)) return { status: 'ok', detail: `${name}=${level}` }
    const message = `${name} is still ${level.trim()}: the log grows and may contain data that integrations send`
    return {
      status: 'problem',
      severity: 'warning',
      findings: [{ message, evidence: settingLines(service, name, `${name}=${level}`) }],
      remedy: {
        text:
          `Remove the setting ${name} once the integration works. The service reads this setting only when it ` +
          'starts.',
        commands: [
          'testops-admin set-env -d {deployment} --integration-debug off',
          byHand('integrations/debug-logging'),
        ],
        risk: 'The service restarts.',
      },
    }
  },
})
