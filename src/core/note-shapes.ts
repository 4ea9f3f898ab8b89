import type { Action, ActionKind } from './action.ts'
import {
  amount,
  anything,
  isObject,
  listOf,
  mapOf,
  nullable,
  objectOf,
  oneOf,
  optional,
  OtherForm,
  text,
  whole,
} from './shape.ts'
import type { Fault, Shape } from './shape.ts'

/** Whatever resumes or undoes a run reads its notes back, so their content is checked before it is used. */

const part = objectOf({
  contents: mapOf(objectOf({ count: amount, last: amount, digest: text })),
  othersIds: amount,
  leftOut: optional(amount),
  again: optional(amount),
  durable: optional(oneOf(true)),
})
const counts = objectOf({ ready: amount, held: amount, beside: optional(amount) })
const direction = oneOf('aside', 'back')
const ahead = optional(oneOf(true))
const place: Shape = (value, at) => whole(value, at) ?? amount(value, at)
const failure = objectOf({ item: place, status: amount, message: text, unknown: optional(oneOf(true)) })

const range: Shape = (value, at) => {
  if (!Array.isArray(value) || value.length !== 2) return `${at} is no range`
  const [first, last] = value as unknown[]
  return Number.isSafeInteger(first) &&
    Number.isSafeInteger(last) &&
    (first as number) >= 0 &&
    (last as number) >= (first as number)
    ? null
    : `${at} is no range`
}

const binding = objectOf({
  source: text,
  destination: text,
  destinationKind: oneOf('queue', 'exchange'),
  routingKey: text,
  arguments: mapOf(anything),
  key: optional(text),
  typed: optional(mapOf(anything)),
})

/** Shapes of notes in JSON, by their `event`. */
const events: Readonly<Record<string, Shape>> = {
  begun: objectOf({
    event: text,
    direction,
    ahead,
    attempt: text,
    queues: mapOf(nullable(counts)),
    policies: optional(listOf(text)),
  }),
  moved: objectOf({ event: text, direction, ahead, attempt: text, queues: mapOf(part) }),
  bound: objectOf({ event: text, bindings: listOf(binding) }),
  compared: objectOf({ event: text, queues: listOf(text), differing: mapOf(text), transient: optional(mapOf(amount)) }),
  answered: objectOf({
    event: text,
    accepted: listOf(place),
    failed: listOf(failure),
    asking: optional(listOf(range)),
    unasked: optional(listOf(range)),
  }),
  'jobs-undone': objectOf({
    event: text,
    states: listOf(objectOf({ status: text, count: amount, names: text })),
    words: nullable(text),
  }),
}

const eventsOf: { readonly [K in ActionKind]?: readonly string[] } = {
  'move-messages': ['begun', 'moved', 'compared', 'bound'],
  'delete-queues': ['begun', 'moved', 'compared', 'bound'],
  'redeclare-queues': ['begun', 'moved', 'compared', 'bound'],
  'keep-queues': ['begun', 'moved', 'compared'],
  // these steps bring back what a killed broker delivers once more
  'hold-queues': ['begun', 'moved', 'compared'],
  'delete-held': ['begun', 'moved', 'compared'],
  'stop-service': ['begun', 'moved', 'compared'],
  'start-service': ['begun', 'moved', 'compared'],
  'migrate-trees': ['answered'],
  'await-migration': ['jobs-undone'],
}

/** Forms of notes that are not JSON, by the kind of step that writes them. */
const words: { readonly [K in ActionKind]?: RegExp } = {
  // a transaction's id, by which PostgreSQL tells whether it committed
  'release-lock': /^\d{1,20}$/,
  'insert-lock-row': /^\d{1,20}$/,
  'remove-lock-rows': /^\d{1,20}$/,
  'stop-service': /^replicas [a-z]{1,40}\/[a-z0-9.-]{1,253}\/[a-z0-9.-]{1,253} [1-9]\d{0,3}$/,
  'upgrade-release': /^helm [^\p{Cc}]{1,500}$/u,
}

/** Returns what is wrong with a note of such a step; null: nothing. A note of a kind that writes none is wrong. */
export function faultOfNote(action: Action, note: string): Fault | null {
  const { kind } = action
  if (kind === 'set-setting') return faultOfTrace(note)
  if (kind === 'switch-exchanges') return ofJson(note, (value) => listOf(binding)(value, 'note'))
  if (words[kind]?.test(note) === true) return null
  const names = eventsOf[kind]
  if (names) {
    return ofJson(note, (value) => {
      const event = isObject(value) ? value['event'] : undefined
      if (typeof event !== 'string' || !names.includes(event)) return unknownNote(kind)
      return (
        events[event]!(value, 'note') ??
        (action.kind === 'migrate-trees' ? faultOfAnswers(value as Answers, action.items.length) : null)
      )
    })
  }
  return unknownNote(kind)
}

function unknownNote(kind: ActionKind): OtherForm {
  return new OtherForm(`a step ${kind} writes no such note`)
}

interface Answers {
  accepted: readonly number[]
  failed: readonly { item: number }[]
  asking?: readonly (readonly [number, number])[]
  unasked?: readonly (readonly [number, number])[]
}

/**
 * Returns what is wrong with the answers; null: nothing. Items are places in the plan's list. A call is made at most
 * twice (`mostTimes`), so that none of these is longer than twice that list.
 */
function faultOfAnswers({ accepted, failed, asking = [], unasked = [] }: Answers, items: number): string | null {
  const ranges = [...asking, ...unasked]
  const last = [accepted, failed.map(({ item }) => item), ranges.map(([, end]) => end)]
    .flat()
    .find((item) => item >= items)
  if (last !== undefined) return `note is about item ${last + 1}, and the list has ${items}`
  const many = [
    accepted.length,
    failed.length,
    ...[asking, unasked].map((all) => all.reduce((sum, [first, end]) => sum + end - first + 1, 0)),
  ]
  return many.some((length) => length > 2 * items) ? 'note is about more items than the list has' : null
}

const traceMark = 'environment-file '

function faultOfTrace(note: string): Fault | null {
  if (!note.startsWith(traceMark)) return unknownNote('set-setting')
  return ofJson(note.slice(traceMark.length), (value) =>
    objectOf({ path: text, at: place, was: text, is: text })(value, 'note'),
  )
}

function ofJson(note: string, shape: (value: unknown) => Fault | null): Fault | null {
  let value: unknown
  try {
    value = JSON.parse(note)
  } catch {
    return 'note is no JSON'
  }
  return shape(value)
}
