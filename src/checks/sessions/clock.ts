import { currentTime } from '../../core/local-time.ts'
import { defineCheck } from '../../core/check.ts'
import type { Finding } from '../../core/check.ts'
import { limits } from '../../knowledge/limits.ts'
import { aheadBy, expiredBy, graceMs } from '../../knowledge/sessions.ts'
import { byHand } from '../../domain/by-hand.ts'
import { counted, grouped, span } from '../../core/format.ts'
import { command, nested } from '../../core/shell-command.ts'

/** Maximum number of sessions that a doctor run reads. */
const sampleSize = 2000

export const sessionsClock = defineCheck({
  id: 'sessions/clock',
  title: 'no session is expired or dated in the future',
  reads: ['sessions'],
  remedy: {
    text:
      'First synchronize the clocks of all machines: otherwise, new sessions will be invalid too. Then remove the ' +
      'invalid sessions. Their users must sign in again.',
    commands: ['testops-admin flush-sessions --stale -d {deployment}', byHand('sessions/clock')],
    risk: 'The users of the removed sessions are signed out.',
  },
  async run({ sessions }) {
    const [sample, { offsetMs }] = await Promise.all([sessions.sampleSessions(sampleSize), sessions.clock()])
    const now = currentTime() + offsetMs
    const seen = sample.sessions.length
    if (seen === 0) return { status: 'ok', detail: `${sessions.target} has no sessions` }
    const ahead = sample.sessions.flatMap((session) => overshoot(aheadBy(session, now), limits.sessionToleranceMs))
    const expired = sample.sessions.flatMap((session) => overshoot(expiredBy(session, now), graceMs(sample.indexed)))
    const of = counted(seen, sample.complete ? 'session' : 'sampled session')
    const show = [
      command`${nested(sessions.client)} TIME`,
      `${Math.floor(now / 1000)}`,
      command`${nested(sessions.client)} --scan --pattern ${`${sample.namespace ?? 'spring:session'}:sessions:*`} | wc
        -l`,
      sample.complete && !sample.indexed ? `${seen}` : `(${counted(seen, 'session')} checked)`,
    ]
    const findings: Finding[] = []
    if (ahead.length > 0) {
      const message =
        `${grouped(ahead.length)} of ${of} ${ahead.length === 1 ? 'is' : 'are'} dated up to ` +
        `${span(Math.max(...ahead))} in the future. Such sessions are not active yet, so sign-in fails with 401`
      findings.push({
        message,
        evidence: [...show, `creationTime or lastAccessedTime later than TIME: ${grouped(ahead.length)} of ${of}`],
      })
    }
    if (expired.length > 0) {
      const longest = span(Math.max(...expired))
      const ended =
        expired.length === 1
          ? `expired ${longest} ago but is still stored`
          : `have expired, the oldest ${longest} ago, but are still stored`
      const message = `${grouped(expired.length)} of ${of} ${ended}: sign-in fails with 401`
      findings.push({
        message,
        evidence: [
          ...show,
          `lastAccessedTime + maxInactiveInterval earlier than TIME: ${grouped(expired.length)} of ${of}`,
        ],
      })
    }
    const [first, ...others] = findings
    if (first) return { status: 'problem', severity: 'error', findings: [first, ...others] }
    return { status: 'ok', detail: `${of} valid by the store's clock` }
  },
})

function overshoot(byMs: number | null, toleratedMs: number): number[] {
  return byMs !== null && byMs > toleratedMs ? [byMs] : []
}
