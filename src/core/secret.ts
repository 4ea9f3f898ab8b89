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

/** A secret that is known to be there and may not be read: whoever needs its value gets the reason. */
export class UnreadableSecret extends Secret {
  constructor(readonly why: Error) {
    super('')
  }

  override reveal(): never {
    throw this.why
  }
}

/** The secret that a file or standard input holds: all of it but one line's end. */
export function secretIn(text: string): Secret {
  return new Secret(text.replace(/\r?\n$/, ''))
}

/** Text without the Bearer tokens that it quotes. */
export function withoutTokens(text: string): string {
  return text.replace(/\beyJ[\w-]{8,}(\.[\w-]*){0,2}/g, mask)
}

/**
 * Text without these values, which are secret. One of less than `anywhere` characters goes where it stands by itself, and only where it
 * is no plain word or number, of which any text has many.
 */
export function withoutValues(text: string, values: Iterable<string>, { anywhere, instead }: { anywhere: number; instead: string }): string {
  const all = [...values].filter((it) => it.length >= anywhere || (it.length > 2 && /[a-z]/i.test(it) && /[^a-z]/i.test(it)))
  const hidden = (left: string, value: string): string => (value.length >= anywhere ? left.replaceAll(value, instead) : left.replace(alone(value), instead))
  // the longest first, since one may hold another
  return all.sort((one, other) => other.length - one.length).reduce(hidden, text)
}

function alone(value: string): RegExp {
  return new RegExp(`(?<!\\w)${value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}(?!\\w)`, 'g')
}

/** a part of an address that is most likely a key, as those of webhooks are: long, of letters and digits, and no UUID */
const keyInPath = /(?<=[^/]\/)(?![\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\w:-]))(?=[^/?#]*\d)(?=[^/?#]*[a-z])[\w:-]{20,}(?=[/?#]|$)/gi

/**
 * Text of another side, such as a line of a log, without what is secret by its form: logins and keys in addresses, tokens, cookies,
 * and what stands after `password=` and the like.
 */
export function withoutSecrets(text: string): string {
  return withoutTokens(text)
    .replace(/:\/\/[^\s/@:]*:[^\s/"<>]*@/g, `://${mask}@`)
    .replace(/:\/\/[^\s/@:"<>]{16,}@/g, `://${mask}@`)
    .replace(/https?:\/\/[^\s"'<>)\]]+/gi, (address) => address.replace(keyInPath, mask))
    .replace(/\b(authorization["']?\s*[=:]\s*["']?)(?:[a-z-]+[ \t]+)?[^\s"',;[]+/gi, `$1${mask}`)
    .replace(/\b(Bearer|api-token)\s+[\w.~+/-]+=*/gi, `$1 ${mask}`)
    .replace(/\b(Basic)\s+(?=\S*[\d=])[\w+/]{6,}=*/gi, `$1 ${mask}`)
    .replace(/\b(?:glpat|gh[opsu]|xox[abps])[-_][\w-]{10,}/g, mask)
    // in names of keys, ids of sessions are credentials
    .replace(/(:sessions:(?:expires:)?)[\w-]+/g, `$1${mask}`)
    .replace(/\b((?:set-)?cookie["']?\s*[=:]\s*["']?)[^\s=;"']{1,100}=[^\s;"']*(?:;\s{0,9}[^\s=;"']{1,100}=[^\s;"']*)*/gi, `$1${mask}`)
    .replace(/((?<!invalid_)(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[-_]?key))(["']?\s*[=:]\s*)(?:"[^"]*"?|'[^']*'?|[^\s"',;&]+)/gi, `$1$2${mask}`)
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
