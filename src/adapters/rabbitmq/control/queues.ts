import type { Declared, Deleted, QueueDeclaration } from '../../../core/broker-control.ts'
import type { BrokerEndpoint } from '../../../core/endpoint.ts'
import { AdminError } from '../../../core/error.ts'
import { shownBytes, transientQueues } from '../../../knowledge/broker.ts'
import type { Link } from '../link.ts'
import { refusal } from '../refusal.ts'

/**
 * Types whole numbers as Java clients send them, int or long. The width is part of a binding's identity, and amqplib
 * would use the shortest that holds the number.
 */
export function typedArguments(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return widened(given, (value) => (holds(32, value) ? 'int32' : 'int64'))
}

/**
 * Types a binding's whole numbers in each width that a client may have used. Lists of bindings do not show the width,
 * and a binding of another width is another binding.
 */
export function typedInEachWay(given: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  const numbers = wholeNumbers(given)
  if (numbers.length === 0) return [{ ...given }]
  const fitting = widths.filter((bits) => numbers.every((value) => holds(bits, value)))
  const shortest = widened(given, (value) => `int${widths.find((bits) => holds(bits, value)) ?? 64}`)
  const all = [typedArguments(given), shortest, ...fitting.map((bits) => widened(given, () => `int${bits}`))]
  return [...new Map(all.map((it) => [JSON.stringify(it), it])).values()]
}

/** Converts typed arguments (`Binding.typed`) for amqplib, which takes bytes as a buffer. */
export function withBytes(typed: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const one = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(one)
    if (typeof value !== 'object' || value === null) return value
    const { '!': type, value: held } = value as { '!'?: unknown; value?: unknown }
    if (type === 'bytes') return Buffer.from(String(held), 'base64')
    return type === undefined ? withBytes(value as Record<string, unknown>) : value
  }
  return Object.fromEntries(Object.entries(typed).map(([name, value]) => [name, one(value)]))
}

const widths = [8, 16, 32, 64] as const

function holds(bits: number, value: number): boolean {
  return value >= -(2 ** (bits - 1)) && value < 2 ** (bits - 1)
}

function widened(given: Readonly<Record<string, unknown>>, width: (value: number) => string): Record<string, unknown> {
  const one = (value: unknown): unknown => {
    if (isWhole(value)) return { '!': width(value), value }
    const bytes = typeof value === 'string' ? shownBytes(value) : null
    if (bytes !== null) return Buffer.from(bytes, 'base64')
    if (Array.isArray(value)) return value.map(one)
    return typeof value === 'object' && value !== null ? widened(value as Record<string, unknown>, width) : value
  }
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, one(value)]))
}

function wholeNumbers(value: unknown): number[] {
  if (isWhole(value)) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(wholeNumbers) : []
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value)
}

/** What every change of a virtual host needs. */
export interface On {
  link: Link
  endpoint: BrokerEndpoint
}

export async function declareQueues(
  { link, endpoint }: On,
  queues: readonly QueueDeclaration[],
): Promise<ReadonlyMap<string, Declared>> {
  const results = await link.each<QueueDeclaration, Declared>(
    queues,
    async (channel, { name, durable, autoDelete, arguments: given }) => {
      // with an empty name, the broker would invent one
      if (name === '') throw new AdminError('REFUSED', 'a queue without a name cannot be declared')
      await channel.assertQueue(name, { durable, autoDelete, exclusive: false, arguments: typedArguments(given) })
      return 'declared'
    },
    (reply, { name }) => {
      // a queue exclusive to another connection (405) also counts as declared otherwise
      if ((reply.code === 406 && reply.text.startsWith('inequivalent arg')) || reply.code === 405) return 'otherwise'
      // this refusal closes the connection, so it does not show which queue under way caused it
      const refused = reply.code === transientQueues.replyCode ? namesOfTransient(queues) : name
      throw refusal(reply, endpoint, `declaring queue ${refused}`)
    },
  )
  return new Map(queues.map(({ name }, index) => [name, results[index] ?? 'otherwise']))
}

function namesOfTransient(queues: readonly QueueDeclaration[]): string {
  const names = queues.filter(({ durable }) => !durable).map(({ name }) => name)
  return names.length > shownNames
    ? `${names.slice(0, shownNames).join(', ')} and ${names.length - shownNames} more`
    : names.join(', ')
}

const shownNames = 5

interface Deletion {
  name: string
  most: number
}

export async function deleteQueues(on: On, queues: readonly Deletion[]): Promise<ReadonlyMap<string, Deleted>> {
  const results = await guarded(on, queues, true)
  const deleted = new Map(queues.map(({ name }, index) => [name, results[index] ?? 'unguardable']))
  for (const queue of queues) {
    if (deleted.get(queue.name) !== 'unguardable') continue
    // the refusal closed the connection for other queues too, so each is tried again alone
    const [again] = await guarded(on, [queue], true)
    const [last] = again === 'unguardable' ? await guarded(on, [queue], false) : [again]
    deleted.set(queue.name, last ?? 'missing')
  }
  return deleted as ReadonlyMap<string, Deleted>
}

/**
 * Deletes queues that are unused by our own look, and by the broker's if `byBroker`. For quorum queues and streams the
 * broker cannot look, and closes the connection (540, SERVERS.md): unguardable.
 */
async function guarded(
  { link, endpoint }: On,
  queues: readonly Deletion[],
  byBroker: boolean,
): Promise<(Deleted | 'unguardable')[]> {
  return link.each<Deletion, Deleted | 'unguardable'>(
    queues,
    async (channel, { name, most }) => {
      const { messageCount, consumerCount } = await channel.checkQueue(name)
      if (consumerCount > 0 || messageCount > most) return 'in-use'
      await channel.deleteQueue(name, byBroker ? { ifUnused: true, ifEmpty: messageCount === 0 } : {})
      return 'deleted'
    },
    (reply, { name }) => {
      if (reply.code === 404) return 'missing'
      if (reply.code === 406) return 'in-use'
      if (reply.code === 540 && byBroker) return 'unguardable'
      throw refusal(reply, endpoint, `deleting queue ${name}`)
    },
  )
}

export async function purge({ link, endpoint }: On, name: string): Promise<number> {
  const [purged = 0] = await link.each<string, number>(
    [name],
    async (channel) => (await channel.purgeQueue(name)).messageCount,
    (reply) => {
      if (reply.code === 404) return 0
      throw refusal(reply, endpoint, `emptying queue ${name}`)
    },
  )
  return purged
}
