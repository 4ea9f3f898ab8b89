import type { MaskOf } from './index.ts'
import { cleaned as cleanedText, withoutSecrets } from './index.ts'
import { isEmptyWord, isPlaceholder, isProse, isSecretVariable, kindOfName, looksSecret, mask } from './table.ts'
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
  /**
   * Set for what leaves this machine: hides also what stands below a secret name, in lists of arguments, and after
   * names that this program's own documents do not have
   */
  isStrict?: true
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
    const items = masks.isStrict && isTexts(all) ? cleanedWords(all, masks) : all.map((item) => cleaned(item, masks))
    return items.every((item, index) => item === all[index]) ? value : items
  }
  if (!isPlain(value)) return value
  const entries = Object.entries(value)
  const commandLine = masks.isStrict ? commandLineIn(value, masks) : {}
  const isNamed = isNamedSecret(value, masks)
  const clean = entries.map(([key, item]) => {
    const { tells, mayTell } = judgedKey(key, masks)
    if (Object.hasOwn(commandLine, key)) return [key, commandLine[key]] as const
    return [
      masks.clean(key),
      tells || (isNamed && isValueKey(key, masks))
        ? hidden(item, masks, key)
        : mayTell
          ? likely(item, masks)
          : cleaned(item, masks),
    ] as const
  })
  return clean.every(([key, item], index) => key === entries[index]![0] && item === entries[index]![1])
    ? value
    : Object.fromEntries(clean)
}

/** True if an object names its value, as lists of variables and of headers do, and the name tells of a secret. */
function isNamedSecret(value: Readonly<Record<string, unknown>>, masks: Masks): boolean {
  const keys = masks.isStrict ? ['name', 'key', 'header', 'field', 'property'] : ['name']
  return keys.some((key) => typeof value[key] === 'string' && judgedKey(value[key], masks).tells)
}

const isValueKey = (key: string, masks: Masks): boolean => key === 'value' || (masks.isStrict === true && key === 'val')

const isTexts = (items: unknown): items is readonly string[] =>
  Array.isArray(items) && items.length > 0 && items.every((it) => typeof it === 'string')

/** Lists of a program and its arguments, as objects of containers divide them */
const commandLines = [
  ['command', 'args'],
  ['entrypoint', 'command'],
] as const

/** Returns the parts of an object's command line, clean: the program decides what its arguments mean. */
function commandLineIn(value: Readonly<Record<string, unknown>>, masks: Masks): Readonly<Record<string, unknown>> {
  for (const [first, second] of commandLines) {
    const [program, words] = [wordsIn(value[first]), value[second]]
    if (!isTexts(program) || !isTexts(words)) continue
    const all = cleanedWords([...program, ...words], masks)
    const before = all.slice(0, program.length)
    return { [first]: isTexts(value[first]) ? before : before.join(' '), [second]: all.slice(program.length) }
  }
  return {}
}

/** Returns a command line's words: compose takes it as one text, too. */
const wordsIn = (value: unknown): unknown => (typeof value === 'string' ? value.split(/\s+/).filter(Boolean) : value)

/** What stands in the place of a secret, here and in a report */
const hiddenAlready = /^\[(?:secret(?:-\d{1,9})?|unreadable|fingerprint)\]$/
/** Words before a user and a password, and options */
const ofCommand = /^(?:-.*|add_user|change_password|authenticate_user|auth|setuser)$/is

/** Returns words of a command line, or lines of a text, without their secrets. */
function cleanedWords(words: readonly string[], masks: Masks): string[] {
  const asOne = cleanedAsOne(words, masks) ?? words
  return words.map((word, index) => {
    if (hiddenAlready.test(word)) return masks.clean(word)
    const [, flag] = /^--?([\p{L}_][\p{L}\p{N}_.-]*)$/u.exec(words[index - 1] ?? '') ?? []
    if (flag !== undefined && kindOfName(flag) !== null && !/^-{1,2}\w/.test(word)) return String(hidden(word, masks))
    const [, start = '', name, value = ''] = /^(-{0,2}D?)([\p{L}_][\p{L}\p{N}_.-]*)=(.+)$/su.exec(word) ?? []
    if (name !== undefined && judgedKey(name, masks).tells) return `${start}${name}=${String(hidden(value, masks))}`
    return asOne[index] === word ? masks.clean(word) : asOne[index]!
  })
}

/** Returns the words as they look together: a key of several lines, or what follows `redis-cli … -a`. */
function cleanedAsOne(words: readonly string[], masks: Masks): readonly string[] | null {
  if (words.some((it) => it.includes('-----BEGIN'))) {
    const lines = masks.clean(words.join('\n')).split('\n')
    return lines.length === words.length ? lines : null
  }
  if (!words.some((it) => ofCommand.test(it))) return null
  try {
    const parsed = JSON.parse(masks.clean(JSON.stringify(words))) as unknown
    return isTexts(parsed) && parsed.length === words.length ? parsed : null
  } catch {
    // the mask took a quotation mark with it
    return null
  }
}

