import { signatures } from '../../signatures.ts'
import type { ExplainText } from '../entry.ts'
import type { Pasted } from './pasted.ts'

/**
 * Minimum characters of a piece, which has at least two words; minimum part of the message if there is other text
 * beside it
 */
const [least, leastPart] = [12, 0.6] as const
/** Maximum characters; a longer text is more than a message */
const longest = 2000

/** Returns the entries whose message was cut: at the edge of a screen, or while it was copied. */
export function byPiece(
  { flat }: Pasted,
  texts: readonly ExplainText[],
  score: number,
): { text: ExplainText; score: number }[] {
  if (flat.length > longest) return []
  const piece = flat.replace(/^[\s.\u2026"'`]+|(?<![\s.\u2026"'`])[\s.\u2026"'`]+$/g, '')
  if (piece.length < least) return []
  return texts
    .filter((text) => literalsOf(text).some((literal) => isPiece(piece, literal)))
    .map((text) => ({ text, score }))
}

function literalsOf({ kind, signatures: ids = [], messages = [] }: ExplainText): string[] {
  const known = signatures
    .filter(({ id }) => ids.includes(id))
    .map(({ pattern }) => pattern.source.replaceAll('\\', '').toLowerCase())
  return kind === 'signature' ? [] : [...known, ...messages]
}

/** True if all of it is within the message, or one end of it is the opposite end of the message. */
function isPiece(piece: string, message: string): boolean {
  if (message.includes(piece)) return piece.includes(' ')
  for (let length = message.length - 1; length >= Math.max(least, message.length * leastPart); length -= 1) {
    const [first, last] = [message.slice(0, length), message.slice(-length)]
    if ((piece.endsWith(first) && first.trim().includes(' ')) || (piece.startsWith(last) && last.trim().includes(' ')))
      return true
  }
  return false
}

/** Minimum characters; a shorter message is another one as soon as a letter differs */
const shortest = 15

/** Returns the entries whose message was typed with one letter too many, too few, wrong, or swapped with the next. */
export function bySpelling(
  { flat }: Pasted,
  texts: readonly ExplainText[],
  score: number,
): { text: ExplainText; score: number }[] {
  if (flat.length > longest) return []
  return texts
    .filter((text) => literalsOf(text).some((literal) => literal.length >= shortest && isMistyped(flat, literal)))
    .map((text) => ({ text, score }))
}

/**
 * True if the text contains the message except for a letter: one of its halves is unchanged, and the other is beside
 * it.
 */
function isMistyped(text: string, message: string): boolean {
  const middle = Math.floor(message.length / 2)
  const [first, last] = [message.slice(0, middle), message.slice(middle)]
  for (let at = text.indexOf(first); at !== -1; at = text.indexOf(first, at + 1)) {
    if (isOneOff(text.slice(at + first.length), last)) return true
  }
  const [reversed, start] = [backwards(text), backwards(last)]
  for (let at = reversed.indexOf(start); at !== -1; at = reversed.indexOf(start, at + 1)) {
    if (isOneOff(reversed.slice(at + start.length), backwards(first))) return true
  }
  return false
}

/**
 * True if the text begins with the wanted one except for a letter: behind the first difference, both continue alike.
 */
function isOneOff(text: string, wanted: string): boolean {
  let same = 0
  while (same < wanted.length && text[same] === wanted[same]) same += 1
  const [rest, left] = [text.slice(same), wanted.slice(same)]
  const isDigit = /\d/.test(`${rest[0] ?? ''}${left[0] ?? ''}`)
  if (isDigit) return false
  const isSwapped = left.length > 1 && rest[0] === left[1] && rest[1] === left[0] && rest.startsWith(left.slice(2), 2)
  return isSwapped || rest.startsWith(left.slice(1), 1) || rest.startsWith(left.slice(1)) || rest.startsWith(left, 1)
}

function backwards(text: string): string {
  return [...text].reverse().join('')
}
