/** Hashes a text to a whole number below 2^53; almost every other text gets another number. */
export type Hash = (text: string) => number

/** Hashes a text with cyrb53 (bryc, public domain), in one pass over its UTF-16 code units. */
export function hash53(text: string): number {
  let one = 0xdeadbeef
  let two = 0x41c6ce57
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    one = Math.imul(one ^ unit, 0x9e3779b1)
    two = Math.imul(two ^ unit, 0x5f356495)
  }
  one = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(two ^ (two >>> 13), 0xc2b2ae35)
  two = Math.imul(two ^ (two >>> 16), 0x85ebca6b) ^ Math.imul(one ^ (one >>> 13), 0xc2b2ae35)
  return (two & 0x1fffff) * 0x1_0000_0000 + (one >>> 0)
}
