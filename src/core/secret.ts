import { inspect } from 'node:util'

const mask = '[secret]'

/** A value that must never be printed, logged or stored. Every usual way to turn it into text gives a mask. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
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

/** The address without its user's password, and without values in the query: safe to show. */
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
