import { masksBy, withoutSecretsIn } from '../../core/redaction/document.ts'
import { knownCount, remember } from '../../core/redaction/known.ts'
import type { Secret } from '../../core/secret.ts'
import { UnreadableSecret } from '../../core/secret.ts'
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
  for (let turn = 1; ; turn += 1) {
    const before = knownCount()
    const clean = cleanAll(files)
    if (knownCount() === before || turn === mostTurns) return { files: clean, removed: removedFrom(clean) }
  }
}

function cleanAll(files: readonly ReportFile[]): CleanFile[] {
  const numbers = new Map<string, number>()
  const tokenOf = (secret: string): string => {
    const key = plainForm(secret)
    // an address's user may be hidden together with its password
    const inner = [...numbers].find(([known]) => known.length >= telling && key.endsWith(`:${known}`))
    const number = numbers.get(key) ?? inner?.[1] ?? Math.max(0, ...numbers.values()) + 1
    numbers.set(key, number)
    return `[secret-${number}]`
  }
  const masks = masksBy(tokenOf)
  const clean = (text: string): string => masks.clean(unnumbered(text))
  const whole = (secret: string): string => {
    if (isToken(secret)) return secret
    remember(secret)
    return tokenOf(secret)
  }
  const hide: HideSecret = (secret: Secret, name) => {
    if (secret instanceof UnreadableSecret) return '[unreadable]'
    const value = secret.reveal()
    return secret.mayAppear && name !== null && isPlaceSetting(name, value) ? value : tokenOf(value)
  }
  return files.map((file) => ({
    name: file.name,
    text:
      'text' in file
        ? clean(file.text)
        : `${JSON.stringify(withoutSecretsIn(withoutFingerprints(file.json(hide)), { clean, whole }), null, 1)}\n`,
  }))
}

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
