import { queueSituation } from '../domain/queues/broker-queues.ts'
import type { QueueSituation } from '../domain/queues/broker-queues.ts'
import { rabbitmqctl, settingLines } from '../domain/evidence.ts'
import { exactlyListed } from '../domain/queues/exact-bindings.ts'
import { counted, listed } from '../core/format.ts'
import { readSettings, recentRecords } from '../domain/service.ts'
import { tolerant } from '../domain/wanted.ts'
import type { Definitions } from '../core/action.ts'
import type { Wanted } from '../core/check.ts'
import { AdminError } from '../core/error.ts'
import type { Risk } from '../core/plan.ts'
import { defineRepair } from '../core/repair.ts'
import { typed } from '../core/typed.ts'
import type { BrokerSource, QueueCounts } from '../core/sources.ts'
import { aheadOf, alwaysDurable, holdingOf, impersonator, isDroppedArgument } from '../knowledge/broker.ts'
import { springSettings } from '../knowledge/settings.ts'
import { choose } from './reset-queues/chosen.ts'
import type { Chosen, ChosenQueue } from './reset-queues/chosen.ts'
import { foreignClients, refuseToLeave, refuseUnlessHeldSafely, refuseUntold } from './reset-queues/refusals.ts'
import { declarationOf, exchangeOf, stepsOf } from './reset-queues/steps.ts'
import { secondMigrationRisks } from '../domain/lock/steps.ts'
import { controllerRisks, rolloutRisks, settingNotes, startStep, stopStep, unaskedNotes } from './service-steps.ts'
import { vendorToWrite } from './set-env/change.ts'
import type { Suggestion } from '../core/shell-command.ts'

export interface ResetOptions {
  /** how long the service may work through its queues before it is stopped */
  drainSeconds: number
  /** whether to delete the messages together with their queues */
  discard: boolean
  /** queue names, or patterns with `*` and `?`; empty: all queues that are provably the service's */
  queues: readonly string[]
}

