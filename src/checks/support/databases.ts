import type { Finding, Outcome } from '../../core/check.ts'
import type { DatabaseSource } from '../../core/sources.ts'

/**
 * Judges each database by itself: one that cannot be asked does not hide what another shows. Throws the first error if
 * no database has a problem.
 */
export async function eachDatabase(
  databases: readonly [DatabaseSource, ...DatabaseSource[]],
  judge: (database: DatabaseSource) => Promise<Outcome>,
): Promise<Outcome> {
  const settled = await Promise.allSettled(databases.map(judge))
  const outcomes = settled.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []))
  const problems = outcomes.filter((outcome) => outcome.status === 'problem')
  // the gravest problem comes first, and so does its remedy
  const [first, ...others] = problems.sort((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'))
  if (first) {
    const findings: [Finding, ...Finding[]] = [...first.findings]
    for (const other of others) findings.push(...other.findings)
    const { remedy } = first
    const alike = others.flatMap((other) =>
      other.remedy && other.remedy.text === remedy?.text ? other.remedy.commands : [],
    )
    const commands = [...new Set([...(remedy?.commands ?? []), ...alike])]
    return { ...first, findings, ...(remedy && { remedy: { ...remedy, commands } }) }
  }
  const failed = settled.find((it) => it.status === 'rejected')
  if (failed) throw failed.reason
  const fine = outcomes.filter((outcome) => outcome.status === 'ok')
  const busy = fine.find(({ underway }) => underway !== undefined)
  if (busy) return busy
  if (fine[0]) return { status: 'ok', detail: fine.map(({ detail }) => detail).join('; ') }
  return outcomes[0]!
}
