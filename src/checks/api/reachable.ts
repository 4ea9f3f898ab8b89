import { defineCheck } from '../../core/check.ts'
import type { Remedy } from '../../core/check.ts'
import { settingNames } from '../../knowledge/settings.ts'
import { editConfiguration } from '../../domain/by-hand.ts'
import { curl } from '../../domain/evidence.ts'
import { span } from '../../core/format.ts'
import { unopened } from '../support/unopened.ts'

const kept =
  '`url` in the configuration or, if that is not set, ' +
  `${settingNames({ prefix: '…', package: '…' }).endpoint} in {settings}`
const look: Pick<Remedy, 'text' | 'commands'> = {
  text:
    'Check that the service is running, and read the end of its log. If the service is fine, check any reverse ' +
    'proxy in front of it.',
  commands: ['{status}', '{logs}'],
}

export const apiReachable = defineCheck({
  id: 'api/reachable',
  title: "service's API answers",
  reads: ['api'],
  guards: 'api',
  explains: ['api/token', 'api/roles', 'api/token-lifetime', 'api/latency', 'trees/migrated'],
  unopened: unopened('api/reachable', {
    kept,
    secret: 'apiToken',
    tls: { scheme: 'the address of the service (http:// is not encrypted, https:// is)', key: 'ca: FILE' },
    refused: () => look,
    unwell: look,
    said: {},
  }),
  async run({ api }, deployment) {
    const { httpStatus, status, durationMs } = await api.health()
    if (httpStatus === 200 && status !== null)
      return { status: 'ok', detail: `${api.target} answers ${status} after ${span(durationMs)}` }
    const said = `HTTP ${httpStatus}, ${status === null ? 'without a health status' : `status ${status}`}`
    const isOther = status === null && httpStatus < 500
    // a proxy may guard that path alone
    const found = isOther ? await api.recognized() : null
    if (found?.isService)
      return {
        status: 'ok',
        detail:
          `${api.target} answers: ${found.shown}; the service's health cannot be checked from this machine ` +
          `(${said})`,
      }
    const message = isOther
      ? `${api.target} answers, but does not look like the service: ${said}. Is this the right address?`
      : `${api.target} answers, but is unhealthy: ${said}`
    const again = 'testops-admin doctor -d {deployment} --only api/reachable'
    return {
      status: 'problem',
      severity: 'error',
      findings: [
        { message, evidence: [curl(api.target, '/api/management/health'), said, ...(found ? [found.shown] : [])] },
      ],
      remedy: isOther
        ? {
            text:
              `Correct the address (${kept}), or check the proxy that answers at this ` +
              `address.${pathHint(api.target)}`,
            commands: [curl(api.target, '/api/management/health'), editConfiguration(deployment), again],
          }
        : {
            text: "Solve the other reported problems first. If there are no others, read the service's log.",
            commands: ['{logs}', '{status}', again],
          },
    }
  },
})

/** Returns a hint if the address has a path: an address copied from a browser is that of a page. */
function pathHint(base: string): string {
  const { origin, pathname } = new URL(base)
  return pathname === '/' ? '' : ` If the address of the service does not include ${pathname}, use ${origin}.`
}
