import { counted, listed } from '../../core/format.ts'
import { howToMend, settingOf } from '../../domain/queues/broker-queues.ts'
import { tolerant } from '../../domain/wanted.ts'
import type { Move } from '../../core/action.ts'
import { AdminError } from '../../core/error.ts'
import type { QueueCounts } from '../../core/sources.ts'
import type { Workshop } from '../handler.ts'
import { aheadOf } from '../../knowledge/broker.ts'
import { accountsOf, compare } from './account.ts'
import type { Entry } from '../../core/notes.ts'
import type { Comparison, Left } from './account.ts'
import { droppingOn } from './policies.ts'
import { countsOf, liveQueues } from './queues.ts'

/**
 * Compares what came back with what was moved aside, queue by queue. Throws INTERRUPTED once if they differ: a resumed
 * run repeats it in its final report. `before`: counts of existing queues before the last move back; `lost`: queues
 * that lost returned messages earlier.
 */
export async function verifyMoved(
  moves: readonly Move[],
  { before, lost }: { before: ReadonlyMap<string, QueueCounts>; lost: ReadonlyMap<string, Left> },
  workshop: Workshop,
): Promise<void> {
  const { journal, progress, result } = workshop
  const accounts = accountsOf(journal.ofRun())
  for (const { queue } of moves) {
    const known = accounts.toldOf(queue)
    if (known !== null) result(known)
  }
  const compared = moves.flatMap(({ queue, holding: of }) => {
    const isKnown = accounts.toldOf(queue) !== null
    return ([undefined, true] as const).flatMap((ahead) => {
      const account = accounts.of(queue, ahead)
      const holding = ahead ? aheadOf(of) : of
      const now = { ready: before.get(queue)?.ready ?? 0, held: before.get(holding)?.ready ?? 0 }
      return account === null ? [] : [{ queue, holding, so: isKnown ? null : compare(account, now) }]
    })
  })
  if (compared.length === 0) return
  const differing: Differing[] = [
    ...compared.flatMap(({ so, queue, holding }) =>
      so?.difference ? [{ queue, holding, where: whereLost(so.difference), said: differenceOf(queue, so) }] : [],
    ),
    ...moves.flatMap(({ queue, holding }) =>
      lost.has(queue) ? [{ queue, holding, where: 'queue' as const, said: lossOf(queue, lost.get(queue)!) }] : [],
    ),
  ]
  // messages that an undo moved ahead were counted with those they were ahead of
  const came = new Map<string, number>()
  for (const { queue, so } of compared) came.set(queue, Math.max(came.get(queue) ?? 0, so?.came ?? 0))
  const transient = await transientIn(came, workshop)
  const entry: Entry = {
    event: 'compared',
    queues: [...new Set(compared.map(({ queue }) => queue))],
    differing: Object.fromEntries(
      differing.map(({ queue }) => [
        queue,
        differing
          .filter((it) => it.queue === queue)
          .map(({ said }) => said)
          .join('. '),
      ]),
    ),
    ...(Object.keys(transient).length > 0 && { transient }),
  }
  await journal.note(JSON.stringify(entry))
  if (differing.length > 0) throw await missingOf(differing, workshop)
  const total = [...came.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return
  const text = compared.some(({ so }) => so?.isAtLeast)
    ? `${counted(total, 'message')} moved back, none missing. Some may be duplicates, because a move was interrupted ` +
      'or RabbitMQ was restarted'
    : `${counted(total, 'message')} moved back, with the same contents`
  for (const said of [text, ...(await droppedSince(came, workshop))]) {
    progress(said)
    result(said)
  }
}

/** The messages in those queues that a restart of the broker would drop. */
async function transientIn(came: ReadonlyMap<string, number>, { open }: Workshop): Promise<Record<string, number>> {
  const there = await liveQueues({ open })
  const names = [...came.keys()].filter((name) => there.get(name)?.durable === false)
  const counts = await countsOf(names, { open })
  return Object.fromEntries(
    names
      .map((name) => [name, Math.max(came.get(name) ?? 0, counts.get(name)?.ready ?? 0)] as const)
      .filter(([, count]) => count > 0),
  )
}

/**
 * Reports queues that have fewer messages than came back: a queue drops what is over its limit, whatever the message.
 */
async function droppedSince(came: ReadonlyMap<string, number>, { open }: Workshop): Promise<string[]> {
  const counts = await countsOf([...came.keys()], { open })
  return [...came].flatMap(([queue, count]) => {
    const { ready = count, consumers = 0 } = counts.get(queue) ?? {}
    return ready < count && consumers === 0
      ? [
          `queue ${queue} has lost ${count - ready} of the ${counted(count, 'message')} moved back to it: ` +
            'messages expired, or the queue has reached its limit',
        ]
      : []
  })
}

interface Differing {
  queue: string
  holding: string
  said: string
  /**
   * where the messages were when they got lost: in their own queue, before or after the move, or in the holding queue;
   * null: `said` tells why
   */
  where: 'queue' | 'holding' | null
}

function whereLost(difference: NonNullable<Comparison['difference']>): Differing['where'] {
  return difference === 'before' ? 'queue' : difference === 'again' ? null : 'holding'
}

async function missingOf(differing: readonly Differing[], { open }: Workshop): Promise<AdminError> {
  const policies = await droppingOn(
    differing.map(({ queue, holding, where }) => (where === 'holding' ? holding : queue)),
    { open },
  )
  const broker = await open.broker()
  const reasons =
    policies.length === 0
      ? reasonsOf(differing)
      : ` A policy lets the broker drop messages: ${policies.map(settingOf).join('; ')}.`
  const isStopped = (await tolerant(open.service().then(async (service) => service.status())))?.state === 'stopped'
  return new AdminError(
    'INTERRUPTED',
    `${differing.map(({ said }) => said).join('. ')}.${reasons} All other messages are ` +
      `back.${isStopped ? ' The service is still stopped' : ''}`,
    [
      ...policies.slice(0, 1).flatMap((policy) => howToMend(policy, differing[0]!.holding, broker)),
      'rabbitmqctl list_queues name messages consumers   # on the broker: shows whether the messages are in ' +
        'another queue',
      'if you have found the messages, or do not need them, run the same command again: this time, it ' +
        'continues despite the difference',
    ],
  )
}

function reasonsOf(differing: readonly Differing[]): string {
  const before = differing.filter(({ where }) => where === 'queue')
  const after = differing.filter(({ where }) => where === 'holding')
  const reasons = [
    ...(before.length === 0
      ? []
      : [
          ` Possible causes: another client read from ${listed(before.map(({ queue }) => queue))}, messages ` +
            'expired, or a restart of RabbitMQ emptied transient queues.',
        ]),
    ...(after.length === 0
      ? []
      : [` Another client read from or published to ${listed(after.map(({ holding }) => holding))}.`]),
  ]
  return reasons.join('')
}

function differenceOf(queue: string, { went, came, difference }: Comparison): string {
  if (difference === 'before')
    return (
      `Queue ${queue} had ${counted(went, 'message')} when the move was interrupted, but only ${came} when the ` +
      'move was resumed'
    )
  if (difference === 'again')
    return (
      `Queue ${queue} has lost ${went - came} of the ${counted(went, 'message')} moved back to it, because ` +
      'RabbitMQ was restarted'
    )
  if (went === came)
    return `Queue ${queue} got ${counted(came, 'message')} back, but with different contents or in a different order`
  return `Queue ${queue}: ${counted(went, 'message')} moved aside, but ${came} moved back`
}

function lossOf(queue: string, { came, left }: Left): string {
  return (
    `${counted(came, 'message')} had been moved back to queue ${queue} when the move was interrupted, but the ` +
    `queue had only ${left} when the move was resumed`
  )
}
