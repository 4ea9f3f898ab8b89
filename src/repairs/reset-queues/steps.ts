import { keepableTypes } from '../../core/action.ts'
import type { Definitions, Former, Move, VanishingExchange } from '../../core/action.ts'
import type { Step } from '../../core/plan.ts'
import type { BrokerQueue } from '../../core/sources.ts'
import type { Binding, ExchangeDeclaration, QueueDeclaration } from '../../core/topology.ts'
import { counted, listed } from '../../core/format.ts'
import {
  countsDeathsItself,
  exchangeArguments,
  isDroppedArgument,
  keepingExchanges,
  queueArguments,
} from '../../knowledge/broker.ts'
import { holdingOf } from '../../knowledge/held-queues.ts'
import type { Chosen, ChosenQueue } from './chosen.ts'
import { lossOfDeadLetters } from './dead-letters.ts'

export interface Wanted extends Pick<Chosen, 'queues' | 'exchanges' | 'deadLettered' | 'vanishing'> {
  version: string
  user: string
  saved: Definitions
  setting: { name: string; from: string | null; to: string } | null
  /** 0: nobody empties them */
  drainSeconds: number
  discards: boolean
  messages: number
  /** the user_id of another user comes back */
  keepsUserIds: boolean
  /** queues of the service's connection, which vanish with it */
  exclusive: readonly string[]
  stop: Step
  start: Step
}

/** All that is done, in an order in which what can fail fails before it can harm (DESIGN.md 6). */
export function stepsOf(wanted: Wanted): Step[] {
  const { queues, exchanges, setting, stop, start, exclusive } = wanted
  const stopping =
    exclusive.length === 0
      ? stop
      : {
          ...stop,
          loses: `${listed(exclusive)} with what is in them: exclusive to the service's connection, they go with each stop of it`,
        }
  const keeps = vanishingOf(wanted).map(({ name }) => name)
  // a setting that is taken back takes effect with another start, too
  const binds = wanted.saved.bindings
  const starting: Step = {
    ...start,
    action: {
      kind: 'start-service',
      stopsOnUndo: true,
      ...(keeps.length > 0 && { keeps }),
      ...(binds.length > 0 && { binds }),
    },
  }
  if (queues.length + exchanges.length === 0) return [stopping, ...settingStep(setting), starting]
  return [
    ...beforeStop(wanted),
    stopping,
    quietStep(wanted),
    ...settingStep(setting),
    ...queueSteps(wanted),
    ...exchangeSteps(wanted),
    ...afterwards(wanted),
    starting,
  ]
}

function namesOf({ queues }: Wanted): string[] {
  return queues.map(({ queue }) => queue.name)
}

function movesOf(wanted: Wanted): Move[] {
  return namesOf(wanted).map((queue) => ({ queue, holding: holdingOf(queue) }))
}

function beforeStop(wanted: Wanted): Step[] {
  const { queues, discards, saved, drainSeconds, messages } = wanted
  const vanishing = vanishingOf(wanted)
  if (discards || queues.length === 0) return []
  return [
    {
      title: `declare durable queues in which messages wait meanwhile, for each of ${counted(queues.length, 'queue')} that is in use`,
      action: { kind: 'hold-queues', moves: movesOf(wanted), saved, ...keptOf(wanted) },
      interrupts: false,
    },
    ...(vanishing.length === 0 ? [] : [keepStep(wanted, vanishing)]),
    ...(drainSeconds === 0
      ? []
      : [
          {
            title: `let the service empty its queues, for ${drainSeconds} s at most`,
            action: {
              kind: 'drain-queues' as const,
              queues: namesOf(wanted),
              seconds: drainSeconds,
              counts: { messages },
            },
            interrupts: false,
          },
        ]),
  ]
}

/** Exchanges that are kept from vanishing, where any are. */
function keptOf(wanted: Wanted): { vanishing?: readonly VanishingExchange[] } {
  const vanishing = keptIn(wanted)
  return vanishing.length === 0 ? {} : { vanishing }
}

/** An exchange of another type could send messages to ours, or be bound to it in no way that is known. */
function keptIn({ exchanges, vanishing, discards, queues }: Wanted): VanishingExchange[] {
  if (discards || queues.length === 0) return []
  const own = exchanges.filter(({ autoDelete }) => autoDelete)
  return [...own, ...vanishing].flatMap(({ name, type }) => {
    const known = keepableTypes.find((it) => it === type)
    return known === undefined ? [] : [{ name, type: known }]
  })
}

