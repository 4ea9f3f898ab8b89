import { grouped } from '../core/format.ts'
import { commandOf, fileOf } from '../core/plan.ts'
import type { Plan } from '../core/plan.ts'
import { paintFor } from './paint.ts'
import type { Screen } from './paint.ts'
import { countOf, hang, pad, printable, widthOf, withOwnTimesHere } from './text.ts'
import { command } from '../core/shell-command.ts'

/** What a plan costs, in words, by the names of its figures. */
const impacts: Readonly<Record<string, (count: number) => string>> = {
  locksReleased: (count) => `changes ${countOf(count, 'change-log lock')}`,
  rowsRemoved: (count) =>
    `removes ${countOf(count, 'row')} that Liquibase never reads; undo puts ${count === 1 ? 'it' : 'them'} back`,
  messagesMoved: (count) => `moves ${countOf(count, 'message')}`,
  messagesDiscarded: (count) => `LOSES ${countOf(count, 'message')}`,
  queuesWithMessages: (count) => `finds messages in ${countOf(count, 'queue')}`,
  queuesReset: (count) => `redeclares ${countOf(count, 'queue')}`,
  exchangesReset: (count) => `redeclares ${countOf(count, 'exchange')}`,
  valuesChanged: (count) => `changes ${countOf(count, 'value')} in a file`,
  releaseUpgrades: () => 'upgrades the Helm release: new pods replace the old ones',
  settingsChanged: (count) => `changes ${countOf(count, 'setting')} of the service`,
  sessionsRemoved: (count) => `removes ${grouped(count)} ${count === 1 ? 'session' : 'sessions'}`,
  usersSignedOut: (count) => `signs out ${grouped(count)} ${count === 1 ? 'user' : 'users'}`,
  usersAtMost: (count) =>
    `signs out up to ${grouped(count)} ${count === 1 ? 'user' : 'users'} (a session may have no user, and a ` +
    'user may have several sessions)',
  projects: (count) => `affects ${countOf(count, 'project')}`,
  trees: (count) =>
    `clears ${grouped(count)} ${count === 1 ? 'tree' : 'trees'} and reloads ${count === 1 ? 'it' : 'them'}`,
  calls: (count) => `calls the service ${count === 1 ? 'once' : `${grouped(count)} times`}`,
  serviceStops: () => 'stops the service: users are cut off until you start it again',
  serviceStarts: () => 'starts the service',
  serviceRestarts: () => 'restarts the service: users are cut off until it answers again',
}

/** Returns a plan as it is shown before the question. */
export function planText(plan: Plan, screen: Screen): string {
  const paint = paintFor(screen)
  const { columns } = screen
  const file = fileOf(plan)
  const lines = [
    paint.strong(
      `Plan: ${printable(commandOf(plan.repair))} on ` +
        `${file ? `file ${printable(file.path)}` : `deployment ${printable(plan.deployment)}`}`,
    ),
  ]
  const targets = Object.entries(plan.target).map(([part, where]) => [printable(part), where] as const)
  const width = Math.max(0, ...targets.map(([part]) => widthOf(part)))
  for (const [part, where] of targets) lines.push(...hang(`  ${pad(part, width)}  `, printable(where), columns))
  if (plan.evidence.length > 0)
    lines.push('', 'Evidence:', ...plan.evidence.map((line) => `    ${withOwnTimesHere(printable(line))}`))
  for (const note of plan.notes) lines.push(...hang('  - ', printable(note), columns))
  if (plan.steps.length === 0) return `${[...lines, '', 'There is nothing to do.'].join('\n')}\n`
  lines.push('', 'Steps:')
  plan.steps.forEach(({ title, interrupts, loses }, index) => {
    const mark = interrupts ? ' (users notice this)' : ''
    lines.push(...hang(`  ${index + 1}. `, printable(title) + mark, columns))
    if (loses !== undefined) lines.push(...hang('     loses: ', printable(loses), columns))
  })
  lines.push(
    '',
    'This repair:',
    ...Object.entries(plan.impact).flatMap(([name, count]) => hang('  - ', impactIn(name, count), columns)),
  )
  const duration = durationOf(plan)
  if (duration !== null) lines.push(...hang('  - ', duration, columns))
  for (const { name, message, proof } of plan.risks) {
    lines.push('', ...hang(`${paint.warn(`Risk ${name}:`)} `, printable(message), columns))
    // not wrapped: a command that is broken in two is two commands
    for (const line of proof) lines.push(`    ${printable(line)}`)
    lines.push(command`    --accept-risk ${name}   # continues anyway`)
  }
  return `${lines.join('\n')}\n`
}

/** Returns how long such steps took before (DESIGN.md 6.1); null if no step takes noticeable time. */
function durationOf({ steps: all, expectedMs: taken = [] }: Plan): string | null {
  const lasting = all.flatMap((step, index) =>
    step.action.kind === 'edit-values' ? [] : [{ place: index + 1, ms: taken[index] ?? null }],
  )
  if (lasting.length === 0) return null
  const known = lasting.flatMap(({ ms }) => ms ?? [])
  const unknown = lasting.flatMap(({ ms, place }) => (ms === null ? [place] : []))
  const seconds = `${Math.max(1, Math.round(known.reduce((sum, it) => sum + it, 0) / 1000))} s`
  if (known.length === 0) return 'duration unknown: no earlier run of these steps on record'
  if (unknown.length === 0) return `takes about ${seconds}, as in earlier runs`
  const others = `${unknown.length === 1 ? 'step' : 'steps'} ${unknown.join(', ')}`
  return `takes about ${seconds}, as in earlier runs, plus an unknown time for ${others}`
}

/** Returns an impact in words. A saved plan or a record may name anything, even `constructor`. */
function impactIn(name: string, count: number): string {
  return Object.hasOwn(impacts, name) ? impacts[name]!(count) : printable(`${name}: ${count}`)
}
