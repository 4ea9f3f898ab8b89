import type { LintDocument, LintProblem, LintSeverity } from './document.ts'

/** Problems of one rule; `count` is exact, even if not all are listed. */
export interface RuleGroup {
  rule: LintProblem['rule']
  severity: LintSeverity
  count: number
  /** Each with one effect and remedy; in the order of their first problems */
  advices: readonly Advice[]
}

export interface Advice {
  effect: string
  remedy: string
  /** The most frequent first */
  causes: readonly Cause[]
}

/** Problems about which the same is said, except for the values that each has. */
export interface Cause {
  /** Null if they differ */
  message: string | null
  problems: readonly LintProblem[]
}

/** Groups problems by rule, then by effect and remedy, then by cause; rules and advice keep the document's order. */
export function groupsOf({ problems, rules }: Pick<LintDocument, 'problems' | 'rules'>): RuleGroup[] {
  return by(problems, ({ rule, severity }) => `${severity} ${rule}`).map((ofRule) => {
    const { rule, severity } = ofRule[0]!
    const advices = by(ofRule, ({ effect, remedy }) => JSON.stringify([effect, remedy])).map((alike) => {
      const causes = by(alike, causeOf).map((same) => ({
        message: same.every(({ message }) => message === same[0]!.message) ? same[0]!.message : null,
        problems: same,
      }))
      return {
        effect: alike[0]!.effect,
        remedy: alike[0]!.remedy,
        causes: causes.sort((one, other) => other.problems.length - one.problems.length),
      }
    })
    return { rule, severity, count: rules[rule]?.[severity] ?? ofRule.length, advices }
  })
}

/**
 * Returns a message without its numbers and values. Names of parameters, entries and labels stay, as they tell causes
 * apart.
 */
function causeOf({ message, together }: LintProblem): string {
  if (together) return message
  return message.replace(
    /(?:\b(parameter|entry|label) )?"(?:[^"\\]|\\[^])*(?:"|\\?$)|\d[\d,]*/g,
    (all, named: string | undefined) => (named === undefined ? '…' : all),
  )
}

function by<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()]
}