export const resetQueues = defineRepair({
  id: 'reset-queues',
  title: 'redeclare the queues as durable and keep their messages',
  reads: ['service'],
  wants: ['broker', 'logs', 'api'],
  async plan(
    { broker: opening, service, logs, api },
    deployment,
    { drainSeconds, discard, queues: patterns }: ResetOptions,
  ) {
    const broker = opened(opening)
    const situation = await queueSituation(broker, service, logs, deployment)
    const [settings, status, records, exchanges, bindings, policies, consumers, tags] = await Promise.all([
      readSettings(service, deployment),
      service.status(),
      recentRecords(logs),
      broker.exchanges(),
      broker.bindings(),
      ifAllowed(broker.policies()),
      broker.consumers(),
      tolerant(broker.tags()),
    ])
    const keepsUserIds = tags?.includes(impersonator) ?? false
    const { setting, version } = situation
    const user = settings.value(springSettings.rabbitUsername) ?? broker.user
    const theirs = consumers.filter((it) => it.user !== user && it.vhost === broker.vhost)
    const readByOthers = new Map(
      theirs.map(({ queue }) => [queue, [...new Set(theirs.filter((it) => it.queue === queue).map((it) => it.user))]]),
    )
    const chosen = choose(
      situation,
      { exchanges, bindings, policies: policies ?? [], records, readByOthers },
      broker.vhost,
      patterns,
    )
    const written = settings.value(setting.name)
    const change = setting.durable ? null : { name: setting.name, from: written, to: 'true' }
    if (change) {
      vendorToWrite([{ known: 'rabbitDurable', to: change.to }], {
        given: undefined,
        deployment,
        names: (await service.environment()).keys(),
        lookedIn: "the service's settings",
        next: () => [
          'testops-admin set-env --durable-queues true --vendor-prefix PREFIX --no-restart -d {deployment}   # ' +
            'then run reset-queues again',
          'vendor: {prefix: PREFIX}   # in the configuration',
        ],
      })
      refuseToLeave(chosen.leftOut, setting.name)
    }
    const isTouched = chosen.queues.length + chosen.exchanges.length > 0
    const names = chosen.queues.map(({ queue }) => queue.name)
    if (!discard && names.length > 0)
      await refuseUnlessHeldSafely(
        broker,
        names.map(holdingOf).flatMap((holding) => [holding, aheadOf(holding)]),
        { policies: policies ?? [], there: situation.all },
      )
    const risks = isTouched
      ? [
          await foreignClients(broker, user, names),
          ...(policies === null && !discard ? [unseenPolicies(broker)] : []),
        ].filter((risk) => risk !== null)
      : []
    const messages = messagesIn(chosen.queues, await broker.counts(names))
    const total = [...messages.values()].reduce((sum, count) => sum + count, 0)
    const saved: Definitions = {
      queues: chosen.queues.map(({ queue }) => declarationOf(queue)),
      exchanges: chosen.exchanges.map(exchangeOf),
      bindings: bindings.filter(
        (it) =>
          names.includes(it.destination) ||
          chosen.exchanges.some(({ name }) => name === it.source || name === it.destination),
      ),
      policies: [...(policies ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1)),
    }
    // refuses what could not be declared or bound again unchanged
    refuseUntold(
      chosen.queues.map(({ queue }) => queue),
      chosen.exchanges,
    )
    exactlyListed(saved.bindings)
    const readers = new Set(consumers.filter((it) => it.user === user).map(({ queue }) => queue))
    const exclusive = (await broker.queues())
      .filter((it) => it.exclusive && readers.has(it.name))
      .map(({ name }) => name)
    const steps =
      !isTouched && change === null
        ? []
        : stepsOf({
            ...chosen,
            version,
            user,
            saved,
            keepsUserIds,
            setting: change,
            drainSeconds,
            discards: discard,
            messages: total,
            exclusive,
            stop: stopStep(status),
            start: startStep(),
          })
    return {
      target: { broker: `${broker.target}, RabbitMQ ${version}`, service: settings.names.rabbitDurable },
      impact: steps.length === 0 ? {} : impactOf(chosen, messages, discard, change !== null),
      evidence: [...evidenceOf(broker, chosen.queues, messages), ...settingLines(service, setting.name, setting.shown)],
      notes: [
        ...(steps.length === 0 ? [] : unaskedNotes(api)),
        ...notesOf(situation, chosen, total, discard),
        ...(total > 0 && !discard && !keepsUserIds ? [howToKeepUserIds(broker, tags)] : []),
        ...(change === null ? [] : settingNotes(deployment, change)),
      ],
      risks: [
        ...risks,
        ...(steps.length === 0
          ? []
          : [
              ...(await rolloutRisks(service, { mends: ['unready'] })),
              ...(await controllerRisks(service)),
              ...(await secondMigrationRisks(logs, status, deployment)),
            ]),
      ],
      steps,
      verifiedBy: ['broker/queues-durable', 'service/running', 'api/reachable'],
    }
  },
})

/**
 * The broker; throws the error from opening it, and points to `explain` in case transient queues keep RabbitMQ from
 * booting.
 */
function opened(broker: Wanted<BrokerSource>): BrokerSource {
  if (!(broker instanceof AdminError)) return broker
  if (broker.code === 'NOT_CONFIGURED') throw broker
  const suggestions: Suggestion[] = [
    ...broker.suggestions,
    'testops-admin explain broker/reachable   # if RabbitMQ does not start',
  ]
  throw new AdminError(broker.code, broker.message, suggestions, { cause: broker, obstacle: broker.obstacle })
}

/** The answer to a question that needs more rights; null: this user lacks them. */
async function ifAllowed<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof AdminError && error.code === 'FORBIDDEN') return null
    throw error
  }
}

function unseenPolicies(broker: BrokerSource): Risk {
  return {
    name: 'unseen-policies',
    message:
      "this user cannot see the broker's policies. A policy with a time to live or a length limit could drop " +
      'messages during the repair',
    proof: [rabbitmqctl(broker, 'list_policies'), rabbitmqctl(broker, 'list_operator_policies')],
  }
}

