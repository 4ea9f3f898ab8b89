import type { ActionKind, ActionOf, VanishingExchange } from '../core/action.ts'
import type { Binding, ExchangeDeclaration, QueueDeclaration } from '../core/broker-control.ts'
import { moment } from '../core/format.ts'
import { bindingsNoted } from '../core/notes.ts'
import type { Plan } from '../core/plan.ts'
import { notesOfStep, progressOf } from '../core/run-state.ts'
import type { RunHistory } from '../core/run.ts'
import type { ShellCommand, Suggestion } from '../core/shell-command.ts'
import { command, nested, typed } from '../core/shell-command.ts'
import { onDeployment } from '../core/typed.ts'
import { nextText } from './error-text.ts'
import { planText } from './plan.ts'
import type { Screen } from './paint.ts'
import { countOf, hang, printable, withTimesHere } from './text.ts'

/** What a step does, from its action alone. The first line names it; the others hold every value that it writes. */
type Description = [title: string, ...details: string[]]

const describe: { readonly [K in ActionKind]: (action: ActionOf<K>) => Description } = {
  'stop-service': ({ wasRunning }) => ['stop the service', ...(wasRunning ? ['undo starts the service again'] : [])],
  'start-service': ({ locks = [], stopsOnUndo, keeps = [], binds = [] }) => [
    'start the service',
    ...locks.map(({ schema, database }) => `waits until the change-log lock in ${schema} at ${database} is free`),
    ...binds.map((it) => `binds again: ${bindingText(it)}`),
    ...(stopsOnUndo ? ['undo stops the service again'] : []),
    ...(keeps.length === 0 ? [] : [`undo first protects these queues from deletion by RabbitMQ: ${keeps.join(', ')}`]),
  ],
  'edit-values': ({ file, edits }) => [
    `edit ${file}`,
    ...edits.flatMap(({ path, from, to, was, is }) => [
      `${path.join('.')}: from ${value(from)} to ${value(to)}`,
      `replaces ${JSON.stringify(was)} with ${JSON.stringify(is)}`,
    ]),
  ],
  'upgrade-release': ({ release, chart, chartVersion, files, values }) => [
    `upgrade ${release} with chart ${chart} ${chartVersion}`,
    ...files.map((file) => `values from ${file}`),
    ...values.map(({ path, to }) => `${path.join('.')}: ${value(to)}`),
  ],
  'fetch-image': ({ image, platform }) => [`fetch image ${image}`, ...(platform === null ? [] : [`for ${platform}`])],
  'await-rollout': () => ['wait until new, ready pods have replaced all old pods'],
  'set-setting': ({ name, from, to }) => [
    to === null ? `remove the setting ${name}` : `set ${name}=${to}`,
    `undo sets it back to ${value(from)}`,
  ],
  'set-secret': ({ name, file }) => [`set ${name}, a secret`, file === null ? 'from standard input' : `from ${file}`],
  'release-lock': ({ database, schema, table, row, accepts, lacks }) => [
    `release the change-log lock in ${schema}${table === undefined ? '' : `.${table}`} at ${database}`,
    `undo restores the row: locked ${row.locked}, since ${value(row.lockGranted)}, by ${value(row.lockedBy)}`,
    ...(accepts === null
      ? []
      : [`accepts the risk ${accepts}${lacks === undefined ? '' : ` (reasons: ${lacks.join(', ')})`}`]),
  ],
  'insert-lock-row': ({ database, schema, table = 'databasechangeloglock' }) => [
    `insert row 1 (not locked) into ${schema}.${table} at ${database}`,
  ],
  'remove-lock-rows': ({ database, schema, table = 'databasechangeloglock', rows }) => [
    `remove ${countOf(rows.length, 'row')} from ${schema}.${table} at ${database}`,
    ...rows.map(
      ({ id, locked, lockGranted, lockedBy }) =>
        `id ${id}, locked ${locked}, since ${value(lockGranted)}, by ${value(lockedBy)}; undo inserts this row again`,
    ),
  ],
  'remove-sessions': ({ store, namespace, which, flush, counts: { sessions } }) => [
    'remove ' +
      `${which === 'all' ? 'all sessions' : which === 'stale' ? 'stale sessions' : `the sessions of ${which.user}`}` +
      ` under ${namespace} at ${store}`,
    `${countOf(sessions, 'session')} in the record`,
    ...(flush ? ['empties the whole Redis database if it contains only sessions'] : []),
  ],
  'hold-queues': ({ moves, vanishing = [] }) => [
    'declare the temporary queues that hold the messages during the repair',
    ...moves.map(({ queue, holding }) => `${holding} for ${queue}`),
    ...vanishing.map(keptText),
  ],
  'keep-queues': ({ queues, bindings }) => [
    'keep a consumer on the queues that RabbitMQ deletes when their last consumer leaves',
    ...queues.map(({ queue }) => queueText(queue)),
    ...bindings.map(bindingText),
  ],
  'drain-queues': ({ queues, seconds }) => [
    `give the service at most ${seconds} s to empty its queues`,
    queues.join(', '),
  ],
  'await-quiet': ({ queues, user }) => [`wait until user ${user} is disconnected from the broker`, queues.join(', ')],
  'move-messages': ({ direction, moves, counts: { messages } }) => [
    direction === 'aside' ? 'move messages aside' : 'move messages back',
    `${countOf(messages, 'message')} in the record`,
    ...moves.map(({ queue, holding }) =>
      direction === 'aside' ? `from ${queue} to ${holding}` : `from ${holding} to ${queue}`,
    ),
  ],
  'delete-queues': ({ queues, bindings, discards, counts: { messages } }) => [
    discards ? `delete queues, with ${countOf(messages, 'message')} in them` : 'delete queues, once they are empty',
    ...queues.map(({ queue }) => `undo declares ${queueText(queue)}`),
    ...bindings.map((it) => `undo binds ${bindingText(it)}`),
  ],
  'switch-exchanges': ({ exchanges, bindings }) => [
    'delete exchanges and redeclare them',
    ...exchanges.flatMap(({ from, to }) => [`from ${exchangeText(from)}`, `to ${exchangeText(to)}`]),
    ...bindings.map(bindingText),
  ],
  'redeclare-queues': ({ queues, bindings }) => [
    'declare queues',
    ...queues.map(({ queue }) => queueText(queue)),
    ...bindings.map(bindingText),
  ],
  'delete-held': ({ holding, vanishing = [] }) => [
    'delete the temporary queues that held the messages, once these queues are empty',
    ...holding,
    ...vanishing.map((it) => `undo will ${keptText(it)}`),
  ],
  'migrate-trees': ({ api, items, concurrency }) => [
    `ask ${api} to migrate trees, ${countOf(concurrency, 'call')} at a time`,
    ...treesText(items),
  ],
  'await-migration': () => ['wait until the service has finished its migration jobs'],
}

