import { writeSync, fstatSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { harmless, harmlessJson, harmlessLines, jsonWithoutBuildCommands } from '../core/harmless.ts'
import { withoutSecrets } from '../core/redaction/index.ts'
import { withTimesHere, wrap } from '../output/text.ts'
import type { Suggestion } from '../core/shell-command.ts'
import type { Screen } from '../output/paint.ts'

/** A stream to print on. */
export interface Printer {
  write(text: string): unknown
  isTTY?: boolean
  columns?: number
}

/** Matches the colours of `paintFor`: the only escape sequences in a text that is printed. */
const ownColours = new RegExp(`(${String.fromCharCode(27)}\\[(?:1|2|22|3[1235]|39)m)`)

declare const own: unique symbol

/** A cursor move, which only this program makes: no text can hold one. */
export type CursorMove = string & { readonly [own]: true }

const move = (sequence: string): CursorMove => sequence as CursorMove

/** Every cursor move that this program makes. */
export const cursor = {
  stay: move(''),
  /** To the first place of an emptied screen */
  home: move('\u001b[H\u001b[J'),
  /** To the start of an emptied line */
  emptyLine: move('\r\u001b[2K'),
  /** Up by this many rows; empties everything below */
  back: (rows: number): CursorMove => move(`\r${rows > 0 ? `\u001b[${rows}A` : ''}\u001b[J`),
} as const

/**
 * Prints a text of this program's own lines. As the last defence, shows as text what `harmless` would not let pass,
 * except our own colours.
 */
export function print(to: Printer, text: string): void {
  to.write(safe(text, screenOf(to).colour))
}

/** Prints a sentence, which may name foreign things: wrapped on a terminal, else on one line. */
export function tellLine(to: Printer, sentence: string): void {
  const lines = to.isTTY ? wrap(sentence, screenOf(to).columns) : [withTimesHere(harmless(sentence))]
  to.write(`${lines.join('\n')}\n`)
}

/** Moves the cursor, then prints a text. */
export function draw(to: Printer, first: CursorMove, text: string): void {
  to.write(`${first}${safe(text, screenOf(to).colour)}`)
}

/** Prints a text at once, for a process that ends when this returns. */
export function printNow(descriptor: 1 | 2, text: string): void {
  writeSync(descriptor, safe(text, screenOf(descriptor === 1 ? process.stdout : process.stderr).colour))
}

/** Characters per write */
const atOnce = 1 << 16

/**
 * Prints a text in pieces, each once those before it are taken. Stops when nobody takes any more, which the stream
 * reports.
 */
export async function write(stream: Writable & { isTTY?: boolean }, pieces: Iterable<string>): Promise<void> {
  const { colour } = screenOf(stream)
  let ready = ''
  for (const piece of pieces) {
    ready += piece
    if (ready.length < atOnce) continue
    if (!(await isTaken(stream, safe(ready, colour)))) return
    ready = ''
  }
  if (ready !== '') await isTaken(stream, safe(ready, colour))
}

function safe(text: string, colour: boolean): string {
  if (!colour) return harmlessLines(text)
  return text
    .split(ownColours)
    .map((part, index) => (index % 2 === 1 ? part : harmlessLines(part)))
    .join('')
}

async function isTaken(stream: Writable, text: string): Promise<boolean> {
  return new Promise((resolve) => stream.write(text, (error) => resolve(!error)))
}

interface Stream {
  write: NodeJS.WritableStream['write']
}

/**
 * Removes secrets from everything that is written to a stream from now on. Meant for standard error, where every part
 * of the program reports progress in plain lines. Documents are cleaned before printing, which breaks their texts into
 * lines.
 */
export function guardStream(stream: Stream): void {
  const write = stream.write.bind(stream) as (...all: unknown[]) => boolean
  stream.write = (text: unknown, ...rest: unknown[]): boolean =>
    write(typeof text === 'string' ? withoutSecrets(text) : text, ...rest)
}

/** Maximum characters that --quiet holds back; what is longer is printed after all */
const mostHeld = 8 << 20

interface Held {
  pieces: { stream: NodeJS.WriteStream; text: string }[]
  /** Lets the streams write again, as they did before */
  restore: () => void
}

let held: Held | null = null

/**
 * Holds back what is written to these streams from now on, in its order, until `releaseHeld` or `dropHeld`. If the
 * process exits before, with another code than 0, it is written then.
 */
export function holdBack(streams: readonly NodeJS.WriteStream[]): void {
  if (streams.length === 0) return
  const before = streams.map((stream) => stream.write.bind(stream) as (...all: unknown[]) => boolean)
  let size = 0
  const mine: Held = {
    pieces: [],
    restore: () => {
      for (const [index, stream] of streams.entries()) stream.write = before[index] as typeof stream.write
    },
  }
  held = mine
  for (const stream of streams) {
    stream.write = (given: string | Uint8Array, ...rest: unknown[]): boolean => {
      const text = typeof given === 'string' ? given : Buffer.from(given).toString()
      mine.pieces.push({ stream, text })
      size += text.length
      const done = rest.find((it): it is () => void => typeof it === 'function')
      if (done) process.nextTick(done)
      if (size > mostHeld) releaseHeld()
      return true
    }
  }
  process.once('exit', (code) => {
    if (code === 0) return
    for (const { stream, text } of taken()) writeSync(stream === process.stdout ? 1 : 2, withoutSecrets(text))
  })
}

/** Writes what is held back, and holds back nothing more: it did not go well, or somebody is asked. */
export function releaseHeld(): void {
  for (const { stream, text } of taken()) stream.write(text)
}

/** Forgets what is held back: all went well. */
export function dropHeld(): void {
  taken()
}

function taken(): Held['pieces'] {
  const pieces = held?.pieces ?? []
  held?.restore()
  held = null
  return pieces
}

const yes = ['1', 'true', 'y', 'yes']

/** Formats that people read; every other one is a document */
const texts = ['table', 'short', 'text']
/** What is of no use unless it is printed */
const asksToSee = ['--dry-run', '--watch', '--follow', '-f', '--help', '-h']

/**
 * Returns the streams on which a command with --quiet prints nothing if it ends with 0: a document is printed all the
 * same. Empty without --quiet. Reads unparsed words, since nothing may be printed before they are parsed.
 */
export function quietStreams(
  words: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): readonly NodeJS.WriteStream[] {
  const flags = beforeDashes(words)
  if (!flags.includes('--quiet') && !isYes(environment.TESTOPS_ADMIN_QUIET)) return []
  if (flags.some((word) => asksToSee.includes(word))) return []
  const formats = flags.flatMap((word, index) =>
    word.startsWith('--format=') ? [word.slice('--format='.length)] : flags[index - 1] === '--format' ? [word] : [],
  )
  const isDocument = wantsJson(words, environment) || formats.some((format) => !texts.includes(format))
  return isDocument ? [process.stderr] : [process.stdout, process.stderr]
}

const isYes = (value: string | undefined): boolean => yes.includes(value?.toLowerCase() ?? '')

/**
 * True if standard output is to be one JSON document. Reads unparsed words, since a failure to parse the flags must be
 * such a document too.
 */
export function wantsJson(words: readonly string[], environment: NodeJS.ProcessEnv = process.env): boolean {
  const flags = beforeDashes(words)
  return (
    flags.includes('--json') ||
    flags.includes('--format=json') ||
    flags.some((word, index) => word === '--format' && flags[index + 1] === 'json') ||
    isYes(environment.TESTOPS_ADMIN_JSON)
  )
}

/**
 * Returns one JSON document as printed. Invisible characters, and those that steer a terminal, become `\\u…`. A build
 * server finds no command in it.
 */
export function jsonText(document: object): string {
  return `${jsonWithoutBuildCommands(harmlessJson(JSON.stringify(document, null, 2)))}\n`
}

/** True if something is piped or redirected into this program; a terminal and /dev/null do not count. */
export function isPiped(): boolean {
  try {
    const input = fstatSync(0)
    return input.isFIFO() || input.isFile()
  } catch {
    // standard input is closed
    return false
  }
}

/** Returns the note for input that is piped into a command that was not told to read it. */
export function unreadNote(program: Suggestion): string {
  return `Standard input is ignored. To read it, run: ${program} -`
}

interface Shown {
  isTTY?: boolean
  columns?: number
}

/** Returns what a stream can show. Only a terminal has colours, and none with NO_COLOR or TERM=dumb. */
export function screenOf(stream: Shown, environment: NodeJS.ProcessEnv = process.env): Screen {
  const terminal = stream.isTTY === true
  return {
    columns: terminal ? Math.max(40, stream.columns || 80) : 80,
    colour: terminal && !environment.NO_COLOR && environment.TERM !== 'dumb',
  }
}

interface ConfigFlag {
  config?: string | undefined
}

/**
 * Says on standard error that a configuration is ignored because others could have written it. For commands that need
 * none. Returns true if there is such a configuration.
 */
export async function noteIgnored({ config: file }: ConfigFlag): Promise<boolean> {
  const { ignoredConfiguration } = await import('../runtime/configuration/find.ts')
  const note = await ignoredConfiguration({ file, environment: process.env, workingDirectory: process.cwd() })
  if (note !== null) tellLine(process.stderr, note)
  return note !== null
}

/** Returns the words before a `--`: flags stand only among these. */
export function beforeDashes(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--')
  return end < 0 ? words : words.slice(0, end)
}

/** Flags, each followed by its value, that choose deployments, a configuration and files. */
export interface Chosen {
  deployment: readonly string[]
  config: readonly string[]
  /** Values files, and where in them a setting stands */
  values: readonly string[]
}

/** Returns the flags among typed words that choose deployments, a configuration and files. */
export function chosenIn(words: readonly string[]): Chosen {
  const line = beforeDashes(words)
  const of = (...names: readonly string[]): string[] =>
    line.flatMap((word, at) => {
      const [, long, ofLong = '', short, ofShort = ''] = /^(?:(--[^=]+)(?:=(.*))?|(-[^-])=?(.*))$/s.exec(word) ?? []
      const name = long ?? short ?? ''
      const value = ofLong || ofShort || line[at + 1]
      return !names.includes(name) || value === undefined || value.startsWith('-') ? [] : [name, value]
    })
  return { deployment: of('-d', '--deployment'), config: of('--config'), values: of('--values', '--path') }
}
