import { inspect } from 'node:util'
import { remember } from './redaction/known.ts'
import { mask } from './redaction/table.ts'

/**
 * A value that must never be printed, logged or stored. Every usual conversion into text gives a mask, and
 * `withoutSecrets` finds it in texts that others wrote.
 */
export class Secret {
  readonly #value: string

  /** True if it is kept like a secret, but may be none, such as a host or a user in a Kubernetes Secret */
  readonly mayAppear: boolean

  constructor(value: string, { mayAppear = false }: { mayAppear?: boolean } = {}) {
    this.#value = value
    this.mayAppear = mayAppear
    if (!mayAppear) remember(value)
  }

  /** The value itself. Call this where it goes onto the wire, nowhere else. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return mask
  }

  toJSON(): string {
    return mask
  }

  [inspect.custom](): string {
    return mask
  }
}

/** A secret that exists and may not be read: `reveal` throws the reason. */
export class UnreadableSecret extends Secret {
  constructor(readonly why: Error) {
    super('')
  }

  override reveal(): never {
    throw this.why
  }
}

/** Returns the secret in the text of a file or standard input, without one line's end. */
export function secretIn(text: string): Secret {
  return new Secret(text.replace(/\r?\n$/, ''))
}

/** Returns the address without its user's password and without its query: safe to show. */
export function redactUrl(address: string): string {
  try {
    const url = new URL(address)
    url.password = ''
    if (url.search) url.search = ''
    return url.href
  } catch {
    return address.replace(/\/\/[^@/\s]*@/, '//')
  }
}
