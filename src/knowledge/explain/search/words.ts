import { frame } from './pasted.ts'
import type { Pasted } from './pasted.ts'
import { isNoise, joinedUp, meaningsOf } from './stem.ts'

/** of a long text, so many words, and so much of each line, is looked at: more says no more */
const [mostWords, mostOfLine] = [200, 4000] as const

/**
 * The words that count. Names, addresses, numbers and what is quoted are another's: of these only words that entries
 * know.
 */
export function wordsOf({ lines }: Pasted, isKnown: (word: string) => boolean): string[] {
  const words: string[] = []
  for (const line of lines) {
    if (words.length >= mostWords) break
    if (frame.test(line)) continue
    for (const { part, isName } of partsOf(joinedUp(line.slice(0, mostOfLine)))) {
      words.push(...meaningsOf(part).filter((word) => isKnown(word) || (!isName && !/[\d_]/.test(word))))
    }
  }
  return words.slice(0, mostWords)
}

/** so many words beside the one that is asked for make no sentence: `no screenshots` */
const fewChunks = 2

/** Whether there is more than a word that is asked for, of which nothing is known: `tests failed`. */
export function saysMore({ flat }: Pasted): boolean {
  const chunks = flat
    .slice(0, mostOfLine)
    .split(/[^\p{L}\p{N}_/-]+/u)
    .filter(Boolean)
  return chunks.length > fewChunks || chunks.some(isNoise)
}

function partsOf(line: string): { part: string; isName: boolean }[] {
  const whole = line.trim()
  // what is quoted as a whole is the question itself
  const parts = /^(["'`]).*\1$/.test(whole) ? [whole.slice(1, -1)] : whole.split(/("[^"]{1,200}"|'[^']{1,200}')/)
  return parts.flatMap((part, index) =>
    part.split(/\s+/).map((chunk) => ({ part: chunk, isName: index % 2 === 1 || isName(chunk) })),
  )
}

/** A class, a host, an address, a path, a setting. */
function isName(chunk: string): boolean {
  return /[\p{L}\p{N}][.:@/=_][\p{L}\p{N}]|\/\/|^[/@$]/u.test(chunk)
}
