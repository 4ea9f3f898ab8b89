// What a check file declares, asks and returns: check.d.ts is its public form, and changes with this file.
import type { Check, Outcome } from '../../core/check.ts'
import type { Shape } from '../../core/shape.ts'
import { isObject, listOf, objectOf, oneOf, optional } from '../../core/shape.ts'
import type { SourceName, Sources } from '../../core/sources.ts'

/** The version of the contract: a file says for which one it is written. */
const contractVersion = 1

type One<S extends SourceName> = S extends 'database' ? Sources['database'][0] : Sources[S]
type Offers = { readonly [S in SourceName]?: Offer<One<S>> }
interface Offer<T> {
  facts: readonly (keyof T & string)[]
  questions: { readonly [Q in keyof T & string]?: Shape }
}

/** Characters that would act on a terminal or hide in a line, and halves of characters */
const unfit = new RegExp(String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]`, 'u')

const line =
  (most: number): Shape =>
  (value, at) => {
    if (typeof value !== 'string') return `${at} is not text`
    if (value.trim() === '') return `${at} is empty`
    if (value.length > most) return `${at} has more than ${most} characters`
    return unfit.test(value) ? `${at} has a control character or a line end` : null
  }

const few =
  (most: number, shape: Shape): Shape =>
  (value, at) =>
    Array.isArray(value) && value.length > most ? `${at} has more than ${most} items` : listOf(shape)(value, at)

const nothing: Shape = (input) => ((input as readonly unknown[]).length === 0 ? null : 'it takes nothing')

const scalar: Shape = (value, at) =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)
    ? null
    : `${at} is not text, a number, true, false or null`

const selecting: Shape = (input) => {
  const [statement, values, ...others] = input as readonly unknown[]
  if (others.length > 0) return 'it takes a statement and a list of values'
  return typeof statement === 'string' && statement.trim() !== '' && statement.length <= 20_000
    ? optional(few(100, scalar))(values, 'values')
    : 'the statement is not text of at most 20000 characters'
}

/** Bytes of the log that a check reads, at most */
const mostLog = 1_000_000

const reading: Shape = (input) => {
  const [options, ...others] = input as readonly unknown[]
  const bytes = isObject(options) ? options['maxBytes'] : undefined
  return others.length === 0 && Number.isInteger(bytes) && (bytes as number) > 0 && (bytes as number) <= mostLog
    ? null
    : `it takes {maxBytes}, a whole number from 1 to ${mostLog}`
}

/** The sources of a check file, and what it may ask them: methods that only read. */
export const offers = {
  database: {
    facts: ['target'],
    questions: { identity: nothing, connections: nothing, storage: nothing, select: selecting },
  },
  broker: { facts: ['target', 'vhost'], questions: { identity: nothing, queues: nothing, nodes: nothing } },
  sessions: { facts: ['target'], questions: { identity: nothing, memory: nothing } },
  service: { facts: [], questions: { status: nothing, image: nothing } },
  api: { facts: ['target'], questions: { health: nothing } },
  logs: { facts: ['target'], questions: { recent: reading } },
} as const satisfies Offers

export type OfferedName = keyof typeof offers

const remedy = objectOf({
  text: line(500),
  commands: few(10, line(500)),
  risk: optional(line(500)),
  undo: optional(line(500)),
})

const declaration = objectOf({
  version: oneOf(contractVersion),
  title: line(100),
  reads: optional(few(20, oneOf(...Object.keys(offers)))),
  remedy,
  run: (value, at) => (value === 'function' ? null : `${at} is not a function`),
})

/** What a check file says of its check; `run` is in its process. */
export type Declared = Pick<Check, 'title' | 'reads'> & Required<Pick<Check, 'remedy'>>

/** Returns what a check file declares, or in a few words what is wrong with it. */
export function declarationIn(value: unknown): Declared | string {
  if (value === null) return 'has no default export'
  if (!isObject(value)) return `exports ${typeof value === 'string' ? `a ${value}` : 'a list'}, not a check`
  const { version } = value
  if (version === undefined) return `does not say for which version it is written: add \`version: ${contractVersion}\``
  if (version !== contractVersion)
    return (
      `is written for version ${String(JSON.stringify(version)).slice(0, 20)} of checks, but this testops-admin has ` +
      `version ${contractVersion}`
    )
  const fault = declaration(value, 'check')
  if (fault !== null) return `declares no check: ${clipped(fault.toString())}`
  const { title, reads = [], remedy: what } = value as unknown as Declared & { reads?: readonly SourceName[] }
  return { title, reads: [...new Set(reads)], remedy: what }
}

const outcomes: Readonly<Record<Outcome['status'], Shape>> = {
  ok: objectOf({ status: oneOf('ok'), detail: line(500) }),
  skipped: objectOf({ status: oneOf('skipped'), reason: line(500) }),
  problem: objectOf({
    status: oneOf('problem'),
    severity: oneOf('error', 'warning'),
    findings: (value, at) =>
      Array.isArray(value) && value.length === 0
        ? `${at} is empty`
        : few(50, objectOf({ message: line(500), evidence: few(50, line(1000)) }))(value, at),
    remedy: optional(remedy),
  }),
}

/** Returns the outcome that a check returned, or in a few words what is wrong with it. */
export function outcomeIn(value: unknown): Outcome | string {
  const status = isObject(value) ? value['status'] : undefined
  const fault = !isObject(value)
    ? 'it is not an object with a status'
    : isStatus(status)
      ? outcomes[status](value, 'outcome')
      : oneOf(...Object.keys(outcomes))(status ?? null, 'outcome.status')
  return fault === null ? (value as Outcome) : clipped(fault.toString())
}

const isStatus = (it: unknown): it is Outcome['status'] => typeof it === 'string' && Object.hasOwn(outcomes, it)

function clipped(text: string): string {
  return text.length > 300 ? `${text.slice(0, 299)}…` : text
}
