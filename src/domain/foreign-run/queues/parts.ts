import { isDeepStrictEqual } from 'node:util'
import type { Action, ActionKind, ActionOf, Former } from '../../../core/action.ts'
import type { Binding, QueueDeclaration } from '../../../core/broker-control.ts'
import { bindingNoters } from '../../../core/notes.ts'
import type { Plan } from '../../../core/plan.ts'
import { eventsOfStep, notesOfStep } from '../../../core/run-state.ts'
import type { RunEvent, RunHistory } from '../../../core/run.ts'
import { isObject } from '../../../core/shape.ts'
import type { BrokerExchange, BrokerQueue } from '../../../core/sources.ts'

/** How far a step has come, according to the record. */
interface Stage {
  /** `before`: not begun, or undone; `within`: begun or being undone, so it may be unfinished */
  at: 'before' | 'within' | 'after'
  /** True if its undo was begun last */
  isGoingBack: boolean
}

/** Returns how far the first step of that kind has come; `before` if the plan has no such step. */
export function stageOf({ record: { plan }, events }: RunHistory, kind: ActionKind): Stage {
  const step = plan.steps.findIndex(({ action }) => action.kind === kind)
  return step < 0
    ? { at: 'before', isGoingBack: false }
    : eventsOfStep(events, step).reduce(next, { at: 'before', isGoingBack: false })
}

/** True if the record says that any step was begun. */
export function hasBegun({ events }: RunHistory): boolean {
  return events.some(({ event }) => event === 'intent' || event === 'done')
}

function next(stage: Stage, { event }: RunEvent): Stage {
  switch (event) {
    case 'intent':
    case 'redo':
      return { at: 'within', isGoingBack: false }
    case 'done':
      return { at: 'after', isGoingBack: false }
    case 'undo-intent':
      return { at: 'within', isGoingBack: true }
    case 'undone':
      return { at: 'before', isGoingBack: false }
    default:
      return stage
  }
}

/** The queues, exchanges and bindings in a record of reset-queues, and how far its steps have come. */
export interface Parts {
  history: RunHistory
  plan: Plan
  names: readonly string[]
  former: readonly Former[]
  exchanges: ActionOf<'switch-exchanges'>['exchanges']
  /** Bindings of all its steps and notes */
  bindings: readonly Binding[]
  quiet: ActionOf<'await-quiet'> | null
  discards: boolean
  stages: { readonly [K in 'keep' | 'delete' | 'switch' | 'redeclare' | 'deleteHeld' | 'start']: Stage }
}

/** What the broker holds. */
export interface Live {
  queues: ReadonlyMap<string, BrokerQueue>
  exchanges: ReadonlyMap<string, BrokerExchange>
  bindings: readonly Binding[]
  version: string
}

/** Reads the parts of a record. */
export function partsOf(history: RunHistory): Parts {
  const { plan } = history.record
  const former = stepOf(plan, 'delete-queues')?.queues ?? []
  const bindings = plan.steps.flatMap(({ action }) =>
    'bindings' in action ? action.bindings : action.kind === 'hold-queues' ? action.saved.bindings : [],
  )
  return {
    history,
    plan,
    former,
    names: former.map(({ queue }) => queue.name),
    exchanges: stepOf(plan, 'switch-exchanges')?.exchanges ?? [],
    bindings: unique([...bindings, ...notedIn(history)]),
    quiet: stepOf(plan, 'await-quiet'),
    discards: stepOf(plan, 'delete-queues')?.discards ?? false,
    stages: {
      keep: stageOf(history, 'keep-queues'),
      delete: stageOf(history, 'delete-queues'),
      switch: stageOf(history, 'switch-exchanges'),
      redeclare: stageOf(history, 'redeclare-queues'),
      deleteHeld: stageOf(history, 'delete-held'),
      start: stageOf(history, 'start-service'),
    },
  }
}

