import { keepableTypes } from './action.ts'
import type { ActionKind, ActionOf } from './action.ts'
import { amount, flag, listOf, mapOf, anything, nullable, objectOf, oneOf, optional, text, whole } from './shape.ts'
import type { Shape } from './shape.ts'

type Fields<A> = { readonly [F in keyof Omit<A, 'kind'>]-?: Shape }

const counts = objectOf({ messages: amount })
const args = mapOf(anything)
const queue = objectOf({ name: text, durable: flag, autoDelete: flag, arguments: args })
const exchange = objectOf({ name: text, type: text, durable: flag, autoDelete: flag, internal: flag, arguments: args })
const binding = objectOf({
  source: text,
  destination: text,
  destinationKind: oneOf('queue', 'exchange'),
  routingKey: text,
  arguments: args,
  key: optional(text),
  typed: optional(args),
})
const policy = objectOf({
  name: text,
  isOperators: flag,
  pattern: text,
  appliesTo: text,
  priority: anything,
  definition: args,
})
const former = objectOf({ queue, holding: nullable(text), always: optional(oneOf(true)) })
const names = listOf(text)
const vanishing = optional(listOf(objectOf({ name: text, type: oneOf(...keepableTypes) })))
const moves = listOf(objectOf({ queue: text, holding: text }))

/** Shapes of the fields, besides `kind`, that each kind of action has in a journal or a saved plan. */
export const actionShapes: { readonly [K in ActionKind]: Fields<ActionOf<K>> } = {
  'stop-service': { wasRunning: flag },
  'start-service': {
    binds: optional(listOf(binding)),
    locks: optional(listOf(objectOf({ database: text, schema: text, table: optional(text) }))),
    stopsOnUndo: optional(oneOf(true)),
    keeps: optional(listOf(text)),
  },
  'edit-values': {
    file: text,
    edits: listOf(
      objectOf({ path: listOf(text), from: nullable(text), to: nullable(text), at: amount, was: text, is: text }),
    ),
  },
  'upgrade-release': {
    release: text,
    revision: whole,
    chart: text,
    chartVersion: text,
    files: listOf(text),
    values: listOf(objectOf({ path: listOf(text), to: nullable(text) })),
    wasRunning: flag,
  },
  'fetch-image': { image: text, platform: nullable(text) },
  'await-rollout': {},
  'set-secret': { name: text, salt: text, from: nullable(text), to: nullable(text), file: nullable(text) },
  'set-setting': { name: text, from: nullable(text), to: nullable(text) },
  'release-lock': {
    database: text,
    schema: text,
    table: optional(text),
    row: objectOf({ locked: flag, lockGranted: nullable(text), lockedBy: nullable(text) }),
    accepts: nullable(oneOf('live-holder', 'unproven-holder')),
    lacks: optional(listOf(text)),
  },
  'insert-lock-row': { database: text, schema: text, table: optional(text) },
  'remove-lock-rows': {
    database: text,
    schema: text,
    table: optional(text),
    rows: listOf(objectOf({ id: whole, locked: flag, lockGranted: nullable(text), lockedBy: nullable(text) })),
  },
  'remove-sessions': {
    store: text,
    namespace: text,
    which: (value, at) => (value === 'all' || value === 'stale' ? null : objectOf({ user: text })(value, at)),
    flush: flag,
    counts: objectOf({ sessions: amount, asOf: amount }),
  },
  'hold-queues': {
    moves,
    saved: objectOf({
      queues: listOf(queue),
      exchanges: listOf(exchange),
      bindings: listOf(binding),
      policies: listOf(policy),
    }),
    vanishing,
  },
  'keep-queues': { queues: listOf(former), bindings: listOf(binding) },
  'drain-queues': { queues: names, seconds: amount, counts },
  'await-quiet': { queues: names, user: text },
  'move-messages': { direction: oneOf('aside', 'back'), moves, counts },
  'delete-queues': { queues: listOf(former), bindings: listOf(binding), discards: flag, counts },
  'switch-exchanges': { exchanges: listOf(objectOf({ from: exchange, to: exchange })), bindings: listOf(binding) },
  'redeclare-queues': { queues: listOf(former), bindings: listOf(binding) },
  'delete-held': { holding: names, vanishing },
  'migrate-trees': {
    api: text,
    items: listOf(objectOf({ project: whole, tree: nullable(whole) })),
    concurrency: amount,
  },
  'await-migration': { counts: objectOf({ newestJob: amount }) },
}
