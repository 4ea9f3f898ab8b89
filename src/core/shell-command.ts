declare const brand: unique symbol

/**
 * A command that can be pasted into a shell as it stands: whatever came from outside is quoted in it. Only this file
 * makes one.
 */
export type ShellCommand = string & { readonly [brand]: 'shell' }

/**
 * A command to be copied, or a sentence that stands where one could: program text, or made by `command`, `sentence` and
 * `typed`. TypeScript takes any string for it; the lint rule `quoted-commands` takes nothing that has unquoted values
 * in it.
 */
export type Suggestion = string & Record<never, never>

/** A piece of a command that is not quoted again. */
interface Nested {
  readonly nested: ShellCommand
}

type Value = string | number | Nested | readonly string[]

/** A command as it is would be quoted as one word: it has to be said that it is `nested`. */
type Values<V extends readonly Value[]> = {
  readonly [K in keyof V]: V[K] extends ShellCommand | readonly ShellCommand[] ? never : V[K]
}

/**
 * A command: the text of the template stands as it is, each value becomes one word, a list one word each. A value that
 * begins with a dash would be taken for a flag, but behind `--` or glued to other text; elsewhere the command asks for
 * it to be typed by hand.
 */
export function command<V extends readonly Value[]>(
  texts: TemplateStringsArray,
  ...values: Values<V> & V
): ShellCommand {
  return texts.map((text, at) => text + wordsOf(values[at], texts.slice(0, at + 1).join('x'))).join('') as ShellCommand
}

/**
 * A sentence about what to do, in which each value stands as it would in a command: pasted by mistake, it does nothing.
 */
export function sentence<V extends readonly Value[]>(
  texts: TemplateStringsArray,
  ...values: Values<V> & V
): ShellCommand {
  const words = values.map((value) =>
    typeof value === 'string' && value.includes('`') ? printed(value) : wordsOf(value, '--'),
  )
  // an apostrophe would open a quotation that ends where the value begins
  const isPlain = words.every((word) => !/['"]/.test(word))
  return texts
    .map((text, at) => (isPlain ? text : text.replaceAll("'", '’')) + (words[at] ?? ''))
    .join('') as ShellCommand
}

/** What opens a file in the operator's editor. */
export function editing(path: string): ShellCommand {
  return command`\${EDITOR:-vi} ${asPath(path)}`
}

/** A command within another one, as it stands. */
export function nested(command: Suggestion): Nested {
  return { nested: command as ShellCommand }
}

/** A command as one would type it in a shell, from its words: flags are taken for flags. */
export function typed(words: readonly string[]): ShellCommand {
  const isRelayed = words.some((word) => relaying.test(word))
  return words
    .map((word, at) =>
      isRelayed && twice.test(word) ? byHand : at === 0 && word.includes('=') ? inQuotes(word) : quoted(word),
    )
    .join(' ') as ShellCommand
}

/** Debian's scripts of RabbitMQ hand their words to a second shell, in double quotes. */
const relaying = /(?:^|[\s/])rabbitmq[\w-]*$/
/** what that shell takes for more than text */
const twice = /["$`\\\p{Cc}]/u

/** A text with its placeholders filled in; what is filled in is as good as the text. */
export function withFilled(
  text: Suggestion,
  placeholder: RegExp,
  fill: (...found: string[]) => Suggestion,
): Suggestion {
  return text.replace(placeholder, (...found: string[]) => fill(...found))
}

/** Words as a sentence lists them. */
export function commaList(words: readonly string[]): ShellCommand {
  return words.map((word) => quoted(word)).join(', ') as ShellCommand
}

/** A file as a program takes it for one, whatever its name begins with. */
export function asPath(path: string): string {
  return path.startsWith('-') ? `./${path}` : path
}

function wordsOf(value: Value | undefined, before: string): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  if (typeof value === 'object' && 'nested' in value) return value.nested
  const isGlued = /\S$/.test(before)
  // of the last of several commands
  const own = before.slice(before.search(/[|;&][^|;&]*$/) + 1)
  const isBehindFlags = /(?:^|\s)--\s/.test(`${own} `)
  const isRelayed = own.split(/\s/).some((word) => relaying.test(word))
  const word = (text: string): string =>
    (text.startsWith('-') && !isGlued && !isBehindFlags) || (isRelayed && twice.test(text)) ? byHand : quoted(text)
  return typeof value === 'string' ? word(value) : value.map(word).join(' ')
}

/** In POSIX quotes, or bare where no shell sees more in it than the word. */
function quoted(text: string): string {
  return /^[\w@+:,./-][\w@%+=:,./-]*$/.test(text) ? text : inQuotes(text)
}

/**
 * As a word in quotes: in single ones nothing is special, not even `!` in an interactive shell; double ones are easier
 * to read around them.
 */
function inQuotes(text: string): string {
  if (unseen.test(text)) return printed(text)
  if (text.includes("'") && !/["$`\\!{]/.test(text)) return `"${text}"`
  // what `fill` takes for a placeholder is one of the program's own alone
  return `'${text.replaceAll("'", `'\\''`).replace(/\{(?=[a-z]+\})/g, `{''`)}'`
}

/** What moves the cursor, hides or reorders what stands around it, or cannot be told from a blank. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?! )\p{Zs}/u

/** As `printf` makes it, which every shell has: nothing of it is unseen, and no shell takes it for more than bytes. */
function printed(text: string): string {
  // no argument of a program holds NUL or half a character, and a shell drops newlines at the end
  if (/\0|\p{Cs}|\n$/u.test(text)) return byHand
  const octal = (part: string): string =>
    [...Buffer.from(part)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
  return `"$(printf '${text.replace(/[^\w @+:,./=\p{L}\p{N}]/gu, octal)}')"`
}

/** In place of a word that cannot be pasted: a shell refuses the command, and says why. */
const byHand = '"${TYPE_BY_HAND:?this name cannot be pasted: type it yourself}"'
