import type { ExplainText } from '../entry.ts'
import { literalsOf, longest } from './by-piece.ts'
import type { Pasted } from './pasted.ts'

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
