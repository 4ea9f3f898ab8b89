import { keepableTypes } from '../../core/action.ts'
import type { Definitions, Former, Move, VanishingExchange } from '../../core/action.ts'
import type { Step } from '../../core/plan.ts'
import type { BrokerQueue } from '../../core/sources.ts'
import type { Binding, ExchangeDeclaration, QueueDeclaration } from '../../core/broker-control.ts'
import { counted, listed } from '../../core/format.ts'
import {
  countsDeathsItself,
  exchangeArguments,
  holdingOf,
  isDroppedArgument,
  keepingExchanges,
  queueArguments,
} from '../../knowledge/broker.ts'
import type { Chosen, ChosenQueue } from './chosen.ts'
import { lossOfDeadLetters } from './chosen.ts'

export interface Wanted extends Pick<Chosen, 'queues' | 'exchanges' | 'deadLettered' | 'vanishing'> {
  version: string
  user: string
  saved: Definitions
  setting: { name: string; from: string | null; to: string } | null
  /** 0: the step is left out */
  drainSeconds: number
  discards: boolean
  messages: number
  /** whether a user_id of another user survives the move */
  keepsUserIds: boolean
  /** exclusive queues of the service's connection, which vanish with it */
  exclusive: readonly string[]
  stop: Step
  start: Step
}

