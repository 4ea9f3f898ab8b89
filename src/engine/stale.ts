import { AdminError } from '../core/error.ts'
import { commandOf } from '../core/plan.ts'
import type { Plan } from '../core/plan.ts'
import { command } from '../core/shell-command.ts'

/**
 * What moves by itself between two looks at a deployment (DESIGN.md 6.3): counts, and whether a service that fails is
 * just up.
 */
const moving = new Set(['counts', 'wasRunning', 'interrupts'])
/** another version of this program words a step anew; its action says what it does */
const movingOrWords = new Set([...moving, 'title'])

/**
 * Throws REFUSED where the plan that is made now is another than the one that was confirmed: identities, rows,
 * settings, the set of targets. Counts may differ, but for a loss that has grown.
 */
export function refuseIfStale(seen: Plan, now: Plan): void {
  const parts = [
    ['what it works on', seen.target, now.target],
    ['its steps', seen.steps, now.steps],
    ['its risks', seen.risks.map(({ name }) => name), now.risks.map(({ name }) => name)],
    ['its options', seen.options, now.options],
  ] as const
  const differing = parts.filter(
    ([, before, after]) => canonical(before, movingOrWords) !== canonical(after, movingOrWords),
  )
  if (differing.length === 0) return refuseIfMoreIsLost(seen, now)
  const what = differing.map(([name]) => name).join(', ')
  throw new AdminError('REFUSED', `the deployment has changed since the plan was made: ${what} would differ now`, [
    command`testops-admin ${commandOf(seen.repair)} -d {deployment} --dry-run`,
  ])
}

function refuseIfMoreIsLost(seen: Plan, now: Plan): void {
  const [before, after] = [messagesLost(seen), messagesLost(now)]
  if (after <= before) return
  throw new AdminError(
    'REFUSED',
    `more would be lost now than when the plan was made: ${after} messages instead of ${before}`,
    [command`testops-admin ${commandOf(seen.repair)} -d {deployment} --dry-run`],
  )
}

function messagesLost({ steps }: Plan): number {
  return steps.reduce(
    (sum, { action }) => sum + (action.kind === 'delete-queues' && action.discards ? action.counts.messages : 0),
    0,
  )
}

/**
 * The same text for equal values, whatever the order of their keys; `leaving`: keys of which the values do not count.
 */
export function canonical(value: unknown, leaving: ReadonlySet<string> = moving): string {
  return JSON.stringify(value, (key, it: unknown) => {
    if (leaving.has(key)) return undefined
    if (typeof it !== 'object' || it === null || Array.isArray(it)) return it
    return Object.fromEntries(Object.entries(it).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
