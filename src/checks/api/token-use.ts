import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome } from '../../core/check.ts'
import type { AccessLogSource, LoggedRequest } from '../../core/sources.ts'
import { apiUse, isPath } from '../../knowledge/api.ts'
import { settingDefaults } from '../../knowledge/settings.ts'
import { inAccessLog, lastDay, over, sameSender, senderOf } from '../support/access-log.ts'
import type { Day } from '../support/access-log.ts'
import { byHand } from '../../domain/by-hand.ts'
import { exchangeOf } from '../../domain/evidence.ts'
import { counted, listed, span } from '../../core/format.ts'
import { had } from '../../domain/wanted.ts'
import { typedOn } from '../../core/host.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/** Minimum calls of one program within a day to be named. */
const manyCalls = 10
/**
 * Maximum exchanges of one program within an hour. Jobs that start each time do fewer, and each makes other calls.
 */
const manyExchanges = 100
const hourMs = 3_600_000

export const apiTokenUse = defineCheck({
  id: 'api/token-use',
  title: 'API token is used only to get Bearer tokens',
  reads: ['accessLog'],
  wants: ['api'],
  async run({ accessLog, api }): Promise<Outcome> {
    const day = await lastDay(accessLog)
    if ('reason' in day) return { status: 'skipped', reason: day.reason }
    const { requests } = day
    const direct = sameSender(requests.filter(({ scheme }) => scheme === apiUse.apiToken)).filter(
      (calls) => calls.length >= manyCalls,
    )
    const storms = sameSender(requests.filter(isExchange)).filter((exchanges) => isStorm(exchanges, requests))
    const [first, ...others] = [
      ...direct.map((calls) => sendsItself(calls, day, accessLog)),
      ...storms.map((exchanges) => exchangesAgain(exchanges, day, accessLog)),
    ]
    if (first) {
      const service = had(api)
      return {
        status: 'problem',
        severity: 'warning',
        findings: [first, ...others],
        remedy: {
          text:
            'Make these programs exchange the API token for a Bearer token, and send the Bearer token on each ' +
            'call. They need a new Bearer token only when it expires (by default after ' +
            `${span(settingDefaults.tokenValiditySeconds * 1000)}). Calls with the API token itself can overload ` +
            'the service.',
          commands: [
            ...(service ? [exchangeOn(service.target, [...direct, ...storms][0]![0]!.client)] : []),
            'testops-admin token -d {deployment}   # prints a Bearer token for a script',
            byHand('api/token-use'),
            'testops-admin doctor -d {deployment} --only api/token-use',
          ],
        },
      }
    }
    const bearer = requests.filter(({ scheme }) => scheme === apiUse.bearer).length
    const self = requests.filter(({ scheme }) => scheme === apiUse.apiToken).length
    if (bearer + self === 0) return { status: 'skipped', reason: unrecorded(requests, accessLog) }
    return {
      status: 'ok',
      detail: `${counted(bearer, 'call')} with a Bearer token, ${self} with the API token itself, in ${day.where}`,
    }
  },
})

/** Returns what the program must do, as a command to try by hand on its own machine. */
function exchangeOn(base: string, client: string): Suggestion {
  return typedOn(client, command`read -rs TOKEN && ${nested(exchangeOf(base))}`)
}

function sendsItself(calls: readonly LoggedRequest[], day: Day, log: AccessLogSource): Finding {
  return {
    message:
      `${senderOf(calls[0]!)} sends the API token itself instead of a Bearer token obtained with it: ` +
      over(calls, 'call'),
    evidence: inAccessLog(log, day, `[" ]${apiUse.apiToken}[" ]`, ({ scheme }) => scheme === apiUse.apiToken, calls),
  }
}

function exchangesAgain(exchanges: readonly LoggedRequest[], day: Day, log: AccessLogSource): Finding {
  const { client } = exchanges[0]!
  const beside = counted(callsFrom(client, day.requests).length, 'call')
  return {
    message:
      `${senderOf(exchanges[0]!)} exchanges the API token again and again: ${over(exchanges, 'exchange')}; ` +
      `apart from these, ${client} made ${beside}`,
    evidence: inAccessLog(log, day, apiUse.exchange, ({ path }) => isPath(path, apiUse.exchange), exchanges),
  }
}

/**
 * True for more than `manyExchanges` within an hour, with at most two other calls for each. Jobs that exchange once
 * make more, perhaps under another name.
 */
function isStorm(exchanges: readonly LoggedRequest[], requests: readonly LoggedRequest[]): boolean {
  if (callsFrom(exchanges[0]!.client, requests).length > 2 * exchanges.length) return false
  const times = exchanges.flatMap(({ at }) => at?.getTime() ?? []).sort((a, b) => a - b)
  return times.some((at, index) => index >= manyExchanges && at - times[index - manyExchanges]! <= hourMs)
}

function callsFrom(address: string, requests: readonly LoggedRequest[]): LoggedRequest[] {
  return requests.filter(
    (request) => request.client === address && request.path.includes('/api/') && !isExchange(request),
  )
}

function isExchange({ method, path, status }: LoggedRequest): boolean {
  return method === 'POST' && isPath(path, apiUse.exchange) && status === 200
}

/**
 * Returns why nothing can be told. That no exchange is seen proves nothing: it may have gone another way, and a
 * browser's session needs none. So programs whose calls are accepted for longer than a Bearer token lives are only
 * named.
 */
function unrecorded(requests: readonly LoggedRequest[], { target }: AccessLogSource): string {
  const exchanging = new Set(requests.filter(isExchange).map(({ client }) => client))
  const calls = requests.filter(({ client, agent, path, status }) => {
    const isCall = /\/api\//.test(path) && !/\/api\/(management|login|logout|uaa\/oauth)\b/.test(path)
    return isCall && status < 300 && !exchanging.has(client) && !/^(Mozilla|Opera)\b/.test(agent ?? '')
  })
  const without = sameSender(calls).filter(
    (same) => same.length >= manyCalls && lasted(same) > settingDefaults.tokenValiditySeconds * 1000,
  )
  const named = without.map(
    (same) => `${senderOf(same[0]!)} (${counted(same.length, 'call')} in ${span(lasted(same))})`,
  )
  const hint = named.length === 0 ? '' : `; the log shows no token exchange by ${listed(named, 3)}`
  return (
    `cannot tell how programs use the API token: ${target} does not record the scheme of the Authorization ` +
    `header (to record it, see \`testops-admin explain api/token-use\`)${hint}`
  )
}

function lasted(requests: readonly LoggedRequest[]): number {
  const times = requests.flatMap(({ at }) => at?.getTime() ?? [])
  return times.length === 0 ? 0 : times.at(-1)! - times[0]!
}