/**
 * Returns the plan of a record from another machine, with its steps in this program's words. Omits what the record says
 * about itself: anyone who can write to the deployment may have written it.
 */
export function planOfRecord(plan: Plan): Plan {
  const { expectedMs: _, ...rest } = plan
  return {
    ...rest,
    impact: {},
    evidence: [],
    notes: [
      'this plan is saved in the deployment, where other people may have changed it: check every value below ' +
        'before you adopt the run',
    ],
    steps: plan.steps.map((step) => ({ ...step, title: described(step.action)[0] })),
  }
}

/**
 * Returns a record from another machine in full: what is done, its plan, and every value that its steps would write.
 */
export function recordText(history: RunHistory, screen: Screen): string {
  const { record, events } = history
  const { done, begun } = progressOf(events)
  const lines = [
    `Run ${printable(record.run)}: started by ${printable(record.by)} at ` +
      `${withTimesHere(moment(record.startedAt))}, with ` +
      `testops-admin ${printable(record.program)}`,
    '',
  ]
  const full = record.plan.steps.flatMap(({ action }, index) => {
    const [title, ...details] = described(action)
    details.push(...notesOfStep(events, index).flatMap((note) => noteText(action.kind, note)))
    const state = done.has(index) ? 'done' : begun === index ? 'begun' : 'not done'
    return [
      ...hang(`  ${index + 1}. `, `${printable(title)} (${state} in the record)`, screen.columns),
      ...details.flatMap((line) => hang('       ', printable(line), screen.columns)),
    ]
  })
  return `${lines.join('\n')}${planText(planOfRecord(record.plan), screen)}\nSteps in full:\n${full.join('\n')}\n`
}

