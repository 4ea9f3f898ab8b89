/** Returns a generator of numbers from 0 to 1 that depend only on a text (mulberry32). */
export function randomFrom(text: string): () => number {
  let state = [...text].reduce((sum, character) => Math.imul(sum ^ character.charCodeAt(0), 16_777_619), 2_166_136_261)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
