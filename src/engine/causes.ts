import type { Check, Remedy, Result } from '../core/check.ts'
import { isApart } from './judge.ts'
import { isUntried } from '../core/error.ts'

export interface Judged {
  check: Check
  result: Result
  durationMs: number
  /** The id of the problem that causes this one, or that keeps this check from being judged */
  because?: string
}

/**
 * Finds which problem causes which. A problem gets `because` if an error explains it. So does a check that could not be
 * judged. A warning explains nothing, because the part still works. Neither does what keeps only this program out of a
 * source. A legitimate operation under way turns the problems that it explains into skipped checks. It also skips
 * checks that could not be judged because of those problems.
 */
export function foldCauses(judged: readonly Judged[]): { judged: Judged[]; rootCauses: string[] } {
  const calm = withUnderway(judged)
  const problems = calm.filter(({ result }) => result.status === 'problem')
  const roots = problems.filter((problem) => causesOf(problem, problems).length === 0)
  const rootIds = roots.map(({ check }) => check.id)
  return {
    rootCauses: rootIds,
    judged: calm.map((it) => {
      if (it.result.status !== 'problem' && it.result.status !== 'unknown') return it
      if (isUntriedResult(it.result)) return it
      const causes = causesOf(it, problems).map(({ check }) => check.id)
      const named = it.result.status === 'unknown' ? it.result.because : undefined
      const because = causes.find((id) => rootIds.includes(id)) ?? named ?? causes[0]
      return because === undefined ? it : { ...it, because }
    }),
  }
}

/** Returns the problems that explain this one, in display order. */
function causesOf({ check, result }: Judged, problems: readonly Judged[]): Judged[] {
  if (hasOwnReason(result)) return []
  const followed = followedBy(result, problems)
  if (followed) return [followed]
  return problems.filter(
    (cause) => cause.check.explains?.includes(check.id) && isCause(cause) && !followedBy(cause.result, problems),
  )
}

/**
 * Returns the error that this problem names as its cause (`follows`), or what explains that error if it is removed by
 * hand. Undefined: there is none, or a repair removes it. This problem would block that repair, so it stays the cause.
 */
function followedBy(result: Result, problems: readonly Judged[]): Judged | undefined {
  const id = result.status === 'problem' ? result.follows : undefined
  if (id === undefined) return undefined
  const causes = problems.filter((it) => it.result !== result && it.check.explains?.includes(id) && isCause(it))
  if (causes.length === 0) return problems.find((it) => it.check.id === id && isCause(it))
  const isByHand = causes.every((it) => {
    const remedy = remedyOf(it)
    return remedy !== undefined && !isByRepair(remedy)
  })
  return isByHand ? causes[0] : undefined
}

/** Returns what to do about a problem; undefined for any other result. */
export function remedyOf({ check, result }: Judged): Remedy | undefined {
  return result.status === 'problem' ? (result.remedy ?? check.remedy) : undefined
}

function isCause({ check, result }: Judged): boolean {
  if (result.status !== 'problem' || result.severity !== 'error') return false
  return result.isOwn !== true && (result.isUnopened !== true || check.explainsUnopened !== false)
}

/** True if the check failed in a way that no other problem causes. */
function hasOwnReason(result: Result): boolean {
  return result.status === 'unknown' ? isApart(result.error) : result.status === 'problem' && result.isApart === true
}

/** True if the check's source was not even tried, which no other problem or operation explains. */
function isUntriedResult(result: Result): boolean {
  return result.status === 'unknown' && isUntried(result.error)
}

function withUnderway(judged: readonly Judged[]): Judged[] {
  const reasons = new Map<string, string>()
  for (const { check, result } of judged) {
    if (result.status !== 'ok' || result.underway === undefined) continue
    for (const id of check.explains ?? []) if (!reasons.has(id)) reasons.set(id, result.underway)
  }
  const stilled = new Map<string, string>()
  for (const { check, result } of judged) {
    const reason = reasons.get(check.id)
    if (reason !== undefined && result.status === 'problem' && !hasOwnReason(result)) stilled.set(check.id, reason)
  }
  return judged.map((it) => {
    const { check, result } = it
    const mayFollow = result.status === 'unknown' && !isUntriedResult(result)
    const reason = stilled.get(check.id) ?? (mayFollow ? reasonOf(check, result, reasons, stilled) : undefined)
    return reason === undefined ? it : { ...it, result: { status: 'skipped', reason } }
  })
}

/** Returns why a check could not be judged, if an operation under way explains that. */
function reasonOf(
  check: Check,
  result: Result & { because?: string },
  reasons: ReadonlyMap<string, string>,
  stilled: ReadonlyMap<string, string>,
): string | undefined {
  if (result.because !== undefined) return stilled.get(result.because)
  return hasOwnReason(result) ? undefined : reasons.get(check.id)
}

const repairs = new RegExp(
  '^testops-admin (?:unlock-changelog|reset-queues|flush-sessions|migrate-trees|set-env|use-legacy-image|token|' +
    'service (?:stop|start|restart)) (?!.*--dry-run)',
)

const carriesOn = /^testops-admin (?:resume|undo) (?!.*--dry-run)/

/** True if a remedy begins with a command that resumes or undoes an unfinished run. */
export function isByRun({ commands }: Remedy): boolean {
  return carriesOn.test(commands[0] ?? '')
}

/**
 * True if a remedy begins with a command that changes the deployment. Such commands are refused while a migration or
 * another repair is under way, and while a run is unfinished.
 */
export function isByRepair({ commands }: Remedy): boolean {
  return repairs.test(commands[0] ?? '')
}
