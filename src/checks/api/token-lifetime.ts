import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import type { AccessToken } from '../../core/sources.ts'
import { settingDefaults } from '../../knowledge/settings.ts'
import { byHand } from '../../domain/by-hand.ts'
import { settingLines, tokenExchange } from '../../domain/evidence.ts'
import { span } from '../../core/format.ts'
import { readSettings } from '../../domain/service.ts'
import { command } from '../../core/shell-command.ts'

/** Seconds of tolerance: both times of a token are cut to whole seconds. */
const toleranceSeconds = 2
/** Seconds of tolerance for a dated answer: a proxy that dates it has a clock of its own. */
const datedToleranceSeconds = 60

export const apiTokenLifetime = defineCheck({
  id: 'api/token-lifetime',
  title: 'Bearer tokens live as long as the settings say',
  reads: ['api', 'service'],
  async run({ api, service }, deployment): Promise<Outcome> {
    const [token, settings] = await Promise.all([api.accessToken(), readSettings(service, deployment)])
    const name = settings.names.tokenValiditySeconds
    const life = lifeOf(token)
    if (life === null) return { status: 'skipped', reason: 'the Bearer token does not state its lifetime' }
    const written = settings.value(name)
    const wanted =
      written === null ? settingDefaults.tokenValiditySeconds : Number(written.trim() === '' ? NaN : written)
    const shown = written === null ? `${name} is not set (default: ${wanted} s)` : `${name}=${written}`
    const evidence = [
      tokenExchange(api.target),
      `the access_token lives for ${life.seconds} s (${life.shown})`,
      ...settingLines(service, name, shown),
    ]
    if (!Number.isInteger(wanted) || wanted <= 0) {
      const message =
        `${name}=${written ?? ''} is not a whole number of seconds above 0; Bearer tokens now live for ` +
        `${span(life.seconds * 1000)}`
      return {
        status: 'problem',
        severity: 'warning',
        findings: [{ message, evidence }],
        remedy: {
          text: `Set ${name} to the lifetime that you want for Bearer tokens, in seconds. This restarts the service.`,
          commands: [
            command`testops-admin set-env -d {deployment} --token-lifetime ${settingDefaults.tokenValiditySeconds}`,
            byHand('api/token-lifetime'),
          ],
          risk: 'The service restarts.',
        },
      }
    }
    if (Math.abs(life.seconds - wanted) <= life.toleranceSeconds)
      return { status: 'ok', detail: `${life.seconds} s, as set` }
    const message =
      `Bearer tokens live for ${life.seconds} s, but the settings say ${wanted} s: the running service uses ` +
      'a different value'
    return {
      status: 'problem',
      severity: 'warning',
      findings: [{ message, evidence }],
      remedy: {
        text:
          `If ${wanted} s is right, restart the service: it reads its settings when it starts. If not, set ` +
          `${name} to the right lifetime, which also restarts the service.`,
        commands: [
          'testops-admin service restart -d {deployment}',
          'testops-admin set-env -d {deployment} --token-lifetime SECONDS',
          'testops-admin doctor -d {deployment} --only api/token-lifetime',
        ],
        risk: 'The service restarts.',
      },
    }
  },
})

interface Life {
  seconds: number
  toleranceSeconds: number
  /** Where the times are from */
  shown: string
}

/**
 * Returns seconds between issue and expiry: from the token itself, else from the answer that brought it (SPEC.md 5).
 * Null if neither says.
 */
function lifeOf({ issuedAt, expiresAt, expiresInSeconds, answeredAt }: AccessToken): Life | null {
  if (issuedAt !== null && expiresAt !== null)
    return { seconds: expiresAt - issuedAt, toleranceSeconds, shown: 'exp - iat in the second part of the token' }
  if (expiresInSeconds !== null) return { seconds: expiresInSeconds, toleranceSeconds, shown: 'expires_in' }
  if (answeredAt === null || expiresAt === null) return null
  return {
    seconds: expiresAt - answeredAt,
    toleranceSeconds: datedToleranceSeconds,
    shown: 'the exp claim in the second part of the token, minus the Date header of the response',
  }
}
