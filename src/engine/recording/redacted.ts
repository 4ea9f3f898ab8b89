import { masksBy, withoutSecretsIn } from '../../core/redaction/document.ts'
import { knownCount, remember } from '../../core/redaction/known.ts'
import type { Secret } from '../../core/secret.ts'
import { UnreadableSecret } from '../../core/secret.ts'
import { looksSecret } from '../../core/redaction/table.ts'
import { isWordy } from '../../core/redaction/values.ts'
import { isPlaceSetting } from '../../knowledge/settings.ts'
import type { HideSecret } from './encoded.ts'

/** A file of a report before its secrets are removed. `json`: made anew each time, with what hides a secret. */
export type ReportFile = { name: string } & ({ text: string } | { json: (hide: HideSecret) => unknown })

/** A file of a report as it is written. */
export interface CleanFile {
  name: string
  text: string
}

export interface RemovedSecret {
  /** `[secret-3]`: the same one stands wherever the same secret stood */
  mark: string
  /** FILE:LINE of the first places */
  where: readonly string[]
  /** Number of all places */
  count: number
}

/** Times that all is cleaned, at most: a secret found by its name is then known by its value everywhere */
const mostTurns = 4
/** Characters that a secret must have to be told within another */
const telling = 8
/** Places that are named of each secret */
const mostPlaces = 50

/**
 * Removes every secret: those that this program holds by their value, others by their name or form. The same secret
 * gets the same number in all files.
 */
export function redacted(files: readonly ReportFile[]): { files: CleanFile[]; removed: RemovedSecret[] } {
  const plain = new Set<string>()
  for (let turn = 1; ; turn += 1) {
    const before = knownCount() + plain.size
    const clean = cleanAll(files, plain)
    if (knownCount() + plain.size === before || turn === mostTurns) return { files: clean, removed: removedFrom(clean) }
  }
}

/** Files that people wrote: a secret may stand in them under another name, as at an anchor of YAML */
const written = /^(?:definitions\/|values\.json$)/

/** `plain`: collects the secrets that are hidden as a whole value, also plain words, which are searched for nowhere */
function cleanAll(files: readonly ReportFile[], plain: Set<string>): CleanFile[] {
  const numbers = new Map<string, number>()
  const tokenOf = (secret: string): string => {
    const key = plainForm(secret)
    // an address's user may be hidden together with its password
    const inner = [...numbers].find(([known]) => known.length >= telling && key.endsWith(`:${known}`))
    const number = numbers.get(key) ?? inner?.[1] ?? Math.max(0, ...numbers.values()) + 1
    numbers.set(key, number)
    return `[secret-${number}]`
  }
  // found by its name here, it may stand elsewhere without one
  const masks = masksBy((secret) => {
    learn(secret)
    return tokenOf(secret)
  })
  const clean = (text: string): string => masks.clean(unnumbered(text))
  const whole = (secret: string): string => {
    if (isToken(secret)) return secret
    if (!isName.test(secret)) remember(secret)
    if (secret.length >= telling) plain.add(secret)
    return tokenOf(secret)
  }
  const cleanWritten = (text: string): string => (plain.has(text) ? tokenOf(text) : clean(text))
  const hide: HideSecret = (secret: Secret, name) => {
    if (secret instanceof UnreadableSecret) return '[unreadable]'
    const value = secret.reveal()
    if (secret.mayAppear && name !== null && isPlaceSetting(name, value)) return value.replace(keyed, hideKeyed)
    learn(value)
    return tokenOf(value)
  }
  const hideKeyed = (_: string, name: string, value: string): string =>
    `${name}${isOrdinary(value) ? value : whole(value)}`
  return files.map((file) => ({
    name: file.name,
    text:
      'text' in file
        ? clean(file.text)
        : `${JSON.stringify(
            withoutSecretsIn(withoutFingerprints(file.json(hide)), {
              clean: written.test(file.name) ? cleanWritten : clean,
              whole,
              isStrict: true,
            }),
            null,
            1,
          )}\n`,
  }))
}

/** A name, a variable, a path or an address: hidden where it stands below a secret name, and nowhere else */
const isName = /^(?:[a-z]+(?:[-_.][a-z]+)*|[A-Z]+(?:_[A-Z\d]+)*|\.{0,2}\/.*|[a-z]{2,10}:\/\/[^@]*)$/s

/** Remembers what was hidden, so that it is hidden everywhere. A word, a path or a host is not: any text has many. */
function learn(secret: string): void {
  if (looksSecret(secret) && !isWordy(secret)) remember(secret)
}

/** `?key=X`, `-Dlicense.key=X`: a part of an address or of options whose name says too little elsewhere */
const keyed =
  /((?:[?&;,\s]|^|-D)[\w.-]{0,80}(?:key|auth|sig|signature|code|cred|pin|sas|pass|phrase)\d{0,3}=)([^&;,\s"']+)/gi

/** A path, a flag or a variable: no secret, whatever its name. */
const isOrdinary = (value: string): boolean =>
  /^(?:true|false|\d{1,3}|[./].*|[a-z]:[\\/].*|\$\{.*|classpath:.*|file:.*)$/i.test(value)

/**
 * Returns plain data without the fingerprints of secrets that a plan compares them by: a short password can be guessed
 * from one.
 */
function withoutFingerprints(data: unknown): unknown {
  if (Array.isArray(data)) return data.map((it: unknown) => withoutFingerprints(it))
  if (typeof data !== 'object' || data === null) return data
  const isOfSecret = 'kind' in data && data.kind === 'set-secret'
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      isOfSecret && ['salt', 'from', 'to'].includes(key) && typeof value === 'string'
        ? '[fingerprint]'
        : withoutFingerprints(value),
    ]),
  )
}

const token = /\[secret-\d{1,9}\]/g

const isToken = (text: string): boolean => /^\[secret-\d{1,9}\]$/.test(text)

/** A text that only looks like one of our numbers must not be taken for one; those of `hide` stand alone. */
function unnumbered(text: string): string {
  return isToken(text) ? text : text.replace(token, '[secret]')
}

/** Returns a secret as it is, wherever it was found: an address writes it otherwise. */
function plainForm(secret: string): string {
  try {
    return decodeURIComponent(secret)
  } catch {
    return secret
  }
}

function removedFrom(files: readonly CleanFile[]): RemovedSecret[] {
  const found = new Map<string, { where: string[]; count: number }>()
  for (const { name, text } of files)
    for (const [index, line] of text.split('\n').entries())
      for (const [mark] of line.matchAll(token)) {
        const it = found.get(mark) ?? { where: [], count: 0 }
        it.count += 1
        const place = `${name}:${index + 1}`
        if (it.where.length < mostPlaces && it.where.at(-1) !== place) it.where.push(place)
        found.set(mark, it)
      }
  const numberOf = ({ mark }: RemovedSecret): number => Number(/\d+/.exec(mark)![0])
  return [...found].map(([mark, it]) => ({ mark, ...it })).sort((one, other) => numberOf(one) - numberOf(other))
}

/** Returns plain data with each number of a secret as the mask that this program prints elsewhere. */
export function withoutNumbers<T>(value: T): T {
  return JSON.parse(JSON.stringify(value).replace(token, '[secret]')) as T
}
