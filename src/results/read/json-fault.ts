import { createScanner } from 'jsonc-parser'
import { grouped } from '../../core/format.ts'
import type { Found } from '../problem.ts'
import { partedWithoutSecrets } from '../../core/redaction/given.ts'

/** Kinds of tokens, and errors within one, of jsonc-parser's scanner. A build of single files cannot use its enums. */
const token = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  comma: 5,
  colon: 6,
  string: 10,
  lineComment: 12,
  blockComment: 13,
  lineBreak: 14,
  trivia: 15,
  unknown: 16,
  end: 17,
} as const
const within = { endOfString: 2, endOfNumber: 3, unicode: 4, escape: 5, character: 6 } as const

/** The kinds of token that may stand at a place. */
type Wanted =
  | 'a value'
  | 'a value or ]'
  | 'a name in quotation marks'
  | 'a name in quotation marks or }'
  | 'a colon'
  | 'a comma or ]'
  | 'a comma or }'
  | 'nothing more'

/** Where a text is not JSON, and why. `at` is an index in the text; `isEnd` is true if only the end is missing. */
export interface JsonFault {
  at: number
  why: string
  isEnd: boolean
}

/** Finds the first place at which a text is not JSON; null if it is JSON. Any depth works, since nothing recurses. */
export function jsonFault(text: string): JsonFault | null {
  const scanner = createScanner(text)
  const open: ('}' | ']')[] = []
  let wanted: Wanted = 'a value'
  for (;;) {
    const kind: number = scanner.scan()
    const at = scanner.getTokenOffset()
    if (kind === token.trivia || kind === token.lineBreak) continue
    if (kind === token.end)
      return wanted === 'nothing more' ? null : { at, why: 'the file ends in the middle', isEnd: true }
    const fault = withinToken(text, kind, scanner.getTokenError(), at, scanner.getTokenLength())
    if (fault !== null) return fault
    const next = after(kind, wanted, open)
    if (next === null)
      return {
        at,
        why: `found ${shown(text, at, scanner.getTokenLength())}, expected ${expected(wanted)}`,
        isEnd: false,
      }
    wanted = next
  }
}

/** Returns what may follow a token; null if the token itself is in the wrong place. */
function after(kind: number, wanted: Wanted, open: ('}' | ']')[]): Wanted | null {
  const isValue = wanted === 'a value' || wanted === 'a value or ]'
  switch (kind) {
    case token.openBrace:
    case token.openBracket:
      if (!isValue) return null
      open.push(kind === token.openBrace ? '}' : ']')
      return kind === token.openBrace ? 'a name in quotation marks or }' : 'a value or ]'
    case token.closeBrace:
      if (wanted !== 'a comma or }' && wanted !== 'a name in quotation marks or }') return null
      open.pop()
      return behindValue(open)
    case token.closeBracket:
      if (wanted !== 'a comma or ]' && wanted !== 'a value or ]') return null
      open.pop()
      return behindValue(open)
    case token.comma:
      if (wanted === 'a comma or ]') return 'a value'
      return wanted === 'a comma or }' ? 'a name in quotation marks' : null
    case token.colon:
      return wanted === 'a colon' ? 'a value' : null
    case token.string:
      if (wanted === 'a name in quotation marks' || wanted === 'a name in quotation marks or }') return 'a colon'
  }
  return isValue ? behindValue(open) : null
}

function behindValue(open: readonly ('}' | ']')[]): Wanted {
  const last = open.at(-1)
  if (last === undefined) return 'nothing more'
  return last === '}' ? 'a comma or }' : 'a comma or ]'
}

function withinToken(text: string, kind: number, error: number, at: number, length: number): JsonFault | null {
  if (kind === token.lineComment || kind === token.blockComment)
    return { at, why: 'JSON does not allow comments', isEnd: false }
  switch (error) {
    case within.endOfString:
      if (at + length >= text.length)
        return { at: text.length, why: 'the file ends in the middle of a string', isEnd: true }
      return { at: at + length, why: 'a string contains a line break', isEnd: false }
    case within.endOfNumber:
      if (at + length >= text.length)
        return { at: text.length, why: 'the file ends in the middle of a number', isEnd: true }
      return { at, why: `${shown(text, at, length)} is an incomplete number`, isEnd: false }
    case within.unicode:
    case within.escape:
      return {
        at,
        why: 'a string contains an invalid escape sequence (after a backslash)',
        isEnd: false,
      }
    case within.character: {
      const control = controlIn(text, at, at + length)
      return {
        at: control,
        why: `a string contains a control character (0x${text.charCodeAt(control).toString(16).padStart(2, '0')})`,
        isEnd: false,
      }
    }
    default:
      if (kind !== token.unknown) return null
      if (isBegun(text.slice(at))) return { at: text.length, why: 'the file ends in the middle of a word', isEnd: true }
      return { at, why: `${shown(text, at, length)} is not a JSON value`, isEnd: false }
  }
}

/** True if the text ends in the middle of a word of JSON, or after a minus sign. */
function isBegun(word: string): boolean {
  return ['true', 'false', 'null'].some((it) => it.startsWith(word)) || word === '-'
}

function controlIn(text: string, from: number, to: number): number {
  for (let at = from; at < to; at += 1) if (text.charCodeAt(at) < 0x20) return at
  return from
}

function expected(wanted: Wanted): string {
  return wanted === 'nothing more' ? 'the end of the file' : wanted
}

function shown(text: string, at: number, length: number): string {
  // enough of the text before it to tell whether it is a secret
  const [, it] = partedWithoutSecrets(
    text.slice(Math.max(0, at - 1000), at),
    text.slice(at, at + Math.min(length, 1000)),
  )
  return JSON.stringify(it.slice(0, 20))
}

/** Returns the `bad-json` finding for a text that did not parse. `before`: number of bytes removed before it. */
export function badJson(text: string, before: number, message: string): Found {
  if (text.trim() === '') return { message: text === '' ? 'the file is empty' : 'the file contains only whitespace' }
  const fault = jsonFault(text)
  if (fault === null) return { message: `the file is not valid JSON: ${message}` }
  const ahead = text.slice(0, fault.at)
  const line = ahead.split('\n').length
  const column = fault.at - ahead.lastIndexOf('\n')
  const place = `line ${line}, column ${column} (byte ${Buffer.byteLength(ahead) + before})`
  const bytes = Buffer.byteLength(text) + before
  if (fault.isEnd)
    return {
      message:
        `${fault.why}, after ${grouped(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}. The program that writes this ` +
        'file was stopped, or is still writing',
      place,
    }
  return { message: `the file is not valid JSON: ${fault.why}`, place }
}