/** Others' exchanges that vanish, which nothing brings back; null: none do. */
function lossOfExchanges(wanted: Wanted): string | null {
  const kept = new Set(keptIn(wanted).map(({ name }) => name))
  const lost = wanted.vanishing.map(({ name }) => name).filter((name) => !kept.has(name))
  return lost.length === 0
    ? null
    : `${listed(lost)} with all bindings, unless the service declares them: ${lost.length === 1 ? 'an exchange that vanishes' : 'exchanges that vanish'} with the last binding`
}

/** Those that go with their last consumer, or some time after it. */
function vanishingOf({ queues }: Wanted): BrokerQueue[] {
  return queues
    .map(({ queue }) => queue)
    .filter(({ autoDelete, arguments: values }) => autoDelete || 'x-expires' in values)
}

function keepStep(wanted: Wanted, vanishing: readonly BrokerQueue[]): Step {
  const names = vanishing.map(({ name }) => name)
  return {
    title: `hold ${listed(names)} open, which would vanish with the service's connection`,
    action: {
      kind: 'keep-queues',
      queues: vanishing.map((queue) => ({ queue: declarationOf(queue), holding: holdingOf(queue.name) })),
      bindings: bindingsTo(wanted, wanted.saved).filter(({ destination }) => names.includes(destination)),
    },
    interrupts: false,
    loses: `should this program be killed, or the broker be lost, before their messages are moved aside, by this repair or its undo, ${listed(names)} vanish with what is in them`,
  }
}

function quietStep(wanted: Wanted): Step {
  return {
    title: 'wait until nothing of the service is connected to the broker',
    action: { kind: 'await-quiet', queues: namesOf(wanted), user: wanted.user },
    interrupts: false,
  }
}

function settingStep(setting: Wanted['setting']): Step[] {
  return setting === null
    ? []
    : [{ title: `set ${setting.name}=${setting.to}`, action: { kind: 'set-setting', ...setting }, interrupts: false }]
}

function queueSteps(wanted: Wanted): Step[] {
  const { queues, discards, messages, saved } = wanted
  if (queues.length === 0) return []
  const former: Former[] = queues.map(({ queue }) => ({ queue: declarationOf(queue), holding: holdingOf(queue.name) }))
  const counts = { messages }
  const losses = [
    discards ? 'all messages in them: --discard-messages asks for that' : null,
    lossOfDeadLetters(namesOf(wanted), wanted.deadLettered),
    lossOfExchanges(wanted),
  ].filter((it) => it !== null)
  const remove: Step = {
    title: `delete ${counted(queues.length, 'transient queue')}: ${listed(namesOf(wanted))}`,
    action: { kind: 'delete-queues', queues: former, bindings: bindingsTo(wanted, saved), discards, counts },
    interrupts: false,
    ...(losses.length > 0 && { loses: losses.join('; ') }),
  }
  if (discards) return [remove]
  return [
    {
      title: 'move their messages aside',
      action: { kind: 'move-messages', direction: 'aside', moves: movesOf(wanted), counts },
      interrupts: false,
    },
    remove,
  ]
}

function exchangeSteps(wanted: Wanted): Step[] {
  const { exchanges, queues, saved } = wanted
  if (exchanges.length === 0) return []
  const names = exchanges.map(({ name }) => name)
  const losses = [
    lossOfKept(exchanges),
    lossOfTypes(exchanges, exchangeArguments),
    queues.length === 0 ? lossOfExchanges(wanted) : null,
  ].filter((it) => it !== null)
  return [
    {
      title: `declare ${counted(exchanges.length, 'exchange')} anew as durable, with all their bindings: ${listed(names)}`,
      action: {
        kind: 'switch-exchanges',
        exchanges: exchanges.map((it) => ({ from: exchangeOf(it), to: { ...exchangeOf(it), durable: true } })),
        bindings: saved.bindings.filter(
          ({ source, destination, destinationKind }) =>
            names.includes(source) || (destinationKind === 'exchange' && names.includes(destination)),
        ),
      },
      interrupts: false,
      ...(losses.length > 0 && { loses: losses.join('; ') }),
    },
  ]
}

/** Messages that no queue has yet, and that nothing counts; null: there are none of the kind. */
function lossOfKept(exchanges: Wanted['exchanges']): string | null {
  const keeping = exchanges
    .filter(({ type }) => keepingExchanges.includes(type))
    .map(({ name, type }) => `${name} (${type})`)
  return keeping.length === 0 ? null : `messages that wait in ${listed(keeping)}: they go with the exchange`
}

