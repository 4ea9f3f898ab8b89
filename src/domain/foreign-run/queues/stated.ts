import { isDeepStrictEqual } from 'node:util'
import { counted } from '../../../core/format.ts'
import type { QueueDeclaration } from '../../../core/topology.ts'
import { alwaysDurable, isBuiltIn, queueArguments } from '../../../knowledge/broker.ts'
import { holdingOf } from '../../../knowledge/held-queues.ts'
import { areSameBindings, isSameQueue, stepOf } from './parts.ts'
import type { Parts } from './parts.ts'

/** Maximum number of queues in a record; more than any service declares */
const mostQueues = 20_000
/** Maximum seconds of `--drain` */
const longestDrain = 86_400

/** Returns contradictions between the steps of a record of reset-queues; empty if there are none. */
export function unfitStatements(parts: Parts): string[] {
  const { former } = parts
  if (former.length > mostQueues) return [`it names ${former.length} queues`]
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
    [known.size === names.length, 'it names a queue twice'],
    [
      former.every(({ queue }) => !queue.durable && !isBuiltIn(queue.name)),
      'it deletes queues that are durable, or that the broker or this program made',
    ],
    [
      [...former, ...anew, ...kept].every(
        ({ queue, holding }) => holding === null || holding === holdingOf(queue.name),
      ),
      'it moves messages to a queue that this program does not use',
    ],
    [
      moves.every(
        (list) =>
          isWhole(list.map(({ queue }) => queue)) && list.every(({ queue, holding }) => holding === holdingOf(queue)),
      ),
      'the queues that it moves are not those that it deletes',
    ],
    [
      directions.length === 0 || isDeepStrictEqual(directions, ['aside', 'back']),
      'it moves messages in the wrong order',
    ],
    [
      held === null || isDeepStrictEqual([...held].sort(), names.map(holdingOf).sort()),
      'the holding queues that it deletes are not its own',
    ],
    [
      saved === null ||
        (isWhole(saved.map(({ name }) => name)) &&
          saved.every((it) => former.some(({ queue }) => isSameQueue(queue, it)))),
      'the queues that it saved are not those that it deletes',
    ],
    [
      kept.every(({ queue }) => former.some((it) => isSameQueue(it.queue, queue))) &&
        keeps.every((name) => known.has(name)),
      'it keeps queues open that it does not delete',
    ],
    [
      isWhole(anew.map(({ queue }) => queue.name)) &&
        anew.every(({ queue }) => former.some((it) => isAnew(queue, it.queue))),
      'the queues that it declares are not those that it deletes',
    ],
    [
      [...former, ...kept].every(({ always }) => always === undefined),
      'it marks queues for declaration in a step that declares none',
    ],
    [
      isWhole(stepOf(plan, 'await-quiet')?.queues ?? names),
      'the queues that it waits for are not those that it deletes',
    ],
    [
      drained === null ||
        (isWhole(drained.queues) &&
          Number.isInteger(drained.seconds) &&
          drained.seconds > 0 &&
          drained.seconds <= longestDrain),
      'the queues that it drains are not those that it deletes, or it drains for too long',
    ],
    [
      discards === (names.length > 0 && moves.length === 0) && isLossTold(parts),
      'it would lose messages without saying so',
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
  if (strange !== undefined) return [`queue ${name} has an argument that RabbitMQ does not know: ${strange}`]
  const type = values['x-queue-type']
  return typeof type === 'string' && alwaysDurable.includes(type)
    ? [`queue ${name} is a ${type}, which is never moved`]
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
    ...others.map(({ from }) => `it changes more of exchange ${from.name} than whether it is durable`),
    ...toldOf([
      [new Set(names).size === names.length, 'it names an exchange twice'],
      [
        saved === null ||
          isDeepStrictEqual(
            saved,
            exchanges.map(({ from }) => from),
          ),
        'the exchanges that it saved are not those that it declares',
      ],
      [
        isDeepStrictEqual(kept, stepOf(plan, 'delete-held')?.vanishing ?? []) &&
          kept.every(({ name }) => !isBuiltIn(name)),
        'the exchanges that it keeps from vanishing are not those that it releases',
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
  if (other) return [`it binds a queue or exchange that is not its own: ${other.source} to ${other.destination}`]
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
    : ['its steps bind its queues and exchanges in different ways']
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
    [counts.every((it) => Number.isSafeInteger(it) && it === count), 'its steps count different numbers of messages'],
    [
      shown === (discards ? count : 0),
      `its plan shows ${counted(shown, 'message')} as lost, but it deletes up to ${discards ? count : 0}`,
    ],
  ])
}

function toldOf(wrong: readonly (readonly [isFine: boolean, what: string])[]): string[] {
  return wrong.flatMap(([isFine, what]) => (isFine ? [] : [what]))
}
