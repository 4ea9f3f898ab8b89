declare const brand: unique symbol

/**
 * A command that can be pasted into a shell unchanged: whatever came from outside is quoted in it. Only this file makes
 * one.
 */
export type ShellCommand = string & { readonly [brand]: 'shell' }

/**
 * A command to copy, or a sentence in its place: program text, or made by `command`, `sentence` and `typed`. TypeScript
 * accepts any string; the lint rule `quoted-commands` accepts nothing with unquoted values in it.
 */
export type Suggestion = string & Record<never, never>

/** A piece of a command that is not quoted again. */
interface Nested {
  readonly nested: ShellCommand
}

type Value = string | number | Nested | readonly string[]

/** Rejects a plain command as a value, since it would be quoted as one word: it must be `nested`. */
type Values<V extends readonly Value[]> = {
  readonly [K in keyof V]: V[K] extends ShellCommand | readonly ShellCommand[] ? never : V[K]
}

/**
 * Makes a command: keeps the text of the template, and makes each value one word, a list one word each. A value that
 * begins with a dash would be a flag, except after `--` or glued to other text; elsewhere the command asks the operator
 * to type it.
 */
export function command<V extends readonly Value[]>(
  texts: TemplateStringsArray,
  ...values: Values<V> & V
): ShellCommand {
  const parts = onOneLine(texts)
  return parts.map((text, at) => text + wordsOf(values[at], parts.slice(0, at + 1).join('x'))).join('') as ShellCommand
}

/** Makes a sentence about what to do. Each value is quoted as in a command: pasted by mistake, it does nothing. */
export function sentence<V extends readonly Value[]>(
  texts: TemplateStringsArray,
  ...values: Values<V> & V
): ShellCommand {
  const words = values.map((value) =>
    typeof value === 'string' && value.includes('`') ? printed(value) : wordsOf(value, '--'),
  )
  // an apostrophe would open a quotation that ends where the value begins
  const isPlain = words.every((word) => !/['"]/.test(word))
  return onOneLine(texts)
    .map((text, at) => (isPlain ? text : text.replaceAll("'", '’')) + (words[at] ?? ''))
    .join('') as ShellCommand
}

/** A template may be written on several lines: each end of a line, with the indent of the next, is one space. */
export const onOneLine = (texts: readonly string[]): string[] => texts.map((text) => text.split(/\n */).join(' '))

/** Returns a command that opens a file in the operator's editor. */
export function editing(path: string): ShellCommand {
  return command`\${EDITOR:-vi} ${asPath(path)}`
}

/** Puts a command into another one without quoting it again. */
export function nested(command: Suggestion): Nested {
  return { nested: command as ShellCommand }
}

/** Makes a command from its words, as one would type it in a shell: flags stay flags. */
export function typed(words: readonly string[]): ShellCommand {
  const isRelayed = words.some((word) => relaying.test(word))
  return words
    .map((word, at) =>
      isRelayed && twice.test(word) ? byHand : at === 0 && word.includes('=') ? inQuotes(word) : quoted(word),
    )
    .join(' ') as ShellCommand
}

/** Debian's RabbitMQ scripts pass their words to a second shell, in double quotes. */
const relaying = /(?:^|[\s/])rabbitmq[\w-]*$/
/** Characters that this shell takes for more than text */
const twice = /["$`\\\p{Cc}]/u

/** Fills in the placeholders of a text; the filled-in parts must be as safe as the text. */
export function withFilled(
  text: Suggestion,
  placeholder: RegExp,
  fill: (...found: string[]) => Suggestion,
): Suggestion {
  return text.replace(placeholder, (...found: string[]) => fill(...found))
}

/** Lists words for a sentence, each quoted. */
export function commaList(words: readonly string[]): ShellCommand {
  return words.map((word) => quoted(word)).join(', ') as ShellCommand
}

/** Returns a path that a program takes for a file, whatever its name begins with. */
export function asPath(path: string): string {
  return path.startsWith('-') ? `./${path}` : path
}

function wordsOf(value: Value | undefined, before: string): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  if (typeof value === 'object' && 'nested' in value) return value.nested
  const isGlued = /\S$/.test(before)
  // the part of the last of several commands
  const own = before.slice(before.search(/[|;&][^|;&]*$/) + 1)
  const isBehindFlags = /(?:^|\s)--\s/.test(`${own} `)
  const isRelayed = own.split(/\s/).some((word) => relaying.test(word))
  const word = (text: string): string =>
    (text.startsWith('-') && !isGlued && !isBehindFlags) || (isRelayed && twice.test(text)) ? byHand : quoted(text)
  return typeof value === 'string' ? word(value) : value.map(word).join(' ')
}

/** Returns the text in POSIX quotes, or bare if every shell reads it as just the word. */
function quoted(text: string): string {
  return /^[\w@+:,./-][\w@%+=:,./-]*$/.test(text) ? text : inQuotes(text)
}

/**
 * Returns the text as a quoted word: in single quotes nothing is special, not even `!` in an interactive shell. Around
 * single quotes, double ones are easier to read.
 */
function inQuotes(text: string): string {
  if (unseen.test(text)) return printed(text)
  if (text.includes("'") && !/["$`\\!{]/.test(text)) return `"${text}"`
  // `fill` must find only the program's own placeholders
  return `'${text.replaceAll("'", `'\\''`).replace(/\{(?=[a-z]+\})/g, `{''`)}'`
}

/** Characters that move the cursor, hide or reorder what stands around them, or look like a blank. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?! )\p{Zs}/u

/** Returns the text as a call of `printf`, which every shell has: all of it is visible, and no shell interprets it. */
function printed(text: string): string {
  // no argument of a program holds NUL or a lone surrogate, and a shell drops newlines at the end
  if (/\0|\p{Cs}|\n$/u.test(text)) return byHand
  const octal = (part: string): string =>
    [...Buffer.from(part)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
  return `"$(printf '${text.replace(/[^\w @+:,./=\p{L}\p{N}]/gu, octal)}')"`
}

/** Replaces a word that cannot be pasted: a shell refuses the command, and says why. */
const byHand = '"${TYPE_BY_HAND:?this name cannot be pasted: type it yourself}"'
