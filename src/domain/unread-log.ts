import type { Finding, Outcome } from '../core/check.ts'
import { AdminError } from '../core/error.ts'
import type { RecentRecords } from '../core/sources.ts'

/**
 * Adjusts the outcome of a check to the parts of the log that could not be read. A problem stands, with these parts as
 * evidence. Otherwise throws the error of the first part: it is unknown whether there are problems.
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