/** All steps, ordered so that what can fail does so before it can do harm (DESIGN.md 6). */
export function stepsOf(wanted: Wanted): Step[] {
  const { queues, exchanges, setting, stop, start, exclusive } = wanted
  const stopping =
    exclusive.length === 0
      ? stop
      : {
          ...stop,
          loses:
            `exclusive queues ${listed(exclusive)} with all their messages. RabbitMQ deletes such queues ` +
            'whenever the service stops',
        }
  const keeps = vanishingOf(wanted).map(({ name }) => name)
  // an undone setting also needs a new start to take effect
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
      title:
        'declare durable temporary queues that hold the messages during the repair, one for each queue in use ' +
        `(at most ${queues.length})`,
      action: { kind: 'hold-queues', moves: movesOf(wanted), saved, ...keptOf(wanted) },
      interrupts: false,
    },
    ...(vanishing.length === 0 ? [] : [keepStep(wanted, vanishing)]),
    ...(drainSeconds === 0
      ? []
      : [
          {
            title: `let the service empty its queues, for up to ${drainSeconds} s`,
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

/** The exchanges that the repair keeps from vanishing, as a part of an action. */
function keptOf(wanted: Wanted): { vanishing?: readonly VanishingExchange[] } {
  const vanishing = keptIn(wanted)
  return vanishing.length === 0 ? {} : { vanishing }
}

/**
 * Auto-delete exchanges that the repair can keep. One of another type could send messages to our exchange, or cannot be
 * bound to it in a known way.
 */
function keptIn({ exchanges, vanishing, discards, queues }: Wanted): VanishingExchange[] {
  if (discards || queues.length === 0) return []
  const own = exchanges.filter(({ autoDelete }) => autoDelete)
  return [...own, ...vanishing].flatMap(({ name, type }) => {
    const known = keepableTypes.find((it) => it === type)
    return known === undefined ? [] : [{ name, type: known }]
  })
}

/** Exchanges of others that vanish for good; null: none. */
function lossOfExchanges(wanted: Wanted): string | null {
  const kept = new Set(keptIn(wanted).map(({ name }) => name))
  const lost = wanted.vanishing.map(({ name }) => name).filter((name) => !kept.has(name))
  return lost.length === 0
    ? null
    : `${lost.length === 1 ? 'auto-delete exchange' : 'auto-delete exchanges'} ${listed(lost)} with all ` +
        `bindings, unless the service declares ${lost.length === 1 ? 'it' : 'them'} again`
}

/** Queues that vanish with their last consumer, or some time after it. */
function vanishingOf({ queues }: Wanted): BrokerQueue[] {
  return queues
    .map(({ queue }) => queue)
    .filter(({ autoDelete, arguments: values }) => autoDelete || 'x-expires' in values)
}

function keepStep(wanted: Wanted, vanishing: readonly BrokerQueue[]): Step {
  const names = vanishing.map(({ name }) => name)
  return {
    title: `keep queues that RabbitMQ would delete when the service disconnects: ${listed(names)}`,
    action: {
      kind: 'keep-queues',
      queues: vanishing.map((queue) => ({ queue: declarationOf(queue), holding: holdingOf(queue.name) })),
      bindings: bindingsTo(wanted, wanted.saved).filter(({ destination }) => names.includes(destination)),
    },
    interrupts: false,
    loses:
      `${listed(names)} with all messages, if testops-admin is killed or the broker fails before the messages ` +
      'are moved',
  }
}

function quietStep(wanted: Wanted): Step {
  return {
    title: "wait until the service's connections to the broker are closed",
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
    discards ? 'all messages in these queues, because of --discard-messages' : null,
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
      title: 'move the messages aside, to the temporary queues',
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
      title: `redeclare ${counted(exchanges.length, 'exchange')} as durable, with all bindings: ${listed(names)}`,
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

/** The loss of messages that exchanges keep themselves, which nothing counts; null: no exchange is of that kind. */
function lossOfKept(exchanges: Wanted['exchanges']): string | null {
  const keeping = exchanges
    .filter(({ type }) => keepingExchanges.includes(type))
    .map(({ name, type }) => `${name} (${type})`)
  return keeping.length === 0
    ? null
    : `messages held in ${keeping.length === 1 ? 'exchange' : 'exchanges'} ${listed(keeping)}, which RabbitMQ ` +
        `deletes together with the ${keeping.length === 1 ? 'exchange' : 'exchanges'}`
}

function afterwards(wanted: Wanted): Step[] {
  const { queues, discards, messages, saved, version, keepsUserIds, deadLettered } = wanted
  if (queues.length === 0) return []
  const moves = movesOf(wanted)
  const kept = new Set(keptIn(wanted).map(({ name }) => name))
  // a message that expires before the service is up is lost if the queue for its dead letters is missing
  const isAlways = ({ queue: { name }, isDeclared }: ChosenQueue): boolean =>
    !isDeclared || deadLettered.has(name) || isFed.has(name)
  // an exchange needs its bindings back before it is released
  const isFed = new Set(saved.bindings.filter(({ source }) => kept.has(source)).map(({ destination }) => destination))
  const expiring = queues.filter(({ queue }) => 'x-expires' in queue.arguments).map(({ queue }) => queue.name)
  const losses = [
    ...(expiring.length > 0
      ? [`${listed(expiring)} with all messages, if the time in x-expires passes before a client reads from the queue`]
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
      'redeclare as durable: queues with messages, dead-letter queues, and queues that the service might ' +
      'not declare itself',
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
      title: 'move the messages back',
      action: { kind: 'move-messages', direction: 'back', moves, counts: { messages } },
      interrupts: false,
      loses:
        'for each moved message: the exchange it came through, its time in the queue so far (its time to live ' +
        'restarts), its redelivered flag, its delivery mode (it becomes persistent)' +
        (countsDeathsItself(version)
          ? ', its dead-letter count (x-death starts at 1 again at the next dead-lettering)'
          : '') +
        (keepsUserIds ? '' : ", its user_id (if another user's)"),
    },
    {
      title: 'delete the temporary queues',
      action: { kind: 'delete-held', holding: moves.map(({ holding }) => holding), ...keptOf(wanted) },
      interrupts: false,
    },
  ]
}

/**
 * The loss of argument types: the broker shows none for arguments that it does not know, and only their owner knows
 * them. Null: no such arguments.
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
  return (
    `the exact types of arguments that RabbitMQ does not define (${listed(untold)}): whole numbers become int ` +
    'or long, other numbers become double, text stays text'
  )
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

/** The same queue as durable, without the arguments that this broker no longer accepts. */
function durableOf(queue: QueueDeclaration, version: string): QueueDeclaration {
  const kept = Object.entries(queue.arguments).filter(([name, value]) => !isDroppedArgument(version, name, value))
  return { ...declarationOf(queue), durable: true, arguments: Object.fromEntries(kept) }
}
