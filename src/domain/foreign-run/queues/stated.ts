import { isDeepStrictEqual } from 'node:util'
import { counted } from '../../../core/format.ts'
import type { QueueDeclaration } from '../../../core/broker-control.ts'
import { alwaysDurable, holdingOf, isBuiltIn, queueArguments } from '../../../knowledge/broker.ts'
import { areSameBindings, isSameQueue, stepOf } from './parts.ts'
import type { Parts } from './parts.ts'

/** Maximum number of queues in a record; more than any service declares */
const mostQueues = 20_000
/** Maximum seconds of `--drain` */
const longestDrain = 86_400

/** Returns contradictions between the steps of a record of reset-queues; empty if there are none. */
export function unfitStatements(parts: Parts): string[] {
  const { former } = parts
  if (former.length > mostQueues)
    return [`the saved record names ${former.length} queues, but the limit is ${mostQueues}`]
  return [
    ...ofQueues(parts),
    ...former.flatMap(({ queue }) => ofArguments(queue)),
    ...ofExchanges(parts),
    ...ofBindings(parts),
    ...ofCounts(parts),
  ]
}

function ofQueues(parts: Parts): string[] {
  const { plan, names, former, discards } = parts
  const known = new Set(names)
  const isWhole = (list: readonly string[]): boolean =>
    list.length === names.length && list.every((name) => known.has(name))
  const moves = plan.steps.flatMap(({ action }) =>
    action.kind === 'hold-queues' || action.kind === 'move-messages' ? [action.moves] : [],
  )
  const kept = stepOf(plan, 'keep-queues')?.queues ?? []
  const anew = stepOf(plan, 'redeclare-queues')?.queues ?? []
  const drained = stepOf(plan, 'drain-queues')
  const directions = plan.steps.flatMap(({ action }) => (action.kind === 'move-messages' ? [action.direction] : []))
  const held = stepOf(plan, 'delete-held')?.holding ?? null
  const saved = stepOf(plan, 'hold-queues')?.saved.queues ?? null
  const keeps = plan.steps.flatMap(({ action }) => (action.kind === 'start-service' ? (action.keeps ?? []) : []))
  const wrong = [
    [known.size === names.length, 'the saved record names a queue twice'],
    [
      former.every(({ queue }) => !queue.durable && !isBuiltIn(queue.name)),
      'the run deletes queues that reset-queues never deletes: durable ones, or those of RabbitMQ or testops-admin',
    ],
    [
      [...former, ...anew, ...kept].every(
        ({ queue, holding }) => holding === null || holding === holdingOf(queue.name),
      ),
      'the run would move messages to a queue other than the temporary queue that reset-queues uses',
    ],
    [
      moves.every(
        (list) =>
          isWhole(list.map(({ queue }) => queue)) && list.every(({ queue, holding }) => holding === holdingOf(queue)),
      ),
      'the queues that the run deletes differ from those whose messages it moves, or its temporary queues do not match',
    ],
    [
      directions.length === 0 || isDeepStrictEqual(directions, ['aside', 'back']),
      'the run moves messages, but not aside first and then back',
    ],
    [
      held === null || isDeepStrictEqual([...held].sort(), names.map(holdingOf).sort()),
      'the temporary queues that the run deletes differ from those that it moves messages to',
    ],
    [
      saved === null ||
        (isWhole(saved.map(({ name }) => name)) &&
          saved.every((it) => former.some(({ queue }) => isSameQueue(queue, it)))),
      'the queues saved for undo differ from the queues that the run deletes',
    ],
    [
      kept.every(({ queue }) => former.some((it) => isSameQueue(it.queue, queue))) &&
        keeps.every((name) => known.has(name)),
      'the run protects queues from deletion by RabbitMQ, though it does not change those queues',
    ],
    [
      isWhole(anew.map(({ queue }) => queue.name)) &&
        anew.every(({ queue }) => former.some((it) => isAnew(queue, it.queue))),
      'the queues that the run redeclares do not match the queues that it deletes',
    ],
    [
      [...former, ...kept].every(({ always }) => always === undefined),
      'a step of the saved record marks queues to be redeclared, but that step does not redeclare queues',
    ],
    [
      isWhole(stepOf(plan, 'await-quiet')?.queues ?? names),
      'the run waits until nobody reads from its queues, but then deletes other queues',
    ],
    [
      drained === null || isWhole(drained.queues),
      'the queues that the service may first empty differ from the queues that the run deletes',
    ],
    [
      drained === null || (Number.isInteger(drained.seconds) && drained.seconds > 0 && drained.seconds <= longestDrain),
      `the time that the service has to empty its queues is not a whole number of seconds from 1 to ${longestDrain}`,
    ],
    [
      discards === (names.length > 0 && moves.length === 0) && isLossTold(parts),
      'the plan of the run does not say correctly whether messages are lost',
    ],
  ] as const
  return toldOf(wrong)
}

/** True if it is the same queue as durable, without new arguments. */
function isAnew(anew: QueueDeclaration, former: QueueDeclaration): boolean {
  const kept = Object.fromEntries(
    Object.entries(former.arguments).filter(([name]) => Object.hasOwn(anew.arguments, name)),
  )
  return isSameQueue(anew, { ...former, durable: true, arguments: kept })
}

