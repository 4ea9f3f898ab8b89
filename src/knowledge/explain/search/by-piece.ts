import { signatures } from '../../signatures.ts'
import type { ExplainText } from '../entry.ts'
import type { Pasted } from './pasted.ts'

/**
 * Minimum characters of a piece, which has at least two words; minimum part of the message if there is other text
 * beside it
 */
const [least, leastPart] = [12, 0.6] as const
/** Maximum characters; a longer text is more than a message */
export const longest = 2000

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

export function literalsOf({ kind, signatures: ids = [], messages = [] }: ExplainText): string[] {
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