function afterwards(wanted: Wanted): Step[] {
  const { queues, discards, messages, saved, version, keepsUserIds, deadLettered } = wanted
  if (queues.length === 0) return []
  const moves = movesOf(wanted)
  const kept = new Set(keptIn(wanted).map(({ name }) => name))
  // a message that expires before the service is up goes nowhere where the queue of its dead letters is missing
  const isAlways = ({ queue: { name }, isDeclared }: ChosenQueue): boolean =>
    !isDeclared || deadLettered.has(name) || isFed.has(name)
  // their exchange is to have its bindings again before it is let go of
  const isFed = new Set(saved.bindings.filter(({ source }) => kept.has(source)).map(({ destination }) => destination))
  const expiring = queues.filter(({ queue }) => 'x-expires' in queue.arguments).map(({ queue }) => queue.name)
  const losses = [
    ...(expiring.length > 0
      ? [`${listed(expiring)} with what is in them, should nobody read from them for their x-expires`]
      : []),
    ...[
      lossOfTypes(
        queues.map(({ queue }) => queue),
        queueArguments,
      ),
    ].filter((it) => it !== null),
  ]
  const anew: Step = {
    title:
      'declare those queues anew as durable for which messages wait, to which dead letters go, or which the service is not known to declare; it declares the others',
    action: {
      kind: 'redeclare-queues',
      queues: queues.map((it) => ({
        queue: durableOf(it.queue, version),
        holding: holdingOf(it.queue.name),
        ...(isAlways(it) && { always: true as const }),
      })),
      bindings: bindingsTo(wanted, saved),
    },
    interrupts: false,
    ...(losses.length > 0 && { loses: losses.join('; ') }),
  }
  if (discards) return [anew]
  return [
    anew,
    {
      title: 'move their messages back',
      action: { kind: 'move-messages', direction: 'back', moves, counts: { messages } },
      interrupts: false,
      loses:
        'of each message that is moved: the name of the exchange that it came through, how long it has waited (a time to live begins anew), whether it had been delivered before, whether it was persistent (it is afterwards)' +
        (countsDeathsItself(version)
          ? ', how often it was a dead letter (its x-death stays until it is one again, and then counts from 1)'
          : '') +
        (keepsUserIds ? '' : ", and its user_id where that is another user's"),
    },
    {
      title: 'delete the queues in which messages waited',
      action: { kind: 'delete-held', holding: moves.map(({ holding }) => holding), ...keptOf(wanted) },
      interrupts: false,
    },
  ]
}

/**
 * Of arguments that RabbitMQ does not know, the broker's list shows no types, and nobody but their owner can tell them;
 * null: there are none.
 */
function lossOfTypes(
  all: readonly { name: string; arguments: Readonly<Record<string, unknown>> }[],
  known: ReadonlySet<string>,
): string | null {
  const untold = all.flatMap(({ name, arguments: values }) =>
    Object.keys(values)
      .filter((key) => !known.has(key) && typeof values[key] !== 'boolean')
      .map((key) => `${key} of ${name}`),
  )
  if (untold.length === 0) return null
  return `the exact type of each argument that RabbitMQ does not know (${listed(untold)}): text comes back as text, a whole number as int or long, any other as double`
}

function bindingsTo(wanted: Wanted, { bindings }: Definitions): Binding[] {
  const names = new Set(namesOf(wanted))
  return bindings.filter(({ destination, destinationKind }) => destinationKind === 'queue' && names.has(destination))
}

export function declarationOf({ name, durable, autoDelete, arguments: values }: QueueDeclaration): QueueDeclaration {
  return { name, durable, autoDelete, arguments: values }
}

export function exchangeOf({
  name,
  type,
  durable,
  autoDelete,
  internal,
  arguments: values,
}: ExchangeDeclaration): ExchangeDeclaration {
  return { name, type, durable, autoDelete, internal, arguments: values }
}

/** As it is declared anew: without what this broker does not take any more. */
function durableOf(queue: QueueDeclaration, version: string): QueueDeclaration {
  const kept = Object.entries(queue.arguments).filter(([name, value]) => !isDroppedArgument(version, name, value))
  return { ...declarationOf(queue), durable: true, arguments: Object.fromEntries(kept) }
}
