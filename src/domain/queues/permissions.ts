import type { LackedPermission, Trial } from '../../core/broker-control.ts'
import { fitsGlob } from '../../core/glob.ts'
import type { GlobSign } from '../../core/glob.ts'
import type { BrokerPermissions } from '../../core/sources.ts'
import { alternateExchange, namedDeadLetterExchange, namelessExchange, trialExchange } from '../../knowledge/broker.ts'

/**
 * Returns the first permission that the work of `tryRights` needs and that is not given; null: all are; `unknown`: a
 * pattern that this program cannot read decides. `holding`: temporary queues that will be declared.
 */
export function lackedPermission(
  permissions: BrokerPermissions,
  { queues, exchanges, bindings, discards = false }: Trial,
  holding: readonly string[],
): LackedPermission | 'unknown' | null {
  type Need = { lacked: LackedPermission; isGiven: boolean | null }
  const needed = (
    kind: 'queue' | 'exchange',
    name: string,
    ...rights: readonly (keyof BrokerPermissions)[]
  ): readonly Need[] =>
    rights.map((right) => ({
      lacked: { right, object: `${kind} '${name}'` },
      isGiven: isGranted(permissions[right], name),
    }))
  const deadLetters = queues.flatMap((queue) => {
    const to = namedDeadLetterExchange(queue)
    return to === null ? [] : [{ name: queue.name, to }]
  })
  const moved = discards ? [] : queues.map(({ name }) => name)
  const all = [
    ...queues.flatMap(({ name }) => needed('queue', name, 'configure')),
    ...moved.flatMap((name) => needed('queue', name, 'write', 'read')),
    ...deadLetters.flatMap(({ name, to }) => [
      ...needed('queue', name, 'read'),
      ...needed('exchange', to, 'write', 'read'),
    ]),
    ...holding.flatMap((name) => needed('queue', name, 'configure', 'write', 'read')),
    ...(moved.length === 0
      ? []
      : [
          ...needed('exchange', namelessExchange, 'write'),
          ...needed('exchange', trialExchange, 'configure', 'write', 'read'),
        ]),
    ...exchanges.flatMap((exchange) => {
      const to = alternateExchange(exchange)
      return [
        ...needed('exchange', exchange.name, 'configure'),
        ...(to === null ? [] : [...needed('exchange', exchange.name, 'read'), ...needed('exchange', to, 'write')]),
      ]
    }),
    ...bindings.flatMap(({ source, destination, destinationKind }) => [
      ...needed(destinationKind, destination, 'write'),
      ...needed('exchange', source, 'read'),
    ]),
  ]
  const lacked = all.find(({ isGiven }) => isGiven === false)?.lacked
  return lacked ?? (all.some(({ isGiven }) => isGiven === null) ? 'unknown' : null)
}

/**
 * Returns whether the list grants that permission; null: a pattern that this program cannot read decides, or the list
 * does not include it, as a topic permission.
 */
export function isListed(
  permissions: BrokerPermissions,
  { right, object }: Pick<LackedPermission, 'right' | 'object'>,
): boolean | null {
  const [, name] = /^(?:queue|exchange) '([^]*)'$/.exec(object) ?? []
  return name === undefined ? null : isGranted(permissions[right], name)
}

/** Number of alternatives up to which a pattern is read */
const mostAlternatives = 100
/** Length of a pattern up to which it is read, in characters */
const longest = 2000

/**
 * Returns true if a part of the name matches the pattern, as RabbitMQ judges it; null: the pattern has more than text,
 * dots, `.*`, `.+`, alternatives and anchors. It is never run as a regular expression: it comes from the broker.
 */
export function isGranted(pattern: string, name: string): boolean | null {
  if (pattern.length > longest || /[\r\n]/.test(name)) return null
  if (pattern === '') return false
  const alternatives = alternativesOf(pattern)
  return alternatives && alternatives.some((signs) => fitsGlob(signs, name))
}

type Sign = GlobSign | '^' | '$'

/** Returns the alternatives of a pattern as globs on the whole name; null: it has something else. */
function alternativesOf(pattern: string): GlobSign[][] | null {
  const read = readAlternatives(pattern, 0)
  if (read === null || read.end !== pattern.length) return null
  const globs: GlobSign[][] = []
  for (const signs of read.all) {
    const begin = signs[0] === '^' ? 1 : 0
    const end = signs.at(-1) === '$' ? signs.length - 1 : signs.length
    const within = signs.slice(begin, Math.max(begin, end))
    const plain = within.filter((sign) => sign !== '^' && sign !== '$')
    // an anchor in the middle
    if (plain.length < within.length) return null
    globs.push([...(begin === 0 ? ['*' as const] : []), ...plain, ...(end === signs.length ? ['*' as const] : [])])
  }
  return globs
}

const one =
  (character: string): GlobSign =>
  (it) =>
    it === character
const any: GlobSign = () => true

/** Reads alternatives up to the end of the pattern or of their group. */
function readAlternatives(pattern: string, from: number): { all: Sign[][]; end: number } | null {
  const all: Sign[][] = []
  let open: Sign[][] = [[]]
  let at = from
  const append = (...signs: readonly Sign[]): void => {
    open = open.map((it) => [...it, ...signs])
  }
  for (; at < pattern.length && pattern[at] !== ')'; at += 1) {
    const sign = pattern[at]!
    const after = pattern[at + 1]
    if (sign === '|') {
      all.push(...open)
      open = [[]]
    } else if (sign === '(') {
      const inner = readAlternatives(pattern, pattern.startsWith('(?:', at) ? at + 3 : at + 1)
      if (inner === null || pattern[inner.end] !== ')') return null
      if (open.length * inner.all.length > mostAlternatives) return null
      open = open.flatMap((it) => inner.all.map((more) => [...it, ...more]))
      at = inner.end
      if (/[*+?{]/.test(pattern[at + 1] ?? '')) return null
    } else if (sign === '.' && (after === '*' || after === '+')) {
      append(...(after === '+' ? [any] : []), '*')
      at += 1
      if (/[*+?{]/.test(pattern[at + 1] ?? '')) return null
    } else if (/[*+?{]/.test(after ?? '')) return null
    else if (sign === '^' || sign === '$') append(sign)
    else if (sign === '.') append(any)
    else if (sign === '\\' && after !== undefined && /[^\w\s]/.test(after)) {
      append(one(after))
      at += 1
      if (/[*+?{]/.test(pattern[at + 1] ?? '')) return null
    } else if (/[\w\s:@/#,;=<>~%&!"'`-]/.test(sign)) append(one(sign))
    else return null
  }
  all.push(...open)
  return all.length > mostAlternatives ? null : { all, end: at }
}