/** Returns noted bindings, which were added after the plan was made and come back with their exchange or queue. */
function notedIn({ record: { plan }, events }: RunHistory): Binding[] {
  return plan.steps.flatMap(({ action: { kind } }, step) => {
    if (!bindingNoters.includes(kind)) return []
    return notesOfStep(events, step).flatMap((note) => {
      const value = JSON.parse(note) as Binding[] | { event: string; bindings?: Binding[] }
      return Array.isArray(value) ? value : value.event === 'bound' ? (value.bindings ?? []) : []
    })
  })
}

/** Returns the action of the first step of that kind; null if there is none. */
export function stepOf<K extends ActionKind>({ steps }: Plan, kind: K): ActionOf<K> | null {
  return (
    (steps.map(({ action }): Action => action).find((action) => action.kind === kind) as ActionOf<K> | undefined) ??
    null
  )
}

/** True if the broker deletes a queue by itself when nobody uses it. */
export function vanishes({ autoDelete, arguments: values }: QueueDeclaration): boolean {
  return autoDelete || Object.hasOwn(values, 'x-expires')
}

/** Returns a key that is equal for bindings that are identical in a record. */
function bindingKey(binding: Binding): string {
  const { key, typed } = binding
  return JSON.stringify([shownKey(binding), key, typed && sorted(typed)])
}

/** Returns a key that is equal for bindings that lists show alike. */
export function shownKey({ source, destination, destinationKind, routingKey, arguments: values }: Binding): string {
  return JSON.stringify([source, destinationKind, destination, routingKey, sorted(values)])
}

/** True if a recorded binding may be that binding of the broker: compares types and key only if both have them. */
export function isLive(one: Binding, live: Binding): boolean {
  const isAlike = (a: unknown, b: unknown): boolean => a === undefined || b === undefined || isDeepStrictEqual(a, b)
  return shownKey(one) === shownKey(live) && isAlike(one.key, live.key) && isAlike(one.typed, live.typed)
}

/** Groups bindings by what lists show of them. */
export function byShown(bindings: readonly Binding[]): ReadonlyMap<string, readonly Binding[]> {
  const all = new Map<string, Binding[]>()
  for (const it of bindings) {
    const alike = all.get(shownKey(it))
    if (alike) alike.push(it)
    else all.set(shownKey(it), [it])
  }
  return all
}

/** True if the typed arguments of a binding match those it shows: undo binds the typed ones. */
export function isTypedAsShown({ arguments: values, typed }: Binding): boolean {
  if (typed === undefined) return true
  const names = Object.keys(values)
  return (
    names.length === Object.keys(typed).length &&
    names.every((name) => Object.hasOwn(typed, name) && isShownAs(typed[name], values[name]))
  )
}

function isShownAs(typed: unknown, value: unknown): boolean {
  if (!isObject(typed)) return isDeepStrictEqual(typed, value)
  if (typed['!'] === 'bytes')
    return (
      typed['value'] === Buffer.from(String(value)).toString('base64') ||
      `Not UTF-8, base64 is: ${String(typed['value'])}` === value
    )
  if (typed['!'] === 'decimal')
    return (
      isObject(typed['value']) &&
      Number(`${String(typed['value']['places'])}.${String(typed['value']['digits'])}`) === value
    )
  if ('!' in typed) return typeof value === 'number' && typed['value'] === value && Object.keys(typed).length === 2
  return isObject(value) && isTypedAsShown({ arguments: value, typed } as unknown as Binding)
}

function sorted(values: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))
}

function unique(bindings: readonly Binding[]): Binding[] {
  return [...new Map(bindings.map((it) => [bindingKey(it), it])).values()]
}

/** True if both lists hold the same bindings, in any order. */
export function areSameBindings(one: readonly Binding[], other: readonly Binding[]): boolean {
  return isDeepStrictEqual(new Set(one.map(bindingKey)), new Set(other.map(bindingKey)))
}

export function isSameQueue(one: QueueDeclaration, other: QueueDeclaration): boolean {
  return (
    one.name === other.name &&
    one.durable === other.durable &&
    one.autoDelete === other.autoDelete &&
    isDeepStrictEqual({ ...one.arguments }, { ...other.arguments })
  )
}
