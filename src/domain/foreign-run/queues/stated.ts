import { isDeepStrictEqual } from 'node:util'
import { counted } from '../../../core/format.ts'
import type { QueueDeclaration } from '../../../core/topology.ts'
import { alwaysDurable, isBuiltIn, queueArguments } from '../../../knowledge/broker.ts'
import { holdingOf } from '../../../knowledge/held-queues.ts'
import { areSameBindings, isSameQueue, stepOf } from './parts.ts'
import type { Parts } from './parts.ts'

/** more than any service declares */
const mostQueues = 20_000
/** of `--drain` */
const longestDrain = 86_400

/** What the steps of a reset-queues say that its steps never say, each beside the others; empty: nothing. */
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
      'messages would go to a queue that is not this program’s',
    ],
    [
      moves.every(
        (list) =>
          isWhole(list.map(({ queue }) => queue)) && list.every(({ queue, holding }) => holding === holdingOf(queue)),
      ),
      'it moves messages between other queues than it deletes',
    ],
    [directions.length === 0 || isDeepStrictEqual(directions, ['aside', 'back']), 'it moves messages in another order'],
    [
      held === null || isDeepStrictEqual([...held].sort(), names.map(holdingOf).sort()),
      'it deletes other queues than those that hold its messages',
    ],
    [
      saved === null ||
        (isWhole(saved.map(({ name }) => name)) &&
          saved.every((it) => former.some(({ queue }) => isSameQueue(queue, it)))),
      'what it saved differs from what it deletes',
    ],
    [
      kept.every(({ queue }) => former.some((it) => isSameQueue(it.queue, queue))) &&
        keeps.every((name) => known.has(name)),
      'it holds other queues open than it deletes',
    ],
    [
      isWhole(anew.map(({ queue }) => queue.name)) &&
        anew.every(({ queue }) => former.some((it) => isAnew(queue, it.queue))),
      'it declares other queues than it deletes',
    ],
    [
      [...former, ...kept].every(({ always }) => always === undefined),
      'it marks queues to be declared in a step that declares none',
    ],
    [isWhole(stepOf(plan, 'await-quiet')?.queues ?? names), 'it waits for other queues than it deletes'],
    [
      drained === null ||
        (isWhole(drained.queues) &&
          Number.isInteger(drained.seconds) &&
          drained.seconds > 0 &&
          drained.seconds <= longestDrain),
      'it drains other queues than it deletes, or for too long',
    ],
    [
      discards === (names.length > 0 && moves.length === 0) && isLossTold(parts),
      'it would lose messages that it does not say are lost',
    ],
  ] as const
  return toldOf(wrong)
}

/** The same queue, durable, with no argument that it did not have. */
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
    ...others.map(({ from }) => `it makes another exchange of ${from.name} than the same one, durable`),
    ...toldOf([
      [new Set(names).size === names.length, 'it names an exchange twice'],
      [
        saved === null ||
          isDeepStrictEqual(
            saved,
            exchanges.map(({ from }) => from),
          ),
        'it saved other exchanges than it declares',
      ],
      [
        isDeepStrictEqual(kept, stepOf(plan, 'delete-held')?.vanishing ?? []) &&
          kept.every(({ name }) => !isBuiltIn(name)),
        'it keeps other exchanges from vanishing than it lets go of',
      ],
    ]),
  ]
}

/** To its queues and exchanges alone, and each step the same. */
function ofBindings({ bindings, names, exchanges, plan }: Parts): string[] {
  const ownQueues = new Set(names)
  const ownExchanges = new Set(exchanges.map(({ from }) => from.name))
  const toOwnQueue = ({ destination, destinationKind }: (typeof bindings)[number]): boolean =>
    destinationKind === 'queue' && ownQueues.has(destination)
  const ofOwnExchange = ({ source, destination, destinationKind }: (typeof bindings)[number]): boolean =>
    ownExchanges.has(source) || (destinationKind === 'exchange' && ownExchanges.has(destination))
  const other = bindings.find((it) => it.source === '' || !(toOwnQueue(it) || ofOwnExchange(it)))
  if (other) return [`it binds what is not its own: ${other.source} to ${other.destination}`]
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

/** The plan shows what is lost, and the step deletes no more than that. */
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
      `its plan shows ${counted(shown, 'message')} as lost, and it deletes up to ${discards ? count : 0}`,
    ],
  ])
}

function toldOf(wrong: readonly (readonly [isFine: boolean, what: string])[]): string[] {
  return wrong.flatMap(([isFine, what]) => (isFine ? [] : [what]))
}
