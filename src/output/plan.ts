import type { Plan } from '../core/plan.ts'
import { paintFor } from './paint.ts'
import type { Screen } from './screen.ts'
import { countOf, hang, pad, printable, widthOf } from './text.ts'

/** What a plan costs, in words, by the names of its figures. */
const impacts: Readonly<Record<string, (count: number) => string>> = {
  locksReleased: (count) => `changes ${countOf(count, 'change-log lock')}`,
  serviceRestarts: () => 'restarts the service: users are cut off until it answers again',
}

/** A plan as it is shown before the question. `filled`: commands as they are typed on this deployment. */
export function planText(plan: Plan, screen: Screen, filled: (command: string) => string): string {
  const paint = paintFor(screen)
  const { columns } = screen
  const lines = [paint.strong(`Plan: ${plan.repair} on deployment ${printable(plan.deployment)}`)]
  const targets = Object.entries(plan.target)
  const width = Math.max(0, ...targets.map(([part]) => widthOf(part)))
  for (const [part, where] of targets) lines.push(`  ${pad(part, width)}  ${printable(where)}`)
  if (plan.evidence.length > 0) lines.push('', 'What was seen:', ...plan.evidence.map((line) => `    ${printable(filled(line))}`))
  for (const note of plan.notes) lines.push(...hang('  - ', printable(note), columns))
  if (plan.steps.length === 0) return `${[...lines, '', 'There is nothing to do.'].join('\n')}\n`
  lines.push('', 'Steps:')
  plan.steps.forEach(({ title, interrupts, loses }, index) => {
    const mark = interrupts ? ' (users notice this)' : ''
    lines.push(...hang(`  ${index + 1}. `, printable(title) + mark, columns))
    if (loses !== undefined) lines.push(...hang('     loses: ', printable(loses), columns))
  })
  lines.push('', 'It:', ...Object.entries(plan.impact).flatMap(([name, count]) => hang('  - ', impacts[name]?.(count) ?? `${name}: ${count}`, columns)))
  for (const { name, message, proof } of plan.risks) {
    lines.push('', ...hang(`${paint.warn(`Risk ${name}:`)} `, printable(message), columns))
    for (const line of proof) lines.push(...hang('    ', printable(filled(line)), columns))
    lines.push(`    --accept-risk ${name}   # goes on all the same`)
  }
  return `${lines.join('\n')}\n`
}
