import { AdminError } from '../../core/error.ts'
import { isObject } from '../../core/shape.ts'
import { sentence } from '../../core/shell-command.ts'
import type { Binding } from '../../core/topology.ts'
import { backExchangePrefix } from '../../knowledge/broker.ts'
import type { Workshop } from '../handler.ts'

/** exchanges of ours between which arguments are tried; what is left of them goes with the next cleaning up */
const [from, to] = [`${backExchangePrefix}types`, `${backExchangePrefix}typed`]
/** how many ways one binding is tried in, at most */
const most = 512
/** the types that a whole number may have had, the likeliest first */
const wholeTypes: readonly [type: string, least: number, below: number][] = [
  ['int32', -(2 ** 31), 2 ** 31],
  ['int64', -(2 ** 53), 2 ** 53],
  ['int16', -(2 ** 15), 2 ** 15],
  ['int8', -128, 128],
  ['timestamp', 0, 2 ** 53],
  ['uint32', 0, 2 ** 32],
  ['uint16', 0, 2 ** 16],
  ['uint8', 0, 256],
  ['double', -(2 ** 53), 2 ** 53],
  ['float', -(2 ** 53), 2 ** 53],
]

/**
 * Bindings with the types of their arguments. Lists do not tell them, but for a key that the broker makes of them: what gets the same
 * key between two exchanges of ours is the same. Throws REFUSED where nothing does; nothing but these exchanges is touched.
 */
export async function exact(bindings: readonly Binding[], { open, control }: Pick<Workshop, 'open' | 'control'>): Promise<Binding[]> {
  const unclear = bindings.filter(({ key, typed }) => key !== undefined && typed === undefined)
  const groups = [...new Map(unclear.map((it) => [groupOf(it), it])).values()]
  if (groups.length === 0) return [...bindings]
  const broker = await control.broker()
  const found = new Map<string, Record<string, unknown>>()
  const ways = groups.map(({ arguments: values }) => waysOf(values).slice(0, most) as Record<string, unknown>[])
  try {
    for (const name of [from, to]) await broker.declareExchange({ name, type: 'fanout', durable: false, autoDelete: false, internal: false, arguments: {} })
    await broker.bind(ways.flatMap((all, group) => all.map((typed, way) => ({ source: from, destination: to, destinationKind: 'exchange' as const, routingKey: `${group}.${way}`, arguments: {}, typed }))))
    const made = (await (await open.broker()).bindings()).filter(({ source }) => source === from)
    for (const { routingKey, key } of made) {
      const [group = -1, way = -1] = routingKey.split('.').map(Number)
      const wanted = groups[group]
      if (wanted && key === wanted.key && !found.has(groupOf(wanted))) found.set(groupOf(wanted), ways[group]![way]!)
    }
  } finally {
    for (const name of [from, to]) await broker.deleteExchange(name)
  }
  return bindings.map((it) => {
    if (it.key === undefined || it.typed !== undefined) return it
    const typed = found.get(groupOf(it))
    if (!typed) throw untyped(it)
    return { ...it, typed }
  })
}

/** The same for bindings whose arguments are the same. */
function groupOf({ key, arguments: values }: Binding): string {
  return JSON.stringify([key, values])
}

/** What a value that is shown so may have been. */
function waysOf(value: unknown): unknown[] {
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) return ['double', 'float'].map((type) => ({ '!': type, value }))
    return wholeTypes.filter(([, least, below]) => value >= least && value < below).map(([type]) => ({ '!': type, value }))
  }
  if (typeof value === 'string') {
    const bytes = /^Not UTF-8, base64 is: (\S*)$/.exec(value)?.[1] ?? Buffer.from(value).toString('base64')
    return [value, { '!': 'bytes', value: bytes }, ...(value === 'undefined' ? [null] : [])]
  }
  if (Array.isArray(value)) return combined(value.map(waysOf))
  if (!isObject(value)) return [value]
  const names = Object.keys(value)
  return combined(names.map((name) => waysOf(value[name]))).map((values) => Object.fromEntries(names.map((name, index) => [name, values[index]])))
}

/** One of each, in every way, bounded. */
function combined(all: readonly (readonly unknown[])[]): unknown[][] {
  return all.reduce<unknown[][]>((before, ways) => before.flatMap((values) => ways.map((way) => [...values, way])).slice(0, most), [[]])
}

function untyped({ source, destination, destinationKind, routingKey, arguments: values }: Binding): AdminError {
  const message = `the binding of ${destinationKind} ${destination} to exchange ${source} has arguments of which the broker does not tell the types (${Object.keys(values).join(', ')}): it could not be bound again as it is`
  return new AdminError('REFUSED', message, [
    sentence`unbind it, with routing key ${routingKey}, and bind it again afterwards; or ask whoever declares it`,
    'rabbitmqctl list_bindings source_name destination_name routing_key arguments --formatter json   # on the broker: shows the types',
  ])
}