function ofArguments({ name, arguments: values }: QueueDeclaration): string[] {
  const strange = Object.keys(values).find((key) => !queueArguments.has(key))
  if (strange !== undefined)
    return [`the saved record gives queue ${name} an argument that RabbitMQ does not know: ${strange}`]
  const type = values['x-queue-type']
  return typeof type === 'string' && alwaysDurable.includes(type)
    ? [
        `according to the saved record, the run changes queue ${name} of type ${type}, but reset-queues never ` +
          'changes queues of that type',
      ]
    : []
}

function ofExchanges({ exchanges, plan }: Parts): string[] {
  const saved = stepOf(plan, 'hold-queues')?.saved.exchanges ?? null
  const kept = stepOf(plan, 'hold-queues')?.vanishing ?? []
  const names = exchanges.map(({ from }) => from.name)
  const others = exchanges.filter(
    ({ from, to }) => from.durable || isBuiltIn(from.name) || !isDeepStrictEqual({ ...from, durable: true }, { ...to }),
  )
  return [
    ...others.map(({ from }) => `the run changes exchange ${from.name} in a way that reset-queues never does`),
    ...toldOf([
      [new Set(names).size === names.length, 'the saved record names an exchange twice'],
      [
        saved === null ||
          isDeepStrictEqual(
            saved,
            exchanges.map(({ from }) => from),
          ),
        'the exchanges saved for undo differ from the exchanges that the run redeclares',
      ],
      [
        isDeepStrictEqual(kept, stepOf(plan, 'delete-held')?.vanishing ?? []),
        'the exchanges that the run protects from deletion differ from those whose protection it later ends',
      ],
      [
        kept.every(({ name }) => !isBuiltIn(name)),
        'the run protects an exchange that reset-queues never protects: one of RabbitMQ or testops-admin',
      ],
    ]),
  ]
}

/** Checks that all bindings are of its own queues and exchanges, and the same in each step. */
function ofBindings({ bindings, names, exchanges, plan }: Parts): string[] {
  const ownQueues = new Set(names)
  const ownExchanges = new Set(exchanges.map(({ from }) => from.name))
  const toOwnQueue = ({ destination, destinationKind }: (typeof bindings)[number]): boolean =>
    destinationKind === 'queue' && ownQueues.has(destination)
  const ofOwnExchange = ({ source, destination, destinationKind }: (typeof bindings)[number]): boolean =>
    ownExchanges.has(source) || (destinationKind === 'exchange' && ownExchanges.has(destination))
  const other = bindings.find((it) => it.source === '' || !(toOwnQueue(it) || ofOwnExchange(it)))
  if (other)
    return [
      'the run changes a binding that reset-queues would leave unchanged: ' +
        `${other.source === '' ? 'the default exchange' : other.source} to ${other.destination}`,
    ]
  const deleted = stepOf(plan, 'delete-queues')?.bindings ?? []
  const switched = stepOf(plan, 'switch-exchanges')?.bindings ?? []
  const kept = stepOf(plan, 'keep-queues')
  const isKept = new Set(kept?.queues.map(({ queue }) => queue.name))
  const saved = stepOf(plan, 'hold-queues')?.saved.bindings ?? [...deleted, ...switched]
  const steps = [
    [deleted, saved.filter(toOwnQueue)],
    [switched, saved.filter(ofOwnExchange)],
    [stepOf(plan, 'redeclare-queues')?.bindings ?? deleted, deleted],
    [stepOf(plan, 'start-service')?.binds ?? saved, saved],
    [kept?.bindings ?? [], deleted.filter(({ destination }) => isKept.has(destination))],
  ] as const
  return steps.every(([one, same]) => areSameBindings(one, same))
    ? []
    : ['the steps of the run disagree about the bindings of its queues and exchanges']
}

function isLossTold({ plan, discards }: Parts): boolean {
  return (
    !discards ||
    plan.steps.some(
      ({ action, loses }) => action.kind === 'delete-queues' && loses !== undefined && loses.trim() !== '',
    )
  )
}

/** Checks that the step deletes no more messages than the plan shows as lost. */
function ofCounts({ plan, discards }: Parts): string[] {
  const counts = plan.steps.flatMap(({ action }) =>
    'counts' in action && 'messages' in action.counts ? [action.counts.messages] : [],
  )
  const [count = 0] = counts
  const shown = plan.impact['messagesDiscarded'] ?? 0
  return toldOf([
    [
      counts.every((it) => Number.isSafeInteger(it) && it === count),
      'the steps of the run disagree about the number of messages, or the number is invalid',
    ],
    [
      shown === (discards ? count : 0),
      `the plan of the run shows ${counted(shown, 'message')} as lost, but its steps delete up to ` +
        `${discards ? count : 0}`,
    ],
  ])
}

function toldOf(wrong: readonly (readonly [isFine: boolean, what: string])[]): string[] {
  return wrong.flatMap(([isFine, what]) => (isFine ? [] : [what]))
}
