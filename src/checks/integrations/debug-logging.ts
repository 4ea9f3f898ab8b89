import { defineCheck } from '../../core/check.ts'
import type { Remedy } from '../../core/check.ts'
import { defaultVendor, settingNames } from '../../knowledge/settings.ts'
import type { Vendor } from '../../knowledge/settings.ts'
import { readSettings } from '../support/service.ts'

export const integrationsDebugLogging = defineCheck({
  id: 'integrations/debug-logging',
  title: 'integrations log no debug output',
  reads: ['service'],
  remedy: removal(defaultVendor),
  async run({ service }, deployment) {
    const settings = await readSettings(service, deployment)
    const name = settings.names.integrationLogLevel
    const level = settings.value(name)
    if (level === null) return { status: 'ok', detail: `${name} is not set` }
    if (!/^(debug|trace|all)$/i.test(level.trim())) return { status: 'ok', detail: `${name}=${level}` }
    const message = `${name} is left at ${level.trim()}: the log grows and may hold what integrations send`
    return {
      status: 'problem',
      severity: 'warning',
      findings: [{ message, evidence: [service.commands.settings, `${name}=${level}`] }],
      remedy: removal(settings.vendor),
    }
  },
})

function removal(vendor: Vendor): Remedy {
  return {
    text: 'Take the setting away once the integration works; the service reads it at its start.',
    commands: [`testops-admin set-env -d {deployment} --unset ${settingNames(vendor).integrationLogLevel}`, '{restart}'],
    risk: 'The service restarts.',
  }
}
