import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import type { LoggedRequest } from '../../core/sources.ts'
import { isPath } from '../../knowledge/api.ts'
import { webSession } from '../../knowledge/sessions.ts'
import { inAccessLog, lastDay, over, senderOf } from '../support/access-log.ts'
import { byHand } from '../../domain/by-hand.ts'
import { curl } from '../../domain/evidence.ts'
import { command } from '../../core/shell-command.ts'
import { had, notConfigured } from '../../domain/wanted.ts'

const { loginPage, signIn } = webSession

/**
 * Judges what the proxy answered to browsers. The primary sign-in method does not show from outside. Requesting the
 * page would leave a session in the store on each run.
 */
export const apiSystemLogin = defineCheck({
  id: 'api/system-login',
  title: 'built-in administrator has a sign-in page',
  reads: [],
  wants: ['api', 'accessLog'],
  async run({ api, accessLog }): Promise<Outcome> {
    const base = had(api)?.target ?? null
    const page = base === null ? `${loginPage} of the web interface` : `${base}${loginPage}`
    const rule =
      'if an identity provider (LDAP, SAML 2.0, OpenID Connect) is the primary sign-in method, the built-in ' +
      `administrator signs in at ${page}`
    const skipped = (why: string): Outcome => ({
      status: 'skipped',
      reason: `${rule}; cannot tell whether the proxy lets that page through: ${why}`,
    })
    if (accessLog instanceof AdminError) {
      if (notConfigured(accessLog)) return skipped(accessLog.message)
      throw accessLog
    }
    const day = await lastDay(accessLog)
    if ('reason' in day) return skipped(day.reason)
    const views = day.requests.filter(isView)
    const reached = views.filter(({ status }) => (status >= 200 && status < 300) || status === 304)
    if (reached.length > 0)
      return {
        status: 'ok',
        detail: `the proxy lets ${page} through: ${over(reached, 'request')}; ${rule.replace(` at ${page}`, ' there')}`,
      }
    const refused = views.filter(isRefused)
    const last = refused.at(-1)
    if (!last) return skipped(`nobody opened that page in ${day.where}`)
    return {
      status: 'problem',
      severity: 'warning',
      findings: [
        {
          message:
            `the proxy does not let ${page} through: ${over(refused, 'request')}, all redirected or refused ` +
            `(${last.status}, ${senderOf(last)})`,
          evidence: inAccessLog(accessLog, day, `GET.*[^i]${loginPage}`, isView, refused),
        },
      ],
      remedy: {
        text:
          `Let the proxy pass ${loginPage} and ${signIn} to the service, not to the identity provider. The ` +
          'built-in administrator is a local account of the service and can sign in only at the service itself.',
        commands: [
          command`sudo nginx -T | grep -nE -A5 ${`location.*${loginPage.split('/')[1]!}`}   # on the machine where the
            proxy runs`,
          ...(base === null ? [] : [curl(base, loginPage, '-sI')]),
          byHand('api/system-login'),
          'testops-admin doctor -d {deployment} --only api/system-login',
        ],
      },
    }
  },
})

function isView({ method, path }: LoggedRequest): boolean {
  return method === 'GET' && isPath(path, loginPage) && !isPath(path, signIn)
}

/**
 * True if the page was redirected or refused. A service that is away, or a browser that left, says nothing about it.
 */
function isRefused({ status }: LoggedRequest): boolean {
  return (status > 300 && status < 400) || [401, 403, 404, 405, 410].includes(status)
}
