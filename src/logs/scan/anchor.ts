import type { Needle } from './needles.ts'

/** so many bytes of a needle are what it is looked for by */
export const anchorLength = 3

/** What logs are full of. */
const everyday = ['exception', 'error', 'caused by', 'request', 'queue', 'connection', 'available', 'failed', 'support', 'http', 'java', 'lang', 'status', 'code', 'change', 'lock']

/** Where a needle has three bytes that are rare in logs: capitals and signs are, blanks, small letters and common words are not. */
export function rarest({ text, ignoreCase }: Needle): number {
  const cost = (at: number): number => {
    const part = text.slice(at, at + anchorLength)
    const isEveryday = everyday.some((word) => word.includes(part.toLowerCase()))
    return [...part].reduce((product, letter) => product * commonness(letter) * (ignoreCase ? 2 : 1), isEveryday ? 100 : 1)
  }
  const places = Array.from({ length: text.length - anchorLength + 1 }, (_, at) => at)
  return places.reduce((best, at) => (cost(at) < cost(best) ? at : best))
}

function commonness(letter: string): number {
  if (' etaoinsr'.includes(letter)) return 60
  if (/[a-z]/.test(letter)) return /[jkqvwxyz]/.test(letter) ? 8 : 30
  if (/[0-9.]/.test(letter)) return 40
  return /[A-Z]/.test(letter) ? 5 : 6
}