/** What a property's name says of its value: that it is secret, or may be. */
interface JudgedKey {
  tells: boolean
  mayTell: boolean
}

/** Judged keys: a document of thousands of objects has few different names */
const known = new Map<string, JudgedKey>()
const [most, longest] = [500, 60]

function judgedKey(key: string, masks: Masks): JudgedKey {
  const place = masks.isStrict ? `strict ${key}` : key
  const before = known.get(place)
  if (before) return before
  const judged = {
    tells: tellsOfSecret(key) || (masks.isStrict === true && tellsStrictly(key)),
    mayTell: mayTellOfSecret(key),
  }
  if (known.size < most && key.length <= longest) known.set(place, judged)
  return judged
}

/** Endings of variables that say where a secret is, or how long it lasts */
const ofPlace = /_(?:FILE|PATH|DIR|URL|URI|NAME|REF|SECONDS|MINUTES|TTL|ENABLED)$/

/** `spring.datasource.password`, `example.com/token`, `DB_PASSWORD_OLD`, `REDIS_AUTH` */
function tellsStrictly(key: string): boolean {
  if (/^[A-Z][A-Z\d_]*$/.test(key)) return (isSecretVariable(key) && !ofPlace.test(key)) || /_AUTH$/.test(key)
  if (/(?:passwords|tokens|secrets|credentials)$/i.test(key) && kindOfName(key) !== null) return true
  const [, name] = /^(?:[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+\/)?([\p{L}_][\p{L}\p{N}_.-]*)$/u.exec(key) ?? []
  return name !== undefined && name !== key.replace(/[./]/g, '') && tellsOfSecret(name.replace(/\./g, '_'))
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
  if (typeof value === 'string') return looksSecret(value) && !isWordy(value) ? masks.whole(value) : masks.clean(value)
  if (!masks.isStrict) return cleaned(value, masks)
  if (isTexts(value)) return value.map((it) => likely(it, masks))
  if (!isPlain(value) || Object.hasOwn(value, '$')) return cleaned(value, masks)
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [masks.clean(key), likelyIn(key, it, masks)]))
}

/** Judges a part below a name that may tell of a secret: by its own name, or else by how it looks. */
function likelyIn(key: string, value: unknown, masks: Masks): unknown {
  const [it] = Object.values(cleaned({ [key]: value }, masks) as Record<string, unknown>)
  return it === value ? likely(value, masks) : it
}

function hidden(value: unknown, masks: Masks, key = ''): unknown {
  if (masks.isStrict) return ofNames.test(key) && isTexts(value) ? cleaned(value, masks) : hiddenBelow(value, masks)
  return typeof value === 'string' && !isPlaceholder(value) && !isProse(value)
    ? masks.whole(value)
    : cleaned(value, masks)
}

/** Names of what leads to a secret, below a name that tells of one, as Kubernetes and compose have them */
const leading = new RegExp(
  '^(?:at|file|path|ref|environment|external|source|target|uid|gid|mode|namespace|kind|type|' +
    '.*(?:[nN]ame|Ref|File|Path|Length|[eE]nabled|[cC]reate|[oO]ptional|Seconds|At|_(?:file|path|at)))$',
)
/** A list of the names of secrets, as `imagePullSecrets` and a service of compose have it */
const ofNames = /secrets$/i

/** `${DB_PASSWORD:-X}`, as compose and Spring write a variable with what stands in its place if it is not set */
const withDefault = /^(\$\{[\w.]{1,100}(?::?[-+]|:))([^?].*)\}$/s

function hiddenBelow(value: unknown, masks: Masks): unknown {
  if (typeof value === 'string') {
    const [, variable, otherwise] = withDefault.exec(value) ?? []
    if (otherwise !== undefined) return `${variable}${masks.whole(otherwise)}}`
    return isPlaceholder(value) || isEmptyWord(value) ? masks.clean(value) : masks.whole(value)
  }
  // a flag or a small number hides nothing
  if (typeof value === 'number' || typeof value === 'bigint')
    return String(value).length >= 4 ? masks.whole(String(value)) : value
  if (Array.isArray(value)) return (value as unknown[]).map((it) => hiddenBelow(it, masks))
  // what this program has encoded is hidden already
  if (!isPlain(value) || Object.hasOwn(value, '$')) return cleaned(value, masks)
  const isReference = typeof value['name'] === 'string'
  return Object.fromEntries(
    Object.entries(value).map(([key, it]) => [
      masks.clean(key),
      leading.test(key) || (key === 'key' && isReference) ? likelyIn(key, it, masks) : hiddenBelow(it, masks),
    ]),
  )
}
