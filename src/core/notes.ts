import type { Action, ActionKind } from './action.ts'
import type { Binding } from './broker-control.ts'
import type { Contents } from './message-mover.ts'
import { counted } from './format.ts'
import type { Fault, Shape } from './shape.ts'
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
  if (!Array.isArray(value) || value.length !== 2) return `${at} is not a range`
  const [first, last] = value as unknown[]
  return Number.isSafeInteger(first) &&
    Number.isSafeInteger(last) &&
    (first as number) >= 0 &&
    (last as number) >= (first as number)
    ? null
    : `${at} is not a range`
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
  return new OtherForm(`the details saved for a \`${kind}\` step have an unknown format`)
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
  if (last !== undefined)
    return `the saved answers refer to call ${last + 1}, but the plan has only ${counted(items, 'call')}`
  const many = [
    accepted.length,
    failed.length,
    ...[asking, unasked].map((all) => all.reduce((sum, [first, end]) => sum + end - first + 1, 0)),
  ]
  return many.some((length) => length > 2 * items)
    ? `the saved answers list too many calls: the plan has only ${counted(items, 'call')}, each made at most twice`
    : null
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
    return 'note is not JSON'
  }
  return shape(value)
}

export type Direction = 'aside' | 'back'

/** The direction of a move, and the other queue of it. */
export interface Way {
  direction: Direction
  /**
   * Set if the other queue is that of an undo, whose messages come before those in the holding queue (`aheadOf` of
   * knowledge/broker.ts)
   */
  ahead?: true
}

/**
 * What the journal records of moves: as each attempt begins, once queues are moved, and once what came back was
 * compared with what went. `policies`: marks of those under which the queues lose messages, as they are moved aside;
 * absent: they cannot be seen, or an older version made the note. `transient`: how many messages of each queue a
 * restart of the broker would then drop; absent: none.
 */
export type Entry =
  | ({
      event: 'begun'
      attempt: string
      queues: Readonly<Record<string, Counts | null>>
      policies?: readonly string[]
    } & Way)
  | ({ event: 'moved'; attempt: string; queues: Readonly<Record<string, Part>> } & Way)
  | { event: 'bound'; bindings: readonly Binding[] }
  | {
      event: 'compared'
      queues: readonly string[]
      differing: Readonly<Record<string, string>>
      transient?: Readonly<Record<string, number>>
    }

/** Numbers of ready messages, in a queue and in its holding queue. */
export interface Counts {
  ready: number
  held: number
  /** In the other queue that holds some; absent: none, or an older version made the note */
  beside?: number
}

export interface Part {
  contents: Contents
  /** Number of messages with the user_id of another user */
  othersIds: number
  /** Number of these not moved because they were there already; absent: none, or an older version made the note */
  leftOut?: number
  /**
   * Number of messages that had come before and were redelivered by a killed broker; not in `contents`. Absent: none
   */
  again?: number
  /**
   * For the way back: set if they are in a durable queue, and survive a restart of the broker. Absent: no, or an older
   * version made the note
   */
  durable?: true
}

/** Returns the bindings that came after the plan was made, as noted before their queues and exchanges were deleted. */
export function bindingsNoted(notes: readonly string[]): Binding[] {
  return notes.flatMap((note) => {
    const value = valueOf(note)
    // the step that redeclares exchanges notes a plain list
    const list: unknown = isObject(value) && value['event'] === 'bound' ? value['bindings'] : value
    return Array.isArray(list) ? (list as Binding[]).filter((it) => isObject(it) && typeof it.source === 'string') : []
  })
}

/** Kinds of steps that note the bindings which they delete or let vanish. */
export const bindingNoters: readonly ActionKind[] = [
  'move-messages',
  'delete-queues',
  'switch-exchanges',
  'redeclare-queues',
]

/** Returns true if it is a note of moves, of one of these kinds. */
export function isNoteOfMoves(
  note: string,
  kinds: readonly Entry['event'][] = ['begun', 'moved', 'compared'],
): boolean {
  return entryIn(note).some(({ event }) => kinds.includes(event))
}

/** Returns what a note says of moves and bindings; empty: it is about something else. */
export function entryIn(note: string): Entry[] {
  const value = valueOf(note)
  return isObject(value) && 'event' in value ? [value as unknown as Entry] : []
}

/** Parses a note; null: it is not JSON. */
function valueOf(note: string): unknown {
  try {
    return JSON.parse(note)
  } catch {
    return null
  }
}
