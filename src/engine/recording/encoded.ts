import { PartialSettings } from '../../core/deployment.ts'
import { AdminError, codeOf, exitCodes, messageOf } from '../../core/error.ts'
import type { ErrorCode, Obstacle } from '../../core/error.ts'
import { Secret, UnreadableSecret } from '../../core/secret.ts'

/** Marks what is no plain data. Objects of others may have that key too, and are then marked themselves */
const mark = '$'
/** Objects within each other: an answer is never that deep */
const deepest = 200

type Encoded = Readonly<Record<string, unknown>>

/** Returns what to write in place of a secret; `name`: of the setting that it is, null: of none. */
export type HideSecret = (secret: Secret, name: string | null) => string

/**
 * Returns what a source returned or threw as plain JSON data, from which `decode` makes it again: dates, maps, secrets
 * and errors keep their kind. Functions are left out. Throws an
 * Error for data without end.
 */
export function encode(value: unknown, hide: HideSecret, depth = 0, named: string | null = null): unknown {
  if (depth > deepest) throw new Error('an answer is too deep to be recorded')
  const inner = (it: unknown, name: unknown = null): unknown =>
    encode(it, hide, depth + 1, typeof name === 'string' ? name : null)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : { [mark]: 'number', text: String(value) }
  if (typeof value === 'bigint') return { [mark]: 'bigint', text: String(value) }
  if (typeof value !== 'object') return { [mark]: 'nothing' }
  if (Array.isArray(value)) return value.map((it) => inner(it))
  if (value instanceof Date) return { [mark]: 'date', at: Number.isNaN(value.getTime()) ? null : value.toISOString() }
  if (value instanceof UnreadableSecret) return { [mark]: 'unreadable', why: inner(value.why) }
  if (value instanceof Secret) return { [mark]: 'secret', text: hide(value, named) }
  if (value instanceof Error) return ofError(value, inner)
  if (value instanceof Map) {
    const missing = value instanceof PartialSettings ? { missing: inner(value.missing) } : {}
    return { [mark]: 'map', ...missing, entries: ofEntries([...(value as Map<unknown, unknown>)], inner) }
  }
  if (value instanceof Set) return { [mark]: 'set', items: [...(value as Set<unknown>)].map((it) => inner(it)) }
  const entries = Object.entries(value).filter(([, it]) => typeof it !== 'function' && it !== undefined)
  const isPlain = entries.every(([key]) => key !== mark && key !== '__proto__')
  return isPlain
    ? Object.fromEntries(entries.map(([key, it]) => [key, inner(it)]))
    : { [mark]: 'object', entries: ofEntries(entries, inner) }
}

/** `name` beside `value`, so that a name which tells of a secret hides its value as in a list of variables. */
function ofEntries(
  entries: readonly (readonly [unknown, unknown])[],
  inner: (it: unknown, name?: unknown) => unknown,
): Encoded[] {
  return entries.map(([name, value]) => ({ name: inner(name), value: inner(value, name) }))
}

function ofError(error: Error, inner: (it: unknown) => unknown): Encoded {
  const { cause } = error
  const rest = {
    message: error.message,
    ...(cause !== undefined && { cause: inner(cause instanceof Error ? cause : new Error(messageOf(cause))) }),
  }
  if (error instanceof AdminError) {
    const { code, suggestions, obstacle } = error
    return { [mark]: 'refusal', code, suggestions: [...suggestions], obstacle: inner(obstacle), ...rest }
  }
  const code = codeOf(error)
  return { [mark]: 'error', name: error.name, ...(code !== null && { code }), ...rest }
}

/** Returns what `encode` was given. Throws an Error that says what is wrong with it. */
export function decode(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as unknown[]).map((it) => decode(it))
  const it = value as Encoded
  if (!Object.hasOwn(it, mark))
    return Object.fromEntries(Object.entries(it).map(([key, inner]) => [key, decode(inner)]))
  const kind = it[mark]
  const known = typeof kind === 'string' && Object.hasOwn(decoders, kind) ? decoders[kind] : undefined
  if (!known) throw new Error(`it holds data of an unknown kind: ${JSON.stringify(kind)?.slice(0, 40)}`)
  return known(it)
}

const decoders: Readonly<Record<string, (it: Encoded) => unknown>> = {
  nothing: () => undefined,
  number: ({ text }) => Number(textOf(text)),
  bigint: ({ text }) => BigInt(textOf(text)),
  date: ({ at }) => new Date(at === null ? Number.NaN : textOf(at)),
  secret: ({ text }) => new Secret(textOf(text), { mayAppear: true }),
  unreadable: ({ why }) => new UnreadableSecret(errorOf(why)),
  map({ missing, entries }) {
    const all = entriesOf(entries)
    if (missing === undefined) return new Map(all)
    const error = errorOf(missing)
    if (!(error instanceof AdminError)) throw new Error('it holds settings that lack something for an unknown reason')
    return new PartialSettings(all as [string, string | Secret][], error)
  },
  set: ({ items }) => new Set(listOf(items).map(decode)),
  // never by assignment: `__proto__` is a name like any other here
  object: ({ entries }) => Object.fromEntries(entriesOf(entries).map(([name, it]) => [String(name), it])),
  refusal({ code, message, suggestions, obstacle, cause }) {
    if (typeof code !== 'string' || !Object.hasOwn(exitCodes, code))
      throw new Error('it holds an error of unknown kind')
    // eslint-disable-next-line own/quoted-commands -- an archive's own: doctor says where they come from
    return new AdminError(code as ErrorCode, textOf(message), listOf(suggestions).map(textOf), {
      obstacle: obstacleOf(decode(obstacle)),
      ...(cause !== undefined && { cause: decode(cause) }),
    })
  },
  error({ name, code, message, cause }) {
    const error = new Error(textOf(message), cause === undefined ? {} : { cause: decode(cause) })
    error.name = textOf(name)
    return code === undefined ? error : Object.assign(error, { code: textOf(code) })
  },
}

function obstacleOf(value: unknown): Obstacle | null {
  if (value === null || value === undefined) return null
  if (typeof value !== 'object' || !('kind' in value) || typeof value.kind !== 'string')
    throw new Error('it holds an obstacle of no kind')
  return value as Obstacle
}

function errorOf(value: unknown): Error {
  const error = decode(value)
  if (!(error instanceof Error)) throw new Error('it holds an error that has no kind')
  return error
}

function entriesOf(value: unknown): [unknown, unknown][] {
  return listOf(value).map((it) => {
    const { name, value: inner } = it as { name?: unknown; value?: unknown }
    return [decode(name), decode(inner)]
  })
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('it lacks a list')
  return value as unknown[]
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error('it lacks a text')
  return value
}
