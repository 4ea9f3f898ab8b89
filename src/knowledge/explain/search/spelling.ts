import { editDistance } from '../../../core/nearest.ts'
import { meaningOf } from './stem.ts'

/** a shorter word turns into too many others */
const shortest = 5

/**
 * Of a word that is not known: what the one means that it is but for a single letter; itself where there is none, or
 * more than one.
 */
export function spellingOf(known: Iterable<string>): (word: string) => string {
  const words = [...new Set(known)].filter((word) => word.length >= shortest && !/\d/.test(word))
  return (word) => {
    if (word.length < shortest) return word
    const near = words.filter((it) => Math.abs(it.length - word.length) <= 1 && editDistance(word, it) === 1)
    const meanings = new Set(near.map(meaningOf))
    return meanings.size === 1 ? [...meanings][0]! : word
  }
}
