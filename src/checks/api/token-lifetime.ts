import { defineCheck } from '../../core/check.ts'
import type { Remedy } from '../../core/check.ts'
import type { AccessToken } from '../../core/sources.ts'
import { defaultVendor, settingDefaults, settingNames } from '../../knowledge/settings.ts'
import type { Vendor } from '../../knowledge/settings.ts'
import { span } from '../support/format.ts'
import { readSettings } from '../support/service.ts'

/** Both times of a token are cut to whole seconds. */
const toleranceSeconds = 2

export const apiTokenLifetime = defineCheck({
  id: 'api/token-lifetime',
  title: 'Bearer tokens live as long as the settings say',
  reads: ['api', 'service'],
  remedy: setting(defaultVendor),
  async run({ api, service }, deployment) {
    const [token, settings] = await Promise.all([api.accessToken(), readSettings(service, deployment)])
    const name = settings.names.tokenValiditySeconds
    const remedy = setting(settings.vendor)
    const life = lifeOf(token)
    if (life === null) return { status: 'skipped', reason: 'the Bearer token does not say how long it lives' }
    const written = settings.value(name)
    const wanted = written === null ? settingDefaults.tokenValiditySeconds : Number(written.trim() === '' ? NaN : written)
    const shown = written === null ? `${name} is not set, so ${wanted} s` : `${name}=${written}`
    const evidence = [`exp - iat of the access_token: ${life} s`, `${shown} (${service.commands.settings})`]
    if (!Number.isInteger(wanted) || wanted <= 0) {
      const message = `${name} is not a number of seconds: ${written ?? ''}; Bearer tokens live for ${span(life * 1000)}`
      return { status: 'problem', severity: 'warning', findings: [{ message, evidence }], remedy }
    }
    if (Math.abs(life - wanted) <= toleranceSeconds) return { status: 'ok', detail: `${life} s, as set` }
    const message = `Bearer tokens live for ${life} s, the settings say ${wanted} s: the service runs with other settings than it would start with`
    return { status: 'problem', severity: 'warning', findings: [{ message, evidence }], remedy }
  },
})

function setting(vendor: Vendor): Remedy {
  return {
    text: 'Set the life that is meant, in seconds; the service reads it at its start.',
    commands: [
      `testops-admin set-env -d {deployment} ${settingNames(vendor).tokenValiditySeconds}=${settingDefaults.tokenValiditySeconds}`,
      '{restart}',
    ],
    risk: 'The service restarts.',
  }
}

/** Seconds between issue and expiry: from the token itself, else from the answer that brought it (SPEC.md 5). */
function lifeOf({ issuedAt, expiresAt, expiresInSeconds }: AccessToken): number | null {
  return issuedAt !== null && expiresAt !== null ? expiresAt - issuedAt : expiresInSeconds
}