/** Returns what a note of a step makes a later step write; empty if nothing. */
function noteText(kind: ActionKind, note: string): string[] {
  if (kind === 'switch-exchanges' || kind === 'delete-queues')
    return bindingsNoted([note]).map((it) => `saved for a later step: binding ${bindingText(it)}`)
  const replicas = /^replicas (\S+) (\d+)$/.exec(note)
  return kind === 'stop-service' && replicas
    ? [`saved for the start of the service: ${countOf(Number(replicas[2]), 'replica')} of ${replicas[1]}`]
    : []
}

/** Returns the command that adopts a run, once its record was read. */
export function adoptCommand(
  run: string,
  deployment: { name: string; config?: string },
  risks: readonly string[],
): ShellCommand {
  const accepted = typed(risks.flatMap((risk) => ['--accept-risk', risk]))
  return command`testops-admin resume --adopt ${run} ${nested(onDeployment(deployment.name, deployment.config))}
    ${nested(accepted)} --confirm ${deployment.name}`
}

function described(action: Plan['steps'][number]['action']): Description {
  return (describe[action.kind] as (of: typeof action) => Description)(action)
}

/** Returns trees by project; a project alone stands for all its trees. */
function treesText(items: ActionOf<'migrate-trees'>['items']): string[] {
  const named = new Map<number, number[]>()
  const whole = items.flatMap(({ project, tree }) => (tree === null ? [`project ${project}`] : []))
  for (const { project, tree } of items) {
    if (tree === null) continue
    const own = named.get(project)
    if (own) own.push(tree)
    else named.set(project, [tree])
  }
  return [
    ...whole,
    ...[...named].map(
      ([project, trees]) => `project ${project}, ${trees.length === 1 ? 'tree' : 'trees'} ${trees.join(', ')}`,
    ),
  ]
}

function value(text: string | null): string {
  return text === null ? 'nothing' : JSON.stringify(text)
}

function keptText({ name, type }: VanishingExchange): string {
  return `bind exchange ${name} (${type}) to an exchange of testops-admin, so that RabbitMQ does not delete ${name}`
}

function queueText({ name, durable, autoDelete, arguments: values }: QueueDeclaration): string {
  return (
    `queue ${JSON.stringify(name)}, ` +
    `${durable ? 'durable' : 'transient'}${autoDelete ? ', auto-delete' : ''}${argumentsText(values)}`
  )
}

function exchangeText({ name, type, durable, autoDelete, internal, arguments: values }: ExchangeDeclaration): string {
  return (
    `exchange ${JSON.stringify(name)}, ${type}, ${durable ? 'durable' : 'transient'}` +
    `${autoDelete ? ', auto-delete' : ''}${internal ? ', internal' : ''}${argumentsText(values)}`
  )
}

function bindingText({
  source,
  destination,
  destinationKind,
  routingKey,
  arguments: values,
  typed: types,
}: Binding): string {
  const typed = types && Object.keys(types).length > 0 ? `, typed ${JSON.stringify(types)}` : ''
  return (
    `${JSON.stringify(source)} to ${destinationKind} ${JSON.stringify(destination)} with routing key ` +
    `${JSON.stringify(routingKey)}${argumentsText(values)}${typed}`
  )
}

function argumentsText(values: Readonly<Record<string, unknown>>): string {
  return Object.keys(values).length === 0 ? '' : `, ${JSON.stringify(values)}`
}

/** What `discard --json` prints. */
export interface DiscardDocument {
  schemaVersion: 1
  deployment: string
  run: string
  outcome: 'planned' | 'done' | 'nothing-to-do'
  /** The file in which the record was saved; null if nothing was removed */
  saved: string | null
  /** With a dry run: reasons against removing the record, each with the name to accept it by */
  risks?: readonly { name: string; message: string }[]
}

/** Returns what `discard` prints. `again` is the command without --dry-run, which removes the record. */
export function discardText({ outcome, run, saved, risks = [] }: DiscardDocument, again: Suggestion): string {
  if (outcome === 'nothing-to-do')
    return `Nothing to remove: this deployment has no saved record of run ${printable(run)}.\n`
  if (outcome === 'planned') {
    const accepted = risks.flatMap(({ name }) => ['--accept-risk', name])
    const next =
      risks.length === 0 ? again : command`${nested(again)} ${nested(typed(accepted))}   # only if you are sure`
    const said = risks.map(({ message }) => `${sentenceOf(printable(message))}\n`).join('')
    return `Nothing changed: this command only showed the record.\n${said}\n${nextText(next)}`
  }
  return `Removed the record ${printable(run)} and nothing else. A copy is in ${printable(saved ?? '')}\n`
}

function sentenceOf(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}
