import type { Action, ActionKind } from '../../../src/core/action.ts'
import type { AdminError } from '../../../src/core/error.ts'
import type { Plan, RepairId, Step } from '../../../src/core/plan.ts'
import type { RunEvent, RunHistory } from '../../../src/core/run.ts'
import type { BrokerExchange, BrokerQueue, SourceName, Sources } from '../../../src/core/sources.ts'
import { misfitsOf } from '../../../src/domain/foreign-run/index.ts'
import { stepsOf } from '../../../src/repairs/reset-queues/steps.ts'
import { eventOf, planOf, recordOf } from '../../engine/repairing.ts'
import { exchange, openFakes, queue } from '../../fakes/index.ts'

export type Given = { [K in SourceName]?: Sources[K] | AdminError }

const deployment = {
  name: 'prod',
  platform: 'host',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: 'UTC',
} as const

export function step(action: Action, of: Partial<Step> = {}): Step {
  return { title: 'a step', action, interrupts: false, ...of }
}

export const stop = step({ kind: 'stop-service', wasRunning: true })
export const start = step({ kind: 'start-service' })

/** A record of that repair, named as this program names it. */
export function history(repair: RepairId, of: Partial<Plan>, events: readonly RunEvent[] = []): RunHistory {
  const plan = planOf({ repair, options: {}, verifiedBy: ['service/running', 'api/reachable'], ...of })
  return {
    record: recordOf({ run: `20261121T021244Z-${repair}-1f3a`, startedAt: '2026-11-21T02:12:44.000Z', plan }),
    events,
  }
}

/** Why it does not fit, or the code of the error for which it cannot be compared. */
export async function unfitOf(it: RunHistory, sources: Given = {}): Promise<readonly string[] | string> {
  const { unfit, untold } = await misfitsOf(it, { deployment, open: openFakes(sources) })
  return untold === null ? unfit : untold.code
}

export const transient = { durable: false, autoDelete: false, arguments: { 'x-max-priority': 5 } }
export const events = exchange({ name: 'events', durable: false })
export const binding = {
  source: 'events',
  destination: 'upload',
  destinationKind: 'queue',
  routingKey: 'upload',
  arguments: {},
} as const
export const uploads = queue({ name: 'upload', messages: 4, ...transient })
export const setting = { name: 'VENDOR_RABBIT_DURABLE', from: 'false', to: 'true' }
export const held = queue({ name: 'testops-admin.held.upload' })

interface ResetOf {
  discards?: boolean
  /** of the queue; it holds 4 */
  messages?: number
  /** in place of `uploads` */
  queue?: BrokerQueue
  /** in place of `events` */
  from?: BrokerExchange
}

/** The steps that the repair itself makes for that queue and exchange. */
export function resetSteps({
  discards = false,
  messages = 4,
  queue: it = uploads,
  from = events,
}: ResetOf = {}): Step[] {
  const { name, durable, autoDelete, arguments: values } = it
  return stepsOf({
    queues: [{ queue: it, proof: 'told by the log', isDeclared: false }],
    exchanges: [from],
    deadLettered: new Map(),
    vanishing: [],
    version: '3.13.7',
    user: 'testops',
    saved: {
      queues: [{ name, durable, autoDelete, arguments: values }],
      exchanges: [
        {
          name: from.name,
          type: from.type,
          durable: false,
          autoDelete: from.autoDelete,
          internal: from.internal,
          arguments: from.arguments,
        },
      ],
      bindings: [binding],
      policies: [],
    },
    setting,
    drainSeconds: 5,
    discards,
    messages,
    keepsUserIds: false,
    exclusive: [],
    stop,
    start,
  })
}

/** A record of these steps; `ran`: what is on record of them. */
export function reset(
  steps: readonly Step[] = resetSteps(),
  ran: readonly RunEvent[] = [],
  impact: Plan['impact'] = {},
): RunHistory {
  return history(
    'reset-queues',
    { steps, impact, verifiedBy: ['broker/queues-durable', 'service/running', 'api/reachable'] },
    ran,
  )
}

/** The same of one that deletes the messages, shown with that number of them. */
export function discarding(
  messages: number,
  { of = {}, ran = [], shown = messages }: { of?: Partial<Step>; ran?: readonly RunEvent[]; shown?: number } = {},
): RunHistory {
  const steps = resetSteps({ discards: true, messages }).map((it) =>
    it.action.kind === 'delete-queues' ? { ...it, ...of } : it,
  )
  return reset(steps, ran, { messagesDiscarded: shown })
}

/** On record: all steps before the first of that kind are done, and it is as these events say. */
export function ranTo(
  kind: ActionKind,
  last: readonly ('intent' | 'done' | 'undo-intent' | 'undone')[] = ['intent'],
  steps: readonly Step[] = resetSteps(),
): RunEvent[] {
  const at = steps.findIndex(({ action }) => action.kind === kind)
  const before = steps
    .slice(0, at)
    .flatMap((_, index) => [
      eventOf({ event: 'intent', step: index }),
      eventOf({ event: 'done', step: index, durationMs: 1 }),
    ])
  return [
    ...before,
    ...last.map((event) =>
      event === 'done' ? eventOf({ event, step: at, durationMs: 1 }) : eventOf({ event, step: at }),
    ),
  ]
}

/** The same steps, with each action of that kind changed. */
export function changed<K extends ActionKind>(
  kind: K,
  change: (action: Extract<Action, { kind: K }>) => Partial<Action>,
  steps: readonly Step[] = resetSteps(),
): Step[] {
  return steps.map((it) =>
    it.action.kind === kind
      ? ({ ...it, action: { ...it.action, ...change(it.action as Extract<Action, { kind: K }>) } } as Step)
      : it,
  )
}

/** The same steps, each with that binding where it has bindings of that end. */
export function withBinding(
  steps: readonly Step[],
  added: {
    source: string
    destination: string
    destinationKind: 'queue' | 'exchange'
    routingKey: string
    arguments: Record<string, unknown>
  },
): Step[] {
  const toQueue = added.destinationKind === 'queue' && added.destination === 'upload'
  const ofExchange =
    added.source === 'events' || (added.destinationKind === 'exchange' && added.destination === 'events')
  const more = <A extends { bindings: readonly unknown[] }>(action: A): Partial<Action> =>
    ({ bindings: [...action.bindings, added] }) as unknown as Partial<Action>
  let all = changed(
    'hold-queues',
    ({ saved }) => ({ saved: { ...saved, bindings: [...saved.bindings, added] } }),
    steps,
  )
  all = changed('start-service', ({ binds }) => (binds ? { binds: [...binds, added] } : {}), all)
  if (toQueue) all = changed('redeclare-queues', more, changed('delete-queues', more, all))
  return ofExchange ? changed('switch-exchanges', more, all) : all
}
