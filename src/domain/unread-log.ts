import type { Finding, Outcome } from '../core/check.ts'
import { AdminError } from '../core/error.ts'
import type { RecentRecords } from '../core/sources.ts'

/**
 * What a judgement by the newest of a log comes to where parts of that could not be read: problems that the rest shows
 * stand, with the parts named; that there are none is not known, and throws so.
 */
export function asFarAsRead(outcome: Outcome, { unread = [] }: RecentRecords): Outcome {
  const [first] = unread
  if (!first || outcome.status === 'skipped') return outcome
  const told = unread.map(({ name, error }) => `not read, ${name}: ${error.message}`)
  if (outcome.status === 'problem') {
    const [finding, ...others] = outcome.findings
    const withParts: Finding = { ...finding, evidence: [...finding.evidence, ...told] }
    return { ...outcome, findings: [withParts, ...others] }
  }
  const names = unread.map(({ name }) => `\`${name}\``).join(', ')
  throw new AdminError(
    first.error.code,
    `the readable part of the log shows no such fault; cannot read the log of ${names}: ${first.error.message}`,
    first.error.suggestions,
    { cause: first.error, obstacle: first.error.obstacle },
  )
}
