import type { MaskOf } from './index.ts'
import { cleaned as cleanedText, withoutSecrets } from './index.ts'
import { isPlaceholder, isProse, kindOfName, looksSecret, mask } from './table.ts'
import { isWordy } from './values.ts'

/**
 * Returns plain data without its secrets: in texts, in names of properties, and in whole values whose property's name
 * marks them as secret. Returns a part that holds no secret unchanged.
 */
export function withoutSecretsIn<T>(value: T, masks: Masks = plainMasks): T {
  return cleaned(value, masks) as T
}

/** How texts are cleaned, and what stands in the place of a whole value. */
interface Masks {
  clean: (text: string) => string
  whole: MaskOf
}

const plainMasks: Masks = { clean: withoutSecrets, whole: () => mask }

/** Returns masks that the caller makes of each secret. */
export function masksBy(maskOf: MaskOf): Masks {
  return { clean: (text) => cleanedText(text, maskOf), whole: maskOf }
}

function cleaned(value: unknown, masks: Masks): unknown {
  if (typeof value === 'string') return masks.clean(value)
  if (Array.isArray(value)) {
    const all = value as readonly unknown[]
    const items = all.map((item) => cleaned(item, masks))
    return items.every((item, index) => item === all[index]) ? value : items
  }
  if (!isPlain(value)) return value
  const entries = Object.entries(value)
  const isNamed = typeof value['name'] === 'string' && judgedKey(value['name']).tells
  const clean = entries.map(([key, item]) => {
    const { tells, mayTell } = judgedKey(key)
    return [
      masks.clean(key),
      tells || (isNamed && key === 'value')
        ? hidden(item, masks)
        : mayTell
          ? likely(item, masks)
          : cleaned(item, masks),
    ] as const
  })
  return clean.every(([key, item], index) => key === entries[index]![0] && item === entries[index]![1])
    ? value
    : Object.fromEntries(clean)
}

/** What a property's name says of its value: that it is secret, or may be. */
interface JudgedKey {
  tells: boolean
  mayTell: boolean
}

/** Judged keys: a document of thousands of objects has few different names */
const known = new Map<string, JudgedKey>()
const [most, longest] = [500, 60]

function judgedKey(key: string): JudgedKey {
  const before = known.get(key)
  if (before) return before
  const judged = { tells: tellsOfSecret(key), mayTell: mayTellOfSecret(key) }
  if (known.size < most && key.length <= longest) known.set(key, judged)
  return judged
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Returns true if a property's name, as an API has it, marks its value as secret; ids of checks and rules do not. */
function tellsOfSecret(key: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(key) && ['strong', 'authorization', 'cookie'].includes(kindOfName(key) ?? '')
}

function mayTellOfSecret(key: string): boolean {
  return ['weak', 'vague'].includes(kindOfName(key) ?? '')
}

function likely(value: unknown, masks: Masks): unknown {
  return typeof value === 'string' && looksSecret(value) && !isWordy(value) ? masks.whole(value) : cleaned(value, masks)
}

function hidden(value: unknown, masks: Masks): unknown {
  return typeof value === 'string' && !isPlaceholder(value) && !isProse(value)
    ? masks.whole(value)
    : cleaned(value, masks)
}
