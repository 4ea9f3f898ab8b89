import { withoutSecrets } from './redaction/index.ts'

/** A fault that another version explains: what was read may be whole, in a form that this version does not know. */
export class OtherForm {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

/** What is wrong with a value that was read, and where in it. Text: it is damaged. */
export type Fault = string | OtherForm

/** Returns what is wrong with a value that was read; null: nothing. */
export type Shape = (value: unknown, at: string) => Fault | null

/** Returns the fault with its place before it. */
export function faultAt(place: string, fault: Fault): Fault {
  const text = `${place}: ${fault.toString()}`
  return fault instanceof OtherForm ? new OtherForm(text) : text
}

export const anything: Shape = () => null
export const text: Shape = (value, at) => (typeof value === 'string' ? null : `${at} is not text`)
export const flag: Shape = (value, at) => (typeof value === 'boolean' ? null : `${at} is neither true nor false`)
export const amount: Shape = (value, at) =>
  typeof value === 'number' && value >= 0 ? null : `${at} is neither 0 nor a positive number`
export const whole: Shape = (value, at) => (Number.isInteger(value) ? null : `${at} is not a whole number`)
/** ISO 8601 */
export const instant: Shape = (value, at) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? null : `${at} is not a time`

export function oneOf(...values: readonly unknown[]): Shape {
  return (value, at) =>
    values.includes(value) ? null : new OtherForm(`${at} is ${shown(value)}; allowed: ${values.map(shown).join(', ')}`)
}

export function nullable(shape: Shape): Shape {
  return (value, at) => (value === null ? null : shape(value, at))
}

/** Accepts the shape, or a key that is left out. */
export function optional(shape: Shape): Shape {
  return (value, at) => (value === undefined ? null : shape(value, at))
}

export function listOf(shape: Shape): Shape {
  return (value, at) =>
    Array.isArray(value)
      ? firstFault(value.map((it: unknown, index) => shape(it, `${at}[${index}]`)))
      : `${at} is not a list`
}

/** Accepts any keys whose values have the shape. */
export function mapOf(shape: Shape): Shape {
  return (value, at) =>
    isObject(value)
      ? firstFault(Object.entries(value).map(([key, it]) => shape(it, `${at}.${key}`)))
      : `${at} is not an object`
}

/** Accepts these keys and no others: an unknown key may change the meaning of the rest. */
export function objectOf(shapes: Readonly<Record<string, Shape>>): Shape {
  return (value, at) => {
    if (!isObject(value)) return `${at} is not an object`
    const strange = Object.keys(value).find((key) => !Object.hasOwn(shapes, key))
    if (strange !== undefined) return new OtherForm(`${at} has an unknown key: ${strange}`)
    return firstFault(
      Object.entries(shapes).map(([key, shape]) => {
        const fault = shape(value[key], `${at}.${key}`)
        return fault !== null && value[key] === undefined ? `${at}.${key} is missing` : fault
      }),
    )
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function firstFault(faults: readonly (Fault | null)[]): Fault | null {
  return faults.find((fault) => fault !== null) ?? null
}

function shown(value: unknown): string {
  const said = withoutSecrets(JSON.stringify(value) ?? 'nothing')
  return said.length > 60 ? `${said.slice(0, 59)}…` : said
}