/** `tags`: the user's tags; null: they cannot be read. */
function howToKeepUserIds({ user }: BrokerSource, tags: readonly string[] | null): string {
  const command = typed(['rabbitmqctl', 'set_user_tags', user, ...(tags ?? ['TAGS']), impersonator])
  return (
    `messages with another user's \`user_id\` lose this property. To keep it, give user ${user} the tag ` +
    `${impersonator} during the repair: ${command}`
  )
}

/**
 * Messages in each queue: the ready count or the listed total, whichever is larger, because lists lag (FIELD-NOTES.md
 * 3).
 */
function messagesIn(
  queues: readonly ChosenQueue[],
  counts: ReadonlyMap<string, QueueCounts | null>,
): Map<string, number> {
  return new Map(
    queues.map(({ queue: { name, messages } }) => [name, Math.max(messages ?? 0, counts.get(name)?.ready ?? 0)]),
  )
}

function impactOf(
  chosen: Chosen,
  messages: ReadonlyMap<string, number>,
  discard: boolean,
  setsSetting: boolean,
): Record<string, number> {
  const total = [...messages.values()].reduce((sum, count) => sum + count, 0)
  const full = [...messages.values()].filter((count) => count > 0).length
  const all = {
    ...(discard ? { messagesDiscarded: total } : { messagesMoved: total }),
    queuesWithMessages: full,
    queuesReset: chosen.queues.length,
    exchangesReset: chosen.exchanges.length,
    settingsChanged: setsSetting ? 1 : 0,
    serviceRestarts: 1,
  }
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0))
}

function evidenceOf(
  broker: BrokerSource,
  queues: readonly ChosenQueue[],
  messages: ReadonlyMap<string, number>,
): string[] {
  if (queues.length === 0) return []
  return [
    rabbitmqctl(broker, 'list_queues name durable messages'),
    ...queues
      .slice(0, 8)
      .map(({ queue: { name, durable }, proof }) => `${name} ${String(durable)} ${messages.get(name) ?? 0} (${proof})`),
    ...(queues.length > 8 ? [`and ${queues.length - 8} more`] : []),
  ]
}

function notesOf(
  { version, queues: own, all, missing }: QueueSituation,
  { queues, shared, leftOut, others }: Chosen,
  total: number,
  discard: boolean,
): string[] {
  const dropped = queues.flatMap(({ queue }) =>
    Object.entries(queue.arguments).flatMap(([name, value]) =>
      name !== 'x-queue-type' && isDroppedArgument(version, name, value)
        ? [`${queue.name}: ${name}=${String(value)}`]
        : [],
    ),
  )
  const durable = own.filter(({ queue }) => queue.durable)
  const lasting = all.filter(({ type }) => alwaysDurable.includes(type))
  return [
    ...(durable.length > 0
      ? [
          `${counted(durable.length, 'queue')} of the service ` +
            `${durable.length === 1 ? 'is already durable and stays' : 'are already durable and stay'} unchanged`,
        ]
      : []),
    ...(lasting.length > 0
      ? [`quorum queues and streams are always durable and stay unchanged: ${listed(lasting.map(({ name }) => name))}`]
      : []),
    ...(missing.length > 0 ? [`missing queues that the service declares when it starts: ${listed(missing)}`] : []),
    ...(dropped.length > 0
      ? [`RabbitMQ ${version} no longer accepts these arguments, so the repair leaves them out: ${listed(dropped)}`]
      : []),
    ...(shared.length > 0
      ? [`exchanges that stay transient, because other clients' queues are bound to them too: ${listed(shared)}`]
      : []),
    ...(leftOut.length > 0 ? [`queues that stay transient, because --queue leaves them out: ${listed(leftOut)}`] : []),
    ...(others.length > 0
      ? [`other queues that stay transient: ${others.map(({ name, why }) => `${name} (${why})`).join(', ')}`]
      : []),
    ...(total > 0 && !discard
      ? ['the repair moves the messages back unchanged, except that they become persistent']
      : []),
  ]
}
